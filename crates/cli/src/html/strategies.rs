//! The tables: what each strategy did, and which keys it denied most.

use std::fmt::Write as _;

use super::NAME_WIDTH;
use super::escape::Escaped;
use crate::duration::human;
use crate::number::{bytes, grouped, multiple, percent, short, shortened};
use crate::replay::{Report, StrategyReport};

/// Writes the comparison's table.
pub(crate) fn section(out: &mut String, report: &Report) {
    out.push_str(
        "<section aria-labelledby=\"strategies\">\n<h2 id=\"strategies\">The strategies</h2>\n\
         <table class=\"compare\">\n<caption>The same requests through each strategy</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Strategy</th><th scope=\"col\">Admitted</th><th scope=\"col\">Denied</th>\
         <th scope=\"col\">Keys limited</th><th scope=\"col\">Worst burst</th>\
         <th scope=\"col\">Wait, median</th><th scope=\"col\">Wait, 99th</th>\
         <th scope=\"col\">State</th><th scope=\"col\">Decisions/s</th></tr>\n</thead>\n<tbody>\n",
    );
    let worst = report.strategies.iter().map(|strategy| strategy.worst.count).max();
    let scale = worst.unwrap_or_default().max(report.limit);
    for strategy in &report.strategies {
        row(out, report, strategy, scale);
    }
    out.push_str("</tbody>\n</table>\n</section>\n");
}

fn row(out: &mut String, report: &Report, strategy: &StrategyReport, scale: u64) {
    let name = strategy.strategy().as_str();
    let wait = |wait: Option<u64>| wait.map_or_else(|| "–".to_owned(), human);
    let holds = if strategy.strategy().has_burst() && report.burst.is_some() {
        format!(" <small>holds {}</small>", grouped(u64::from(strategy.policy.capacity())))
    } else {
        String::new()
    };
    let _ = write!(
        out,
        "<tr class=\"{name}\"><th scope=\"row\"><span class=\"swatch\"></span>{name}{holds}</th>\
         <td data-label=\"Admitted\">{}</td>\
         <td data-label=\"Denied\"><span>{} <small>{}</small></span>{}</td>\
         <td data-label=\"Keys limited\">{}</td>\
         <td data-label=\"Worst burst\"><span>{} <small>{}</small></span>{}</td>",
        grouped(strategy.admitted),
        grouped(strategy.denied),
        Escaped(&percent(strategy.denied, report.requests)),
        bar(strategy.denied, report.requests, "denied"),
        grouped(strategy.keys_limited),
        grouped(strategy.worst.count),
        multiple(strategy.worst.count, report.limit),
        bar(strategy.worst.count, scale, "burst"),
    );
    let _ = writeln!(
        out,
        "<td data-label=\"Wait, median\">{}</td><td data-label=\"Wait, 99th\">{}</td>\
         <td data-label=\"State\">{}</td><td data-label=\"Decisions/s\">{}</td></tr>",
        wait(strategy.wait_p50),
        wait(strategy.wait_p99),
        bytes(strategy.state_bytes),
        short(strategy.decisions_per_second),
    );
}

/// A thin bar under a figure, to compare rows by eye; the figure says the same to a reader.
pub(crate) fn bar(part: u64, whole: u64, class: &str) -> String {
    let tenths = u128::from(part) * 1_000 / u128::from(whole.max(1));
    format!(
        "<i class=\"bar {class}\" aria-hidden=\"true\"><b style=\"width:{}.{}%\"></b></i>",
        tenths / 10,
        tenths % 10
    )
}

/// Writes the table of the most denied keys, when there are any.
pub(crate) fn most_denied(out: &mut String, report: &Report) {
    if report.top_denied.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"denied\">\n<h2 id=\"denied\">Most denied keys</h2>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"denied\">\n<table class=\"top\">\n\
         <caption>Denied requests of a key by strategy</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Key</th><th scope=\"col\">Requests</th><th scope=\"col\">Busiest window</th>",
    );
    for strategy in &report.strategies {
        let name = strategy.strategy().as_str();
        let _ = write!(
            out,
            "<th scope=\"col\" class=\"{name}\"><span class=\"swatch\"></span>{name}</th>"
        );
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    for top in &report.top_denied {
        let name = top.name.to_string();
        let _ = write!(
            out,
            "<tr><th scope=\"row\" title=\"{}\">{}</th><td>{}</td><td>{}</td>",
            Escaped(&shortened(&name, 10 * NAME_WIDTH)),
            Escaped(&shortened(&name, NAME_WIDTH)),
            grouped(top.requests),
            grouped(top.demand)
        );
        for &denied in &top.denied {
            let _ = write!(out, "<td>{}</td>", grouped(denied));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}
