//! The busiest keys over time: one small chart for each key and strategy.

use std::fmt::Write as _;
use std::time::Duration;

use super::axis::{self, Mark};
use super::escape::Escaped;
use super::{NAME_WIDTH, time_range};
use crate::number::{counted, grouped, short, shortened};
use crate::replay::{BusyKey, Report, Series};
use crate::timestamp::format as time;
use gorl_config::format_duration;

/// A key seen for a moment gets an axis that is still an axis.
const FEWEST_BINS: usize = 24;

/// Writes the cards.
pub(crate) fn section(out: &mut String, report: &Report) {
    if report.busy.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<section aria-labelledby=\"busiest\">\n<h2 id=\"busiest\">The busiest keys</h2>\n\
         <p class=\"lead\">Those with the highest peaks: the most requests within any {}, however many they make \
         in all. What each asked for over time, and what it got. \
         <span class=\"legend\"><span><i class=\"admitted\"></i>admitted</span> <span><i class=\"denied\"></i>denied</span></span></p>\n\
         <div class=\"cards\">\n",
        format_duration(report.window)
    );
    for key in &report.busy {
        card(out, report, key);
    }
    out.push_str("</div>\n</section>\n");
}

fn card(out: &mut String, report: &Report, key: &BusyKey) {
    let name = key.name.to_string();
    let series = &key.series;
    let bins = series.offered.len().max(FEWEST_BINS);
    let to_ns = series.from_ns.saturating_add(series.bin_ns.saturating_mul(bins as u64));
    let _ = write!(
        out,
        "<article class=\"card\">\n<h3 title=\"{}\">{}</h3>\n<p>{}, at most {} within {}<br>{}</p>\n",
        Escaped(&shortened(&name, 10 * NAME_WIDTH)),
        Escaped(&shortened(&name, NAME_WIDTH)),
        counted(key.requests, "request"),
        grouped(key.demand),
        format_duration(report.window),
        time_range(series.from_ns, to_ns),
    );
    let marks = axis::marks(series.from_ns, to_ns);
    let tallest = series.offered.iter().copied().max().unwrap_or_default().max(1);
    let scale = format!(
        "<div class=\"scale\" aria-hidden=\"true\"><span>{}</span><span>0</span></div>",
        short(tallest)
    );
    let offered = bars(&series.offered, tallest);
    for (strategy, counts) in report.strategies.iter().zip(&series.admitted) {
        let strategy = strategy.strategy().as_str();
        let said = admitted_of(counts.iter().sum(), key.requests);
        let _ = write!(
            out,
            "<figure class=\"strip {strategy}\">\n<figcaption><span><span class=\"swatch\"></span>{strategy}</span>\
             <span>{said}</span></figcaption>\n\
             <div class=\"area\">{scale}<svg viewBox=\"0 0 {} 1000\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{strategy}: {said}\">",
            bins * 100
        );
        grid(out, &marks, bins);
        let admitted = bars(counts, tallest);
        let _ = write!(
            out,
            "<path class=\"denied\" d=\"{offered}\"/><path class=\"admitted\" d=\"{admitted}\"/>"
        );
        hints(out, series, counts);
        out.push_str("</svg></div>\n</figure>\n");
    }
    labels(out, &marks);
    let _ = write!(
        out,
        "<p class=\"unit\">requests in each {}</p>\n</article>\n",
        format_duration(Duration::from_nanos(series.bin_ns)),
    );
}

fn admitted_of(admitted: u64, offered: u64) -> String {
    format!("{} of {} admitted", grouped(admitted), grouped(offered))
}

/// Areas over the bars that say, to a pointer which rests on them, when and how many.
fn hints(out: &mut String, series: &Series, admitted: &[u64]) {
    for (at, (&admitted, &offered)) in (0_u64..).zip(admitted.iter().zip(&series.offered)) {
        if offered > 0 {
            let from_ns = series.from_ns + at * series.bin_ns;
            let _ = write!(
                out,
                "<rect x=\"{}\" width=\"100\" height=\"1000\"><title>{}: {}</title></rect>",
                at * 100,
                time(from_ns, "%-d %b %H:%M:%S"),
                admitted_of(admitted, offered)
            );
        }
    }
}

fn labels(out: &mut String, marks: &[Mark]) {
    out.push_str("<div class=\"marks\" aria-hidden=\"true\">");
    // A label at the very end would stick out of the card; its line is there all the same.
    for mark in marks.iter().filter(|mark| mark.at < 960) {
        let _ = write!(
            out,
            "<span style=\"left:{}.{}%\">{}</span>",
            mark.at / 10,
            mark.at % 10,
            Escaped(&mark.label)
        );
    }
    out.push_str("</div>\n");
}

/// Thin lines where the marks are.
fn grid(out: &mut String, marks: &[Mark], bins: usize) {
    let _ = write!(out, "<path class=\"grid\" d=\"");
    for mark in marks {
        let _ = write!(out, "M{} 0v1000", mark.at * bins as u64 / 10);
    }
    out.push_str("\"/>");
}

/// One path for all bars of a row.
fn bars(counts: &[u64], tallest: u64) -> String {
    let mut path = String::new();
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (count * 1_000 / tallest).max(20);
        let _ = write!(path, "M{} 1000v-{height}h88v{height}z", at * 100 + 6);
    }
    path
}
