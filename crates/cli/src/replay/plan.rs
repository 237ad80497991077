//! The limits of one replay: whom each holds, and the policies that each strategy makes of them.

use std::time::Duration;

use gorl::{Policy, Strategy};
use gorl_config::parse_rate;

use super::input::Wanted;
use super::rate;
use crate::args::ReplayArgs;
use crate::failure::Failure;

/// What a replay runs.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The limits, all of which must admit; that of `--limit` first.
    pub(crate) limits: Vec<Limit>,
    /// What the limits count by that is not the key, each once: the columns of the traffic.
    pub(crate) columns: Vec<Who>,
    /// For each chosen strategy one policy for each limit.
    pub(crate) policies: Vec<Vec<Policy>>,
}

/// So many requests in a window, for somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) who: Who,
    /// How many requests.
    pub(crate) most: u64,
    pub(crate) window: Duration,
}

/// Who is held by a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Each key of the replay.
    Key,
    /// All requests together.
    All,
    /// Each value of a field, whatever the key.
    Each(String),
}

/// As many as a bit each for a denial fits.
const MOST_LIMITS: usize = 32;

impl Limit {
    /// Reads `1000/1h`, `all:5000 per minute` or `path:100/m`.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // No rate has a colon in it, and a field of JSON lines may.
        let (who, written) = match text.rsplit_once(':') {
            None => (Who::Key, text),
            Some((who, written)) => match who.trim() {
                "" => return Err(format!("write who is held before the colon, {EXAMPLES}")),
                "all" => (Who::All, written),
                field => (Who::Each(field.to_owned()), written),
            },
        };
        let (most, window) = parse_rate(written).map_err(|error| format!("{error}; {EXAMPLES}"))?;
        // Every strategy takes the same numbers.
        Policy::fixed_window(most, window).map_err(|error| error.to_string())?;
        Ok(Self { who, most, window })
    }

    /// `1,000 per 1h for each key`.
    pub(crate) fn name(&self) -> String {
        let rate = rate(self.most, self.window);
        match &self.who {
            Who::Key => format!("{rate} for each key"),
            Who::All => format!("{rate} for all together"),
            Who::Each(field) => format!("{rate} for each {field}"),
        }
    }

    pub(crate) fn window_ns(&self) -> u64 {
        u64::try_from(self.window.as_nanos()).unwrap_or(u64::MAX)
    }
}

const EXAMPLES: &str =
    "such as `1000/1h` for each key, `all:5000/1m` for all together or `path:100/1m` for each path";

impl Plan {
    /// What the options ask for.
    ///
    /// # Errors
    ///
    /// A message when a number is out of range or an option has nothing to apply to.
    pub(crate) fn of(args: &ReplayArgs) -> Result<Self, Failure> {
        let first = Limit { who: Who::Key, most: args.limit, window: args.window };
        let limits: Vec<Limit> = [first].into_iter().chain(args.and.iter().cloned()).collect();
        if limits.len() > MOST_LIMITS {
            return Err(Failure::new(format!("--and may be given {} times", MOST_LIMITS - 1)));
        }
        let mut columns: Vec<Who> = Vec::new();
        for limit in limits.iter().filter(|limit| limit.who != Who::Key) {
            if !columns.contains(&limit.who) {
                columns.push(limit.who.clone());
            }
        }
        let policies = policies(args, &limits)?;
        Ok(Self { limits, columns, policies })
    }

    /// The column of the traffic that has a limit's keys; none for the key of the replay.
    pub(crate) fn column(&self, limit: &Limit) -> Option<usize> {
        self.columns.iter().position(|who| *who == limit.who)
    }

    /// What is to be read of each line.
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted { columns: &self.columns, routes: None }
    }

    /// Whether several limits have to admit.
    pub(crate) fn has_several(&self) -> bool {
        self.limits.len() > 1
    }
}

/// For each chosen strategy one policy for each limit, all with the same numbers.
fn policies(args: &ReplayArgs, limits: &[Limit]) -> Result<Vec<Vec<Policy>>, Failure> {
    let chosen =
        |strategy: &Strategy| args.strategies.is_empty() || args.strategies.contains(strategy);
    let mut bursts = false;
    let mut all = Vec::new();
    for strategy in Strategy::ALL.into_iter().filter(chosen) {
        let mut policies = Vec::new();
        for limit in limits {
            let mut policy = Policy::new(strategy, limit.most, limit.window);
            if let (Some(burst), true, true) =
                (args.burst, strategy.has_burst(), policies.is_empty())
            {
                bursts = true;
                policy = policy.and_then(|policy| policy.with_burst(burst));
            }
            policies.push(policy.map_err(|error| Failure::new(error.to_string()))?);
        }
        all.push(policies);
    }
    if args.burst.is_some() && !bursts {
        return Err(Failure::new(
            "--burst applies to token_bucket and leaky_bucket, and neither is chosen",
        ));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn plan_of(line: &str) -> Result<Plan, Failure> {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Command::Replay(args) = cli.command else { panic!("not a replay") };
        Plan::of(&args)
    }

    fn policies_of(line: &str) -> Vec<String> {
        plan_of(line).unwrap().policies.iter().flatten().map(ToString::to_string).collect()
    }

    #[test]
    fn a_burst_is_for_the_buckets_and_for_the_first_limit() {
        let expected = [
            "fixed_window, 5 per 1s",
            "sliding_window, 5 per 1s",
            "token_bucket, 5 per 1s, burst 9",
            "leaky_bucket, 5 per 1s, burst 9",
        ];
        assert_eq!(policies_of("gorl replay x --limit 5 --window 1s --burst 9"), expected);
        assert_eq!(
            policies_of("gorl replay x --limit 5 --burst 9 --and 7/h --strategy token_bucket"),
            ["token_bucket, 5 per 60s, burst 9", "token_bucket, 7 per 3600s, burst 7"]
        );
        assert!(plan_of("gorl replay x --burst 9 --strategy fixed_window").is_err());
    }

    #[test]
    fn a_strategy_named_twice_runs_once() {
        let line =
            "gorl replay x --strategy leaky_bucket --strategy fixed_window --strategy leaky_bucket";
        assert_eq!(plan_of(line).unwrap().policies.len(), 2);
    }

    #[test]
    fn limits_are_read_with_whom_they_hold() {
        for (text, expected) in [
            ("1000/1h", "1,000 per 1h for each key"),
            ("10 per 5 minutes", "10 per 5m for each key"),
            ("all:5000/1m", "5,000 per 1m for all together"),
            ("path: 100 per minute", "100 per 1m for each path"),
            ("urn:tenant:7/d", "7 per 1d for each urn:tenant"),
        ] {
            assert_eq!(Limit::parse(text).map(|limit| limit.name()).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_is_no_limit_is_told_with_what_to_write() {
        for (text, expected) in [
            ("1000", "write a number and a window"),
            ("all", "such as `1000/1h` for each key"),
            (":5/1m", "write who is held before the colon"),
            ("all:5/mintue", "did you mean `minute`?"),
            ("0/1m", "limit"),
            ("4294967296/1m", "limit"),
            ("5/4000d", "window"),
        ] {
            let error = Limit::parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn limits_of_the_same_keys_share_a_column() {
        let plan =
            plan_of("gorl replay x --and all:9/h --and path:3/m --and 8/h --and path:2/s").unwrap();
        assert_eq!(plan.columns, [Who::All, Who::Each("path".to_owned())]);
        let columns: Vec<_> = plan.limits.iter().map(|limit| plan.column(limit)).collect();
        assert_eq!(columns, [None, Some(0), Some(1), None, Some(1)]);
        let many = format!("gorl replay x{}", " --and 1/m".repeat(32));
        assert!(matches!(plan_of(&many), Err(Failure::Message(text)) if text.contains("31")));
    }
}
