//! Every case of the vectors that is in whole microseconds gets its answers from Redis.

use gorl_core::Policy;
use gorl_testkit::{Answer, Figures};
use gorl_tests::{Case, Driver, RedisDriver, read_vectors};

/// The answer in microseconds. What is rounded up to a nanosecond is rounded up again, which is the
/// same as once, since all times are whole microseconds.
fn in_micros(answer: Answer) -> Answer {
    answer.map(|figures| Figures {
        reset_after: figures.reset_after.div_ceil(1_000),
        retry_after: figures.retry_after.map(|wait| wait.div_ceil(1_000)),
        ..figures
    })
}

fn fits(case: &Case) -> bool {
    case.policy().in_micros().is_ok() && case.steps.iter().all(|step| step.at_ns % 1_000 == 0)
}

fn run(file: &str, cases: usize, steps: usize) {
    let all: Vec<Case> = read_vectors(file).into_iter().filter(fits).collect();
    // A change that makes fewer cases fit must not pass for one that makes all right.
    let count = all.iter().map(|case| case.steps.len()).sum::<usize>();
    assert_eq!((all.len(), count), (cases, steps), "cases and steps that fit in {file}");
    let any = Policy::MOST.window().saturating_mul(1_000);
    let mut engine = RedisDriver::new(Policy::fixed_window(1, any).expect("a valid policy"));
    for (number, case) in all.iter().enumerate() {
        let policy = case.policy();
        engine.set_policy(policy);
        for (index, step) in case.steps.iter().enumerate() {
            engine.at(step.at_ns);
            // The server is shared by all cases, their keys are not.
            let key = format!("{number} {}", step.key);
            let seen =
                if step.peek { engine.peek(&key, step.cost) } else { engine.take(&key, step.cost) };
            let place = format!("{} on {policy}, step {index}: {step:?}", case.name);
            assert_eq!(seen, in_micros(step.answer(&policy)), "{place}");
        }
    }
}

#[test]
fn the_vectors_of_the_reports() {
    run("reports", 22, 3_934);
}

#[test]
fn the_random_vectors() {
    run("random", 150, 5_091);
}
