//! Every case of the vectors gets its answers from every engine, field by field.

use gorl_tests::{on_every_engine, read_vectors};

fn run(file: &str, cases: usize, steps: usize) {
    let all = read_vectors(file);
    // A file that was cut short must not pass.
    assert_eq!(all.len(), cases, "cases in {file}");
    assert_eq!(all.iter().map(|case| case.steps.len()).sum::<usize>(), steps);
    for case in &all {
        let policy = case.policy();
        on_every_engine(policy, |engine| {
            for (index, step) in case.steps.iter().enumerate() {
                engine.at(step.at_ns);
                let seen = if step.peek {
                    engine.peek(&step.key, step.cost)
                } else {
                    engine.take(&step.key, step.cost)
                };
                let place = || format!("{} on {}, step {index}: {step:?}", case.name, policy);
                assert_eq!(seen, step.answer(&policy), "{}", place());
            }
        });
    }
}

#[test]
fn the_vectors_of_the_reports() {
    run("reports", 24, 4_737);
}

#[test]
fn the_random_vectors() {
    run("random", 150, 5_091);
}
