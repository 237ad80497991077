//! The command line: commands, options and the help that teaches them.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use gorl::Strategy;

use crate::number::parse_count;
use crate::replay::Limit;
use gorl_config::parse_duration;

/// Choose a rate-limiting strategy by your own traffic.
#[derive(Debug, Parser)]
// Without a command the library would print the whole help in place of an error that says so.
#[command(name = "gorl", version, after_help = TOP_EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = false)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // It has many options, and a command line is parsed once.
    Replay(Box<ReplayArgs>),
    Trace(TraceArgs),
    #[command(subcommand)]
    Config(ConfigCommand),
}

/// Replay access logs through every strategy and compare what each would have done
///
/// Reads common or combined access logs and JSON lines, plain or gzipped, and decides every
/// request at the time the log gives it. Nothing leaves this machine.
#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// Logs to read, one after the other; `-` is standard input
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,

    /// How many requests a key may make per window
    #[arg(long, default_value_t = 60, value_parser = parse_count, allow_negative_numbers = true, value_name = "N", help_heading = "Policy")]
    pub(crate) limit: u64,

    /// Length of the window, such as 10s, 1m or 1h30m
    #[arg(long, default_value = "1m", value_parser = parse_duration, value_name = "TIME", help_heading = "Policy")]
    pub(crate) window: Duration,

    /// What the two buckets of --limit hold at most [default: the limit]
    #[arg(long, value_parser = parse_count, allow_negative_numbers = true, value_name = "N", help_heading = "Policy")]
    pub(crate) burst: Option<u64>,

    /// Another limit that must admit as well, such as 1000/1h or all:5000/1m; may be given several times
    #[arg(long = "and", value_parser = Limit::parse, value_name = "[WHO:]RATE", help_heading = "Policy")]
    pub(crate) and: Vec<Limit>,

    /// Run only this strategy; may be given several times [default: all]
    #[arg(long = "strategy", value_parser = strategy_parser(), value_name = "NAME", help_heading = "Policy")]
    pub(crate) strategies: Vec<Strategy>,

    /// Also decide by an exact log of timestamps, and count what each strategy decides otherwise
    #[arg(long, help_heading = "Policy")]
    pub(crate) exact: bool,

    /// Replay the limits of a configuration file in place of these options
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Policy",
        conflicts_with_all = ["limit", "window", "burst", "strategies", "and", "exact"]
    )]
    pub(crate) config: Option<PathBuf>,

    /// Who is counted: ip, user, path, method, status, referer, user-agent, or a JSON field's name
    #[arg(long, default_value = "ip", value_name = "FIELD", help_heading = "Input")]
    pub(crate) key: String,

    /// Count each key once per value of this field, such as path
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub(crate) resource: Option<String>,

    #[command(flatten)]
    pub(crate) names: FieldNames,

    /// How many of the most denied keys to list
    #[arg(
        long,
        default_value_t = 5,
        allow_negative_numbers = true,
        value_name = "N",
        help_heading = "Output"
    )]
    pub(crate) top: usize,

    /// Also write the comparison as one self-contained page
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Print one JSON object in place of the table
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// What the fields of JSON lines are called.
#[derive(Debug, Default, Args)]
// The names are those of the options.
#[allow(clippy::struct_field_names)]
pub(crate) struct FieldNames {
    /// JSON field with the time [default: time, timestamp, @timestamp, ts, …]
    #[arg(long, value_name = "NAME", help_heading = "JSON lines")]
    pub(crate) time_field: Option<String>,

    /// JSON field that `ip` stands for [default: `ip`, `remote_addr`, `client_ip`, …]
    #[arg(long, value_name = "NAME", help_heading = "JSON lines")]
    pub(crate) ip_field: Option<String>,

    /// JSON field that `user` stands for [default: `user`, `remote_user`, `user_id`, …]
    #[arg(long, value_name = "NAME", help_heading = "JSON lines")]
    pub(crate) user_field: Option<String>,

    /// JSON field that `path` stands for [default: path, uri, url, …]
    #[arg(long, value_name = "NAME", help_heading = "JSON lines")]
    pub(crate) path_field: Option<String>,
}

/// Try a policy on a sequence you write: JSON lines in, one JSON line out for each step
///
/// Each input line either sets the policy or is a step at a time you choose. A later policy
/// replaces the one before while the counts stay, as a reload does in a running service.
#[derive(Debug, Args)]
#[command(after_help = TRACE_EXAMPLES)]
pub(crate) struct TraceArgs {
    /// Where the counts are kept: `memory`, or `redis://HOST:PORT/DB`
    #[arg(long, default_value = "memory", value_name = "STORE")]
    pub(crate) store: String,
}

/// Check configuration files, and make a schema for editors
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Check(CheckArgs),
    /// Print the JSON Schema of configuration files
    Schema,
}

/// Read configuration files and tell in words what each resource allows
///
/// Reads JSON, YAML and TOML, by the end of the name. Nothing is connected to. With several files all
/// are read, and the exit status tells whether one has an error.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Files to check
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Tell only what is wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    PossibleValuesParser::new(Strategy::ALL.map(Strategy::as_str))
        .try_map(|name| name.parse::<Strategy>())
}

const TOP_EXAMPLES: &str = "\
Examples:
  gorl replay access.log                      compare every strategy on this log
  gorl replay access.log --html report.html   the same as a page with charts
  gorl replay access.log --config limits.yaml  what a configuration would have done
  gorl trace < steps.jsonl                    ask one policy, step by step
  gorl config check limits.yaml               what a configuration allows, in words

Exit status:
  0  done
  2  an error, told on standard error as `error: …`";

const REPLAY_EXAMPLES: &str = "\
Examples:
  Sixty a minute for each address, every strategy:
      gorl replay access.log

  A tighter limit for bursts, on a month of rotated logs, as a page:
      gorl replay access.log access.log.*.gz --limit 600 --window 10m --burst 50 --html report.html

  Each user on each path, from JSON lines whose fields have other names:
      gorl replay app.jsonl --key user --resource path --user-field account.id --time-field at

  An API key that the log carries in a field of its own (names match in any case, - is _):
      zcat app.jsonl.gz | gorl replay - --key headers.x-api-key

  Only two strategies, for a script:
      gorl replay access.log --strategy fixed_window --strategy token_bucket --json

  How far is each strategy from counting exactly?
      gorl replay access.log --limit 20 --window 1m --exact

  Ten a second and a thousand an hour for each address, and five thousand a minute for all:
      gorl replay access.log --limit 10 --window 1s --and 1000/1h --and all:5000/1m

  What the limits of a service would have done to yesterday's traffic:
      gorl replay access.log.1 --config limits.yaml

What the columns mean:
  keys limited    keys that were denied at least once
  worst burst     the most one key got admitted in any span as long as the window, and that
                  number as a multiple of the limit (rounded up)
  wait            how long a denied caller had to wait until its next try would be admitted
  state           32 bytes for each key counted, which is an entry of the memory store (a
                  fingerprint and sixteen bytes of state); the same under every strategy
  decisions/s     decisions by one thread in this process; it varies from run to run

With --exact the reference is a log of timestamps: a request is admitted if fewer than the limit were
admitted to its key in the window that ends with it (what is exactly a window old is out; --burst has no
part in it). \"Admitted wrongly\" is what a strategy admitted and the log did not, \"denied wrongly\" the
reverse; each goes by what it admitted itself. The log's state is 16 bytes for each key and 8 for each
instant that the key held at most at once.

--and RATE holds each key, as --limit does; `all:RATE` holds all requests together, `path:RATE` those of
each path, whoever makes them, and so for every field that --key can name. A request without the field
is not held by that limit. A request is admitted if every limit admits it, and otherwise spends nothing
of any. The first table is then about all of them together, with bursts as multiples of --limit. The
second has for each limit how often it binds (of those that denied a request, it is the one whose wait
is longest), how often it denies (alone or with others), and the keys that it ever denied.

With --config the resource of a request is what the routes of the file say of its method and path, or the
field that --resource names. Counts are in memory, as if one process served all, also if the file names a
Redis. `gorl config check FILE` tells what it allows.

Requests without the key field (such as an anonymous user) are left out and counted. Paths are
taken without their query; all spellings of one IPv6 address are one ip. Times need not be in
order: requests are sorted by the log's clock. Lines longer than 1 MiB (1048576 bytes) are not
read and counted as unreadable; a log without a single readable line is an error.";

const TRACE_EXAMPLES: &str = r#"Examples:
  A bucket of 2 that refills once a second:
      gorl trace <<'END'
      {"policy":{"strategy":"token_bucket","limit":1,"window":"1s","burst":2}}
      {"at_ns":0}
      {"at_ns":0,"cost":2}
      {"at_ns":500000000,"key":"other","peek":true}
      END
  answers
      {"allowed":true,"limit":2,"remaining":1,"reset_ns":1000000000,"retry_after_ns":null}
      {"allowed":false,"limit":2,"remaining":1,"reset_ns":1000000000,"retry_after_ns":1000000000}
      {"allowed":true,"limit":2,"remaining":2,"reset_ns":0,"retry_after_ns":null}

A policy line: {"policy":{...}} with
  strategy    fixed_window, sliding_window, token_bucket or leaky_bucket
  limit       1 to 4294967295
  window_ns   nanoseconds, or `window` as text: "250ms", "1m", "1h30m" (ns us ms s m h d)
  burst       optional, buckets only
Several policies that must all admit: {"policies":[{...},{...}]}, each with an optional `name`. Answers
then have the one that binds and the figures of each: "binding":"day","policies":[{"name":"day",...}].
A step:
  at_ns       nanoseconds since the Unix epoch
  key         optional text, "k" when left out
  cost        optional, 1 when left out; above the limit it answers {"error":"cost_exceeds_limit"}
  peek        optional, true asks without spending

A line that is neither, or is longer than 1 MiB (1048576 bytes), ends the run with
`error: line N: …` and exit status 2.

With --store redis://HOST:PORT/DB the scripts in that server decide, at the times you give. Times
and windows must then be whole microseconds. The keys have a prefix of their own, drawn at random,
and are removed at the end."#;

const CHECK_EXAMPLES: &str = "\
Examples:
  What does this allow?
      gorl config check limits.yaml

  Before a deployment, with the variables of the environment set:
      REDIS_URL=redis://cache:6379/0 gorl config check --quiet limits.yaml

An error names the file, the line, the field and what would be right:
  error: limits.yaml: line 5, column 5: resources.login.limt: there is no such field, did you mean
  `limit`? allowed are strategy, limit, window, burst, rate, limits

`gorl config schema > gorl.schema.json` makes a schema by which editors check and complete files.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults_compare_everything_at_sixty_a_minute() {
        let cli = Cli::try_parse_from(["gorl", "replay", "x.log"]).unwrap();
        let Command::Replay(args) = cli.command else { panic!("not a replay") };
        assert_eq!((args.limit, args.window), (60, Duration::from_secs(60)));
        assert_eq!((args.key.as_str(), args.top), ("ip", 5));
        assert!(args.strategies.is_empty());
    }
}
