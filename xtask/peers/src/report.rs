//! The sections that were measured and the goals that they are held against, as text and JSON.

use serde_json::{Map, Value, json};

/// A figure with the most that it should be.
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) at_most: f64,
    pub(crate) measured: f64,
    /// What the figure belongs to, such as the slowest strategy.
    pub(crate) note: String,
}

impl Goal {
    /// Whether the goal is reached; a figure that could not be taken reaches none.
    pub(crate) fn is_met(&self) -> bool {
        self.measured <= self.at_most
    }
}

/// Everything that is printed at the end.
#[derive(Default)]
pub(crate) struct Report {
    text: String,
    pub(crate) json: Map<String, Value>,
    pub(crate) goals: Vec<Goal>,
}

impl Report {
    /// Adds a section in both forms.
    pub(crate) fn section(&mut self, text: &str, (name, json): (&str, Value)) {
        self.text.push_str(text);
        self.text.push('\n');
        self.json.insert(name.to_owned(), json);
    }

    /// Prints everything, with the machine that it was taken on, for people or for programs.
    pub(crate) fn print(mut self, machine: &[String], as_json: bool) {
        if as_json {
            self.json.insert("machine".to_owned(), json!(machine));
            println!("{:#}", self.to_json());
        } else {
            println!("{}\n\n{}", machine.join("\n"), self.to_text());
        }
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = self.text.clone();
        if self.goals.is_empty() {
            return text;
        }
        text.push_str(&format!("{:<68}  {:>7}  {:>8}\n", "goal", "at most", "measured"));
        for goal in &self.goals {
            let verdict = if goal.is_met() { "pass" } else { "FAIL" };
            let (what, note) = (&goal.what, &goal.note);
            let line = format!(
                "{what:<68}  {:>7.2}  {:>8.2}  {verdict}  {note}",
                goal.at_most, goal.measured
            );
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        let goal = |goal: &Goal| {
            json!({
                "goal": goal.what, "at_most": goal.at_most, "measured": goal.measured,
                "met": goal.is_met(), "note": goal.note,
            })
        };
        let mut json = self.json.clone();
        json.insert("goals".to_owned(), self.goals.iter().map(goal).collect());
        Value::Object(json)
    }
}

#[cfg(test)]
mod tests {
    use super::{Goal, Report};

    #[test]
    fn a_missed_goal_and_a_missing_figure_fail() {
        let goal =
            |measured| Goal { what: "a".into(), at_most: 1.0, measured, note: String::new() };
        assert!(goal(1.0).is_met());
        assert!(!goal(1.01).is_met() && !goal(f64::NAN).is_met());
        let report = Report { goals: vec![goal(2.0)], ..Report::default() };
        assert!(report.to_text().contains("FAIL"));
        assert_eq!(report.to_json()["goals"][0]["met"], false);
    }
}
