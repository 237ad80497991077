//! What the figures say, in plain words, so that a table becomes a choice.

use std::fmt::Write as _;

use gorl::Strategy;

use super::exact::Divergence;
use super::limits::LimitReport;
use super::report::{Report, StrategyReport};
use crate::duration::human;
use crate::number::{counted, fine_percent, grouped, multiple, percent, shortened};
use gorl_config::format_duration;

/// Names longer than this would drown the sentence around them.
const NAME_WIDTH: usize = 40;

/// A few sentences, each a line, the conclusion last; never empty.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let strategies = &report.strategies;
    if strategies.iter().all(|strategy| strategy.denied == 0) {
        return vec![nothing_denied(report)];
    }
    let mut lines = vec![demand(report), bursts(report)];
    lines.extend(needless(report));
    if strategies.len() > 1 {
        lines.push(denials(strategies));
        lines.extend(buckets_alike(strategies));
        lines.extend(closest(report));
        lines.push(choice(strategies));
    }
    lines
}

fn nothing_denied(report: &Report) -> String {
    let window = format_duration(report.window);
    let (demand, limit) = (grouped(report.busiest_demand), grouped(report.limit));
    if report.busiest_demand > report.limit {
        return format!(
            "Nothing is denied: the busiest key asks for {demand} within {window}, more than the \
             limit of {limit}, but no faster than what was allowed."
        );
    }
    let mut line = format!(
        "Nothing is denied: the busiest key asks for at most {demand} within any {window}, and the limit \
         is {limit}."
    );
    // Beside other limits that is not so.
    if report.busiest_demand > 1 && report.limits.is_empty() {
        let _ = write!(line, " Strategies differ only under a limit below {demand}.");
    }
    line
}

fn demand(report: &Report) -> String {
    let window = format_duration(report.window);
    let name = shortened(&report.busiest_name.to_string(), NAME_WIDTH);
    let (limit, most) = (grouped(report.limit), grouped(report.busiest_demand));
    if report.keys == 1 {
        return format!("The only key, {name}, asks for up to {most} within {window}.");
    }
    let over = match report.keys_over {
        0 => format!("No key asks for more than {limit} within {window}"),
        over => format!(
            "{} of {} ({}) {} for more than {limit} within {window}",
            grouped(over),
            counted(report.keys, "key"),
            percent(over, report.keys),
            if over == 1 { "asks" } else { "ask" }
        ),
    };
    format!("{over}; the busiest, {name}, asks for {most}.")
}

fn bursts(report: &Report) -> String {
    let window = format_duration(report.window);
    let (tight, loose) = extremes(&report.strategies, |strategy| strategy.worst.count);
    let times = |group: &[&StrategyReport]| {
        let count = group.first().map_or(0, |strategy| strategy.worst.count);
        format!("{} ({})", grouped(count), multiple(count, report.limit))
    };
    let least = format!("at most {} of one key within any {window}", times(&tight));
    if tight.len() == report.strategies.len() {
        let subject = if tight.len() == 1 { names(&tight) } else { "Every strategy".to_owned() };
        return format!("{subject} admits {least}.");
    }
    format!(
        "{} {} {least}; {} {} up to {}.",
        names(&tight),
        verb(&tight, "admits", "admit"),
        names(&loose),
        verb(&loose, "admits", "admit"),
        times(&loose)
    )
}

fn denials(strategies: &[StrategyReport]) -> String {
    let (fewest, most) = extremes(strategies, |strategy| strategy.denied);
    let said = |group: &[&StrategyReport], rank: &str| {
        let denied = group.first().map_or(0, |strategy| strategy.denied);
        let verb = verb(group, "denies", "deny");
        if denied == 0 {
            return format!("{} {verb} nothing", names(group));
        }
        let requests = counted(denied, "request");
        format!("{} {verb} {rank}, {requests}{}", names(group), median_wait(group))
    };
    if fewest.len() == strategies.len() {
        let count = fewest.first().map_or(0, |strategy| strategy.denied);
        return format!("Every strategy denies {}.", counted(count, "request"));
    }
    format!("{}; {}.", said(&fewest, "fewest"), said(&most, "most"))
}

/// Strategies that deny equally often may still make callers wait differently; then it is left out.
fn median_wait(group: &[&StrategyReport]) -> String {
    let wait = group.first().and_then(|strategy| strategy.wait_p50);
    match wait.filter(|_| group.iter().all(|strategy| strategy.wait_p50 == wait)) {
        Some(wait) => format!(", with a median wait of {}", human(wait)),
        None => String::new(),
    }
}

/// The strategies that keep bursts lowest and those that deny least. A tie stays a tie: what would
/// break it, such as the wait, is another figure than the one that is spoken of.
fn choice(strategies: &[StrategyReport]) -> String {
    let protective = extremes(strategies, |strategy| strategy.worst.count).0;
    let gentle = extremes(strategies, |strategy| strategy.denied).0;
    let both: Vec<&StrategyReport> = strategies
        .iter()
        .filter(|one| [&protective, &gentle].iter().all(|group| contains(group, one)))
        .collect();
    let lowest =
        format!("{} {} bursts lowest", names(&protective), verb(&protective, "keeps", "keep"));
    let fewest =
        format!("{} {} the fewest requests", names(&gentle), verb(&gentle, "denies", "deny"));
    let said = match (protective.len() == strategies.len(), gentle.len() == strategies.len()) {
        (true, true) => {
            "every strategy keeps bursts equally low and denies equally many requests".to_owned()
        }
        (true, false) => format!("every strategy keeps bursts equally low, and {fewest}"),
        (false, true) => format!("every strategy denies equally many requests, and {lowest}"),
        (false, false) if both.is_empty() => format!("{lowest}, and {fewest}"),
        (false, false) if both.len() == protective.len() && both.len() == gentle.len() => format!(
            "{} both {} bursts lowest and {} the fewest requests",
            names(&both),
            verb(&both, "keeps", "keep"),
            verb(&both, "denies", "deny")
        ),
        (false, false) => {
            format!("{lowest}, and {fewest}: {} {} both", names(&both), verb(&both, "does", "do"))
        }
    };
    format!("On this traffic {said}.")
}

fn contains(group: &[&StrategyReport], wanted: &StrategyReport) -> bool {
    group.iter().any(|strategy| strategy.strategy() == wanted.strategy())
}

/// The two buckets are one arithmetic seen from both ends, which a reader of the table may wonder about.
fn buckets_alike(strategies: &[StrategyReport]) -> Option<String> {
    let of = |wanted: Strategy| strategies.iter().find(|strategy| strategy.strategy() == wanted);
    let (token, leaky) = (of(Strategy::TokenBucket)?, of(Strategy::LeakyBucket)?);
    (token.denied == leaky.denied && token.worst == leaky.worst).then(|| {
        "token_bucket and leaky_bucket decide alike until a policy changes while in use.".to_owned()
    })
}

/// Limits beside others that no strategy ever denied by.
fn needless(report: &Report) -> Option<String> {
    let never = |limit: &&LimitReport| limit.strategies.iter().all(|one| one.denied == 0);
    let names: Vec<String> =
        report.limits.iter().filter(never).map(|limit| limit.limit.name()).collect();
    let verb = if names.len() == 1 { "denies" } else { "deny" };
    (!names.is_empty()).then(|| {
        format!(
            "{} never {verb} anything on this traffic, whichever the strategy.",
            names.join(" and ")
        )
    })
}

/// Which strategies come closest to an exact log, when they were held against one.
fn closest(report: &Report) -> Option<String> {
    let exact = report.exact.as_ref()?;
    let least = exact.strategies.iter().map(Divergence::wrong).min()?;
    let closest: Vec<&StrategyReport> = report
        .strategies
        .iter()
        .zip(&exact.strategies)
        .filter(|(_, divergence)| divergence.wrong() == least)
        .map(|(strategy, _)| strategy)
        .collect();
    let names = names(&closest);
    if least == 0 {
        let verb = verb(&closest, "decides", "decide");
        return Some(format!("{names} {verb} every request as an exact log of timestamps does."));
    }
    Some(format!(
        "{names} {} closest to an exact log of timestamps: {} of {} ({}) {} decided otherwise.",
        verb(&closest, "comes", "come"),
        grouped(least),
        counted(report.requests, "request"),
        fine_percent(least, report.requests),
        if least == 1 { "is" } else { "are" }
    ))
}

/// The strategies with the smallest and those with the largest figure.
fn extremes<T: Ord>(
    strategies: &[StrategyReport],
    figure: impl Fn(&StrategyReport) -> T,
) -> (Vec<&StrategyReport>, Vec<&StrategyReport>) {
    let (least, most) =
        (strategies.iter().map(&figure).min(), strategies.iter().map(&figure).max());
    let with = |wanted: Option<T>| {
        strategies.iter().filter(|strategy| Some(figure(strategy)) == wanted).collect()
    };
    (with(least), with(most))
}

fn names(strategies: &[&StrategyReport]) -> String {
    let names: Vec<&str> = strategies.iter().map(|strategy| strategy.strategy().as_str()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn verb<'a>(strategies: &[&StrategyReport], one: &'a str, several: &'a str) -> &'a str {
    if strategies.len() == 1 { one } else { several }
}

#[cfg(test)]
mod tests {
    use crate::replay::sample;

    /// Five requests at second 59 and five at 60, which a window from the epoch tells apart.
    fn edge() -> Vec<(u64, &'static str)> {
        [59; 5].into_iter().chain([60; 5]).map(|second| (second, "a")).chain([(0, "b")]).collect()
    }

    #[test]
    fn each_sentence_says_what_the_figures_say() {
        let lines = sample("--limit 5", &edge()).advice;
        let expected = [
            "1 of 2 keys (50.0%) asks for more than 5 within 1m; the busiest, a, asks for 10.",
            "sliding_window, token_bucket and leaky_bucket admit at most 5 (1.00×) of one key within any \
             1m; fixed_window admits up to 10 (2.00×).",
            "fixed_window denies nothing; sliding_window, token_bucket and leaky_bucket deny most, 5 \
             requests.",
            "token_bucket and leaky_bucket decide alike until a policy changes while in use.",
            "On this traffic sliding_window, token_bucket and leaky_bucket keep bursts lowest, and \
             fixed_window denies the fewest requests.",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_strategies_closest_to_an_exact_log_are_named() {
        let lines = sample("--limit 5 --exact", &edge()).advice;
        let expected = "sliding_window, token_bucket and leaky_bucket decide every request as an exact \
                        log of timestamps does.";
        assert_eq!(lines[4], expected);
        // Two at 0 are two of a minute; at 60 both are out of it, and the bucket has both back. The
        // fixed window alone denies nothing at 59 and 60.
        let lines =
            sample("--limit 5 --exact --strategy fixed_window --strategy sliding_window", &{
                let mut arrivals = edge();
                arrivals.extend([(119, "a"); 5]);
                arrivals
            })
            .advice;
        let expected = "sliding_window comes closest to an exact log of timestamps: 5 of 16 requests \
                        (31.250%) are decided otherwise.";
        assert_eq!(lines[3], expected);
    }

    #[test]
    fn without_a_denial_there_is_nothing_to_choose() {
        let lines = sample("--limit 10", &edge()).advice;
        let expected = "Nothing is denied: the busiest key asks for at most 10 within any 1m, and the \
                        limit is 10. Strategies differ only under a limit below 10.";
        assert_eq!(lines, [expected]);
        let lines = sample("--limit 5 --strategy fixed_window", &edge()).advice;
        assert!(lines[0].contains("asks for 10 within 1m, more than the limit of 5"), "{lines:?}");
    }

    #[test]
    fn one_strategy_alone_is_described_and_not_compared() {
        let lines = sample("--limit 5 --strategy token_bucket", &edge()).advice;
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "token_bucket admits at most 5 (1.00×) of one key within any 1m.");
    }

    #[test]
    fn strategies_that_do_the_same_are_said_to() {
        let lines = sample("--limit 2", &[(0, "a"); 3]).advice;
        assert_eq!(lines[0], "The only key, a, asks for up to 3 within 1m.");
        assert!(lines.iter().any(|line| line == "Every strategy denies 1 request."), "{lines:?}");
        let expected = "On this traffic every strategy keeps bursts equally low and denies equally \
                        many requests.";
        // They make callers wait differently, which is no reason to call one the gentlest.
        assert_eq!(lines.last().unwrap(), expected);
    }

    /// The conclusion about strategies that admitted and denied so many.
    fn conclusion(figures: &[(u64, u64)]) -> String {
        let mut strategies = sample("--limit 2", &[(0, "a"); 3]).strategies;
        strategies.truncate(figures.len());
        for (strategy, &(worst, denied)) in strategies.iter_mut().zip(figures) {
            (strategy.worst.count, strategy.denied) = (worst, denied);
        }
        super::choice(&strategies)
    }

    #[test]
    fn a_tie_is_never_broken_by_another_figure() {
        for (figures, says) in [
            (
                &[(3, 5), (2, 5), (2, 5)][..],
                "every strategy denies equally many requests, and sliding_window and token_bucket \
                 keep bursts lowest.",
            ),
            (
                &[(2, 6), (2, 5), (2, 5)],
                "every strategy keeps bursts equally low, and sliding_window and token_bucket deny \
                 the fewest requests.",
            ),
            (
                &[(2, 6), (2, 5), (3, 7)],
                "fixed_window and sliding_window keep bursts lowest, and sliding_window denies the \
                 fewest requests: sliding_window does both.",
            ),
            (
                &[(3, 6), (2, 5), (3, 7)],
                "sliding_window both keeps bursts lowest and denies the fewest requests.",
            ),
            (
                &[(3, 5), (2, 6), (2, 7)],
                "sliding_window and token_bucket keep bursts lowest, and fixed_window denies the \
                 fewest requests.",
            ),
        ] {
            assert_eq!(conclusion(figures), format!("On this traffic {says}"));
        }
    }
}
