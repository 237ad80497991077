//! What gorl promises of its memory store, held against what was measured in the same run.

use crate::report::Goal;
use crate::subject::{GOVERNOR, NOTHING, Outcome};
use crate::{instructions, memory, speed, sweep};

/// Shares of governor's time, by keys and threads; the slowest strategy has to reach them.
const SHARES: [(&str, usize, usize, f64); 5] = [
    ("one hot key", 1, 1, 0.40),
    ("one hot key, two threads", 1, 2, 0.80),
    ("1 000 keys", 1_000, 1, 0.40),
    ("1 000 000 keys", 1_000_000, 1, 0.22),
    ("1 000 000 keys, two threads", 1_000_000, 2, 0.40),
];

/// Two medians of the same thing differ by as much on a quiet machine.
const NOISE: f64 = 1.05;

/// Goals of time a decision.
pub(crate) fn speed(rows: &[speed::Row]) -> Vec<Goal> {
    let row = |keys, threads, outcome| {
        rows.iter().find(|row| {
            (row.keys, row.threads, row.outcome) == (keys, threads, outcome)
                && row.shape != "zipf 1.0"
        })
    };
    let shares = SHARES.iter().filter_map(|&(what, keys, threads, at_most)| {
        let row = row(keys, threads, Outcome::Allowed)?;
        Some(Goal {
            what: format!("time as a share of governor's: {what}"),
            at_most,
            measured: row.ratio(),
            note: format!("slowest: {}", row.slowest().0),
        })
    });
    let denials = SHARES.iter().filter_map(|&(what, keys, threads, _)| {
        let allowed = row(keys, threads, Outcome::Allowed)?;
        let denied = row(keys, threads, Outcome::Denied)?;
        let (name, measured) = (allowed.ours().zip(denied.ours()))
            .map(|((name, allowed), (_, denied))| (name, denied / allowed))
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Goal {
            what: format!("denials' time as a share of admissions': {what}"),
            at_most: NOISE,
            measured,
            note: format!("slowest: {name}"),
        })
    });
    shares.chain(denials).collect()
}

/// Goals of bytes a key.
pub(crate) fn memory(rows: &[memory::Row]) -> Vec<Goal> {
    let goals = [("capacity", "built for its capacity", 40.0), ("growing", "while growing", 72.0)];
    goals
        .into_iter()
        .filter_map(|(store, what, at_most)| {
            let row = rows.iter().find(|row| row.limiter != GOVERNOR && row.store == store)?;
            Some(Goal {
                what: format!("bytes a key in a store {what}"),
                at_most,
                measured: row.live,
                note: String::new(),
            })
        })
        .collect()
}

/// The goal of the longest decision.
pub(crate) fn sweep(rows: &[sweep::Row]) -> Option<Goal> {
    let ours = rows.iter().filter(|row| row.strategy != NOTHING);
    let row = ours.max_by(|a, b| a.max_cpu.total_cmp(&b.max_cpu))?;
    Some(Goal {
        what: "longest decision while sweeping, own µs".to_owned(),
        at_most: 100.0,
        measured: row.max_cpu,
        note: format!("slowest: {}", row.strategy),
    })
}

/// The goal of instructions a decision.
pub(crate) fn instructions(rows: &[instructions::Row]) -> Option<Goal> {
    let ours = rows.iter().filter(|row| ![GOVERNOR, NOTHING].contains(&row.limiter));
    let row = ours.max_by(|a, b| a.own.total_cmp(&b.own))?;
    Some(Goal {
        what: "instructions a decision, less the loop around it".to_owned(),
        at_most: 130.0,
        measured: row.own,
        note: format!("most: {}, {}", row.limiter, row.outcome.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::speed;
    use crate::speed::{Row, Times};
    use crate::subject::Outcome;

    #[test]
    fn the_slowest_strategy_decides() {
        let row = |outcome, slowest: f64| Row {
            keys: 1,
            shape: "-",
            outcome,
            threads: 1,
            times: [100.0, 20.0, slowest, 20.0, 20.0, 1.0]
                .map(|own| Times { wall: 50.0, own: Some(own) })
                .to_vec(),
        };
        let goals = speed(&[row(Outcome::Allowed, 41.0), row(Outcome::Denied, 40.0)]);
        let met: Vec<bool> = goals.iter().map(super::Goal::is_met).collect();
        assert_eq!(met, [false, true]);
        assert_eq!(goals[0].note, "slowest: sliding_window");
    }
}
