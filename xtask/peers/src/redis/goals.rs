//! What gorl promises of its Redis store, held against what was measured in the same run.

use gorl::Strategy;

use super::drive::Row;
use super::subject::{CACHED, CEILING, Outcome, POOLED, TWO_KEYS};
use crate::report::Goal;

/// How many times the decisions of a script call per check-out, by callers.
const TIMES: [(usize, f64); 3] = [(16, 2.0), (64, 3.0), (256, 4.5)];

/// Every goal for which there are figures. The slowest strategy has to reach it, on one key and on
/// many. A goal of at least so much is given by its inverse: at most so little.
pub(crate) fn of(rows: &[Row]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for keys in super::KEYS {
        let ways = Ways { rows, keys };
        for (callers, times) in TIMES {
            let what = format!("the pooled way's decisions/s as a share, {callers} callers");
            goals.extend(
                ways.share(&what, callers, POOLED, 1.0 / times, |peer, our| peer.rate / our.rate),
            );
        }
        goals.extend(ways.share("a lone caller's p50 as a share", 1, POOLED, 0.55, |peer, our| {
            our.p50 / peer.p50
        }));
        let what = "INCR's decisions/s over ours, 256 callers".to_owned();
        goals.extend(ways.share(&what, 256, CEILING, 1.0 / 0.6, |peer, our| peer.rate / our.rate));
        let what = "the server's time as a share of two keys', 256 callers".to_owned();
        goals.extend(ways.share(&what, 256, TWO_KEYS, 0.6, |peer, our| our.server / peer.server));
        goals.extend(ways.cached());
    }
    goals
}

struct Ways<'a> {
    rows: &'a [Row],
    keys: usize,
}

impl Ways<'_> {
    fn row(&self, callers: usize, outcome: Outcome, subject: &str) -> Option<&Row> {
        self.rows.iter().find(|row| {
            (row.callers, row.keys, row.outcome, row.subject)
                == (callers, self.keys, outcome, subject)
        })
    }

    /// The worst figure of the strategies beside a peer, all admitted.
    fn share(
        &self,
        what: &str,
        callers: usize,
        peer: &str,
        at_most: f64,
        figure: impl Fn(&Row, &Row) -> f64,
    ) -> Option<Goal> {
        let peer = self.row(callers, Outcome::Allowed, peer)?;
        let ours = Strategy::ALL.into_iter().filter_map(|strategy| {
            let row = self.row(callers, Outcome::Allowed, strategy.as_str())?;
            Some((strategy.as_str(), figure(peer, row)))
        });
        let (worst, measured) = ours.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Goal {
            what: format!("{what}, {} keys", self.keys),
            at_most,
            measured,
            note: format!("worst: {worst}"),
        })
    }

    /// Denials from the cache beside those of the pooled way.
    fn cached(&self) -> Option<Goal> {
        let shares = super::CALLERS.into_iter().filter_map(|callers| {
            let pooled = self.row(callers, Outcome::Denied, POOLED)?;
            let cached = self.row(callers, Outcome::Denied, CACHED)?;
            Some((callers, pooled.rate / cached.rate))
        });
        let (callers, measured) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Goal {
            what: format!("pooled denials/s as a share of cached ones, {} keys", self.keys),
            at_most: 1.0 / 20.0,
            measured,
            note: format!("worst: {callers} callers"),
        })
    }
}
