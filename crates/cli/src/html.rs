//! The comparison as one self-contained page, safe to open whatever the log says.

mod axis;
mod busy;
mod config;
mod escape;
mod exact;
mod histogram;
mod limits;
mod strategies;

use std::fmt::Write as _;

use crate::number::{counted, grouped, percent, shortened};
use crate::replay::{Report, rate};
use crate::timestamp::format as time;

pub(crate) use config::page as config_page;
use escape::Escaped;

const STYLE: &str = include_str!("html/style.css");

/// Names longer than this break the layout; the full name is in the title of the element.
const NAME_WIDTH: usize = 60;

/// Renders the page.
pub(crate) fn page(report: &Report) -> String {
    let mut out = String::new();
    let heading = heading(report);
    open(&mut out, &heading);
    header(&mut out, report, &heading);
    conclusions(&mut out, &report.advice);
    strategies::section(&mut out, report);
    limits::section(&mut out, report);
    exact::section(&mut out, report);
    histogram::section(&mut out, report);
    busy::section(&mut out, report);
    strategies::most_denied(&mut out, report);
    out.push_str(EXPLAINED);
    out.push_str(CLOSE);
    out
}

/// Everything before the content.
fn open(out: &mut String, heading: &str) {
    // The policy forbids the page every request and script, as a second wall behind the escaping.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{} · gorl replay</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        Escaped(heading)
    );
}

/// Everything after it.
const CLOSE: &str = "</main>\n</body>\n</html>\n";

fn heading(report: &Report) -> String {
    let also = report.limits.iter().skip(1).fold(String::new(), |mut also, limit| {
        let _ = write!(also, " and {}", limit.limit.name());
        also
    });
    let resource = report.resource_field.as_ref().map(|field| format!(" on each {field}"));
    let rate = rate(report.limit, report.window);
    let burst = report.burst.map(|burst| format!(" (burst {})", grouped(burst)));
    format!(
        "{rate}{} for each {}{}{also}",
        burst.unwrap_or_default(),
        report.key_field,
        resource.unwrap_or_default()
    )
}

/// From when to when in UTC, in two pieces that a narrow page puts on a line each.
fn time_range(from_ns: u64, to_ns: u64) -> String {
    let format = "%-d %b %Y, %H:%M:%S";
    format!(
        "<span class=\"when\">{}</span> <span class=\"when\">to {} UTC</span>",
        time(from_ns, format),
        time(to_ns, format)
    )
}

fn header(out: &mut String, report: &Report, heading: &str) {
    let sources = shortened(&crate::number::printable(&report.sources.join(", ")), 2 * NAME_WIDTH);
    let _ = write!(
        out,
        "<header>\n<p class=\"eyebrow\">gorl replay</p>\n<h1>{}</h1>\n<p class=\"sub\">{}<br>{}</p>\n",
        Escaped(heading),
        Escaped(&sources),
        time_range(report.from_ns, report.to_ns),
    );
    out.push_str("<dl class=\"tiles\">\n");
    let mut tile = |name: &str, figure: &str, note: &str| {
        let _ = writeln!(
            out,
            "<div><dt>{}</dt><dd>{} <small>{}</small></dd></div>",
            Escaped(name),
            Escaped(figure),
            Escaped(note)
        );
    };
    let left_out = match (report.failed, report.without_key) {
        (0, 0) => String::new(),
        (failed, 0) => format!("{} unreadable", counted(failed, "line")),
        (0, without) => format!("{} without {}", grouped(without), report.key_field),
        (failed, without) => {
            format!(
                "{} unreadable, {} without {}",
                counted(failed, "line"),
                grouped(without),
                report.key_field
            )
        }
    };
    let window = gorl_config::format_duration(report.window);
    tile("Requests", &grouped(report.requests), &left_out);
    tile("Keys", &grouped(report.keys), "");
    tile(
        "Keys that exceed the limit",
        &grouped(report.keys_over),
        &percent(report.keys_over, report.keys),
    );
    tile("Busiest key asks for", &grouped(report.busiest_demand), &format!("within {window}"));
    out.push_str("</dl>\n</header>\n");
}

fn conclusions(out: &mut String, advice: &[String]) {
    out.push_str("<section aria-labelledby=\"in-short\">\n<h2 id=\"in-short\">In short</h2>\n<ul class=\"advice\">\n");
    // A page is read from its top, so the conclusion comes first here.
    let (last, others) = advice.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
    let _ = writeln!(out, "<li class=\"conclusion\">{}</li>", Escaped(last));
    for line in others {
        let _ = writeln!(out, "<li>{}</li>", Escaped(line));
    }
    out.push_str("</ul>\n</section>\n");
}

const EXPLAINED: &str = "<footer>\n<h2>How to read this</h2>\n<dl>\n\
<div><dt>Keys limited</dt><dd>Keys that were denied at least once.</dd></div>\n\
<div><dt>Worst burst</dt><dd>The most requests of one key that were admitted in any span as long as the window, \
wherever it starts, and that number as a multiple of the limit, rounded up.</dd></div>\n\
<div><dt>Wait</dt><dd>How long a denied caller had to wait until its next try would be admitted: \
half of the denials waited at most the median, 99 of 100 at most the 99th percentile.</dd></div>\n\
<div><dt>State</dt><dd>32 bytes for each key counted, which is an entry of the memory store: a fingerprint and sixteen bytes \
of state. It is the same under every strategy.</dd></div>\n\
<div><dt>Decisions a second</dt><dd>By one thread of the program that made this page; it varies from run to run.</dd></div>\n\
</dl>\n<p>Every request was decided at the time the log gives it, so second-long ticks of a log's clock are seen as one instant. \
All times are in UTC.</p>\n</footer>\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Report, sample};

    fn report_on(key: &str) -> Report {
        let seconds = [0, 0, 0, 70, 70, 119, 121, 122];
        let arrivals: Vec<(u64, &str)> =
            seconds.iter().flat_map(|&second| [(second, key), (second, "another")]).collect();
        sample("--limit 2", &arrivals)
    }

    #[test]
    fn the_page_stands_alone_and_holds_every_part() {
        let page = page(&report_on("10.0.0.1"));
        for part in ["<table", "<svg", "prefers-color-scheme", "id=\"busiest\"", "id=\"demand\""] {
            assert!(page.contains(part), "{part}");
        }
        for request in ["http://", "https://", "<script", "<link", "@import", "url(", " src="] {
            assert!(!page.contains(request), "{request}");
        }
    }

    #[test]
    fn the_title_tells_the_burst_when_one_is_set() {
        let arrivals = [(0, "a"); 3];
        let plain = page(&sample("--limit 2", &arrivals));
        assert!(plain.contains("<title>2 per 1m for each ip · gorl replay</title>"));
        let burst = page(&sample("--limit 2 --burst 1500", &arrivals));
        assert!(burst.contains("<title>2 per 1m (burst 1,500) for each ip · gorl replay</title>"));
        assert!(burst.contains("<h1>2 per 1m (burst 1,500) for each ip</h1>"));
    }

    #[test]
    fn busiest_is_explained_under_its_heading() {
        let page = page(&report_on("10.0.0.1"));
        let (_, section) = page.split_once("id=\"busiest\"").unwrap();
        let (lead, _) = section.split_once("</p>").unwrap();
        assert!(lead.contains("the most requests within any 1m"), "{lead}");
    }

    #[test]
    fn a_time_range_breaks_only_between_its_two_times() {
        let expected = "<span class=\"when\">1 Jan 1970, 00:00:00</span> \
                        <span class=\"when\">to 1 Jan 1970, 00:02:02 UTC</span>";
        assert_eq!(time_range(0, 122_000_000_000), expected);
        assert!(page(&report_on("10.0.0.1")).contains(expected));
        assert!(STYLE.contains(".when { white-space: nowrap; }"));
    }

    #[test]
    fn whatever_the_log_says_stays_text() {
        let hostile = "</title><script>alert(1)</script>\"'&\u{202e}";
        let page = page(&report_on(hostile));
        assert!(!page.contains("<script"));
        assert!(!page.contains('\u{202e}'));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
        // Every tag that opens also closes, so no text has become one.
        for tag in ["section", "table", "tr", "td", "figure", "svg", "article", "ul", "li", "main"]
        {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
