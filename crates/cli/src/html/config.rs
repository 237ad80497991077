//! What a configuration file did, as a page like that of the comparison.

use std::fmt::Write as _;

use super::escape::Escaped;
use super::strategies::bar;
use super::{CLOSE, NAME_WIDTH, conclusions, open, time_range};
use crate::duration::human;
use crate::number::{grouped, percent, printable, shortened};
use crate::replay::{FileLimit, FileReport, Reading, ResourceReport};

/// Renders the page.
pub(crate) fn page(report: &FileReport, reading: &Reading) -> String {
    let mut out = String::new();
    let heading = format!("The limits of {}", printable(&report.file));
    open(&mut out, &heading);
    header(&mut out, report, reading, &heading);
    conclusions(&mut out, &report.advice);
    resources(&mut out, report);
    most_denied(&mut out, report);
    out.push_str(EXPLAINED);
    out.push_str(CLOSE);
    out
}

fn header(out: &mut String, report: &FileReport, reading: &Reading, heading: &str) {
    let sources = shortened(&printable(&reading.sources.join(", ")), 2 * NAME_WIDTH);
    let (from_ns, to_ns) = reading.traffic.span();
    let _ = write!(
        out,
        "<header>\n<p class=\"eyebrow\">gorl replay</p>\n<h1>{}</h1>\n<p class=\"sub\">{}<br>{}</p>\n<dl class=\"tiles\">\n",
        Escaped(heading),
        Escaped(&sources),
        time_range(from_ns, to_ns)
    );
    let requests = reading.traffic.requests() as u64;
    let denied = report.denied();
    let limited: u64 = report.resources.iter().map(|one| one.keys_limited).sum();
    let keys = reading.traffic.keys() as u64;
    for (name, figure, note) in [
        ("Requests", requests, String::new()),
        ("Denied", denied, percent(denied, requests)),
        ("Keys", keys, String::new()),
        ("Keys limited", limited, percent(limited, keys)),
    ] {
        let (figure, note) = (grouped(figure), Escaped(&note).to_string());
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{figure} <small>{note}</small></dd></div>");
    }
    out.push_str("</dl>\n</header>\n");
}

fn resources(out: &mut String, report: &FileReport) {
    out.push_str(
        "<section aria-labelledby=\"resources\">\n<h2 id=\"resources\">The resources</h2>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"resources\">\n<table class=\"top\">\n\
         <caption>What each limit of each resource did</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Resource</th><th scope=\"col\">Requests</th><th scope=\"col\">Denied</th>\
         <th scope=\"col\">Binds</th><th scope=\"col\">Keys limited</th>\
         <th scope=\"col\">Wait, median</th><th scope=\"col\">Wait, 99th</th></tr>\n</thead>\n<tbody>\n",
    );
    for resource in &report.resources {
        resource_row(out, resource);
        for limit in &resource.limits {
            limit_row(out, resource, limit);
        }
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

fn resource_row(out: &mut String, resource: &ResourceReport) {
    let wait = |wait: Option<u64>| wait.map_or_else(|| "–".to_owned(), human);
    let _ = writeln!(
        out,
        "<tr><th scope=\"row\"><strong>{}</strong></th><td>{}</td><td>{} <small>{}</small>{}</td><td></td>\
         <td>{} <small>of {}</small></td><td>{}</td><td>{}</td></tr>",
        Escaped(&shortened(&resource.shown(), NAME_WIDTH)),
        grouped(resource.requests),
        grouped(resource.denied),
        Escaped(&percent(resource.denied, resource.requests)),
        bar(resource.denied, resource.requests, "denied"),
        grouped(resource.keys_limited),
        grouped(resource.keys),
        wait(resource.wait_p50),
        wait(resource.wait_p99)
    );
}

/// A limit and what it did; of a limit alone its resource has told that.
fn limit_row(out: &mut String, resource: &ResourceReport, limit: &FileLimit) {
    let strategy = limit.policy.strategy().as_str();
    let _ = write!(
        out,
        "<tr class=\"{strategy}\"><th scope=\"row\"><span class=\"swatch\"></span>{}</th><td></td>",
        Escaped(&limit.text())
    );
    if resource.limits.len() == 1 {
        out.push_str("<td></td><td></td><td></td>");
    } else {
        let _ = write!(
            out,
            "<td>{} <small>{}</small></td><td>{}</td><td>{}</td>",
            grouped(limit.denied),
            Escaped(&percent(limit.denied, resource.requests)),
            grouped(limit.binding),
            grouped(limit.keys_limited)
        );
    }
    out.push_str("<td></td><td></td></tr>\n");
}

fn most_denied(out: &mut String, report: &FileReport) {
    if report.top_denied.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"denied\">\n<h2 id=\"denied\">Most denied keys</h2>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"denied\">\n<table class=\"top\">\n\
         <caption>Denied requests of a key</caption>\n<thead>\n<tr><th scope=\"col\">Key</th>\
         <th scope=\"col\">Requests</th><th scope=\"col\">Denied</th></tr>\n</thead>\n<tbody>\n",
    );
    for top in &report.top_denied {
        let name = top.name.to_string();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\" title=\"{}\">{}</th><td>{}</td><td>{} <small>{}</small></td></tr>",
            Escaped(&shortened(&name, 10 * NAME_WIDTH)),
            Escaped(&shortened(&name, NAME_WIDTH)),
            grouped(top.requests),
            grouped(top.denied),
            Escaped(&percent(top.denied, top.requests))
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

const EXPLAINED: &str = "<footer>\n<h2>How to read this</h2>\n<dl>\n\
<div><dt>Resource</dt><dd>What the routes of the file say of a request, or the field of the log that was named. \
\u{201c}Any other\u{201d} is what has no limits of its own and is held by the default.</dd></div>\n\
<div><dt>Binds</dt><dd>Of the limits that denied a request, the one whose wait is longest; so the figures of a \
resource add up to its denials.</dd></div>\n\
<div><dt>Keys limited</dt><dd>Keys that were denied at least once. A key counts once for each resource.</dd></div>\n\
<div><dt>Wait</dt><dd>How long a denied caller had to wait until its next try would be admitted: \
half of the denials waited at most the median, 99 of 100 at most the 99th percentile.</dd></div>\n\
</dl>\n<p>Every request was decided at the time the log gives it, with counts in memory as if one process served all. \
All times are in UTC.</p>\n</footer>\n";
