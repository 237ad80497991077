//! Every case of the project's vectors, through `gorl trace`.

mod support;

use serde_json::Value;
use support::gorl;

#[test]
fn every_vector_gets_its_expected_answers() {
    let mut cases = 0;
    for file in ["reports.json", "random.json"] {
        let path = support::here(&format!("../../tests/vectors/{file}"));
        let text = std::fs::read_to_string(&path).expect("the vectors are in the workspace");
        let list: Vec<Value> = serde_json::from_str(&text).expect("the vectors are JSON");
        for case in &list {
            check(case);
        }
        cases += list.len();
    }
    assert!(cases >= 174, "only {cases} cases were found");
}

fn check(case: &Value) {
    let name = &case["name"];
    let mut input = serde_json::json!({ "policy": case["policy"] }).to_string();
    let mut expected = Vec::new();
    for step in case["steps"].as_array().expect("a case has steps") {
        let mut step = step.clone();
        let fields = step.as_object_mut().expect("a step is an object");
        expected.push(fields.remove("expect").expect("a step has an answer"));
        input.push('\n');
        input.push_str(&step.to_string());
    }
    let ran = gorl(&["trace"], input);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{name}");
    let answers: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("an answer is JSON"))
        .collect();
    assert_eq!(answers.len(), expected.len(), "{name}");
    for (step, (answer, expected)) in answers.iter().zip(&expected).enumerate() {
        assert_eq!(answer, expected, "{name}, step {step}");
    }
}
