//! Core against the exact model, figure by figure.

use gorl_testkit::{Figures, Model};
use proptest::prelude::*;

use super::story::{Act, Point, Story, Verdict, stories, stories_with_changes};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/theorems-same.txt");

proptest! {
    #![proptest_config(super::config(SEEDS))]

    /// Under one policy.
    #[test]
    fn core_answers_as_the_model_does(story in stories()) {
        side_by_side(&story)?;
    }

    /// Under policies that change over live state.
    #[test]
    fn core_answers_as_the_model_does_through_policy_changes(story in stories_with_changes()) {
        side_by_side(&story)?;
    }
}

fn side_by_side(story: &Story) -> Verdict {
    let mut model = Model::new();
    let mut point = story.beginning();
    for &(step, act) in &story.steps {
        point.go(step);
        match act {
            Act::Take(cost) => {
                let cost = point.cost(cost);
                let expected = model.take(&point.policy, &(), point.now, cost);
                let seen = Ok(Figures::of(&point.decide(cost)));
                prop_assert_eq!(seen, expected, "taking {} at {:?}", cost, point);
            }
            Act::GiveBack(cost) => {
                model.give_back(&point.policy, &(), point.now, point.cost(cost));
            }
            Act::Nothing | Act::Change(_) => {}
        }
        point.act(act);
        compare_peeks(&model, &point)?;
    }
    Ok(())
}

fn compare_peeks(model: &Model<()>, point: &Point) -> Verdict {
    for cost in point.costs() {
        let expected = model.peek(&point.policy, &(), point.now, cost);
        let seen = Ok(Figures::of(&point.peek(cost)));
        prop_assert_eq!(seen, expected, "peeking {} at {:?}", cost, point);
    }
    Ok(())
}
