//! How many keys ask for how much, against the limit.

use std::fmt::Write as _;

use super::escape::Escaped;
use crate::number::{counted, grouped, short};
use crate::replay::{Bin, Report};
use gorl_config::format_duration;

/// The tallest bar in thousandths of the plot; above it are the counts and the limit's label.
const TALLEST: u64 = 780;

/// A bar of one key among thousands must still be seen.
const LOWEST: u64 = 8;

/// Writes the figure and, for those who want the numbers, its table.
pub(crate) fn section(out: &mut String, report: &Report) {
    let window = format_duration(report.window);
    let bins = &report.histogram;
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"demand\">\n<h2 id=\"demand\">How much keys ask for</h2>\n\
         <p class=\"lead\">Keys by the most requests they make within any {window}. \
         <span class=\"legend\"><span><i class=\"within\"></i>within the limit</span> <span><i class=\"over\"></i>above it</span></span></p>\n\
         <figure class=\"histogram\">"
    );
    plot(out, report, &window);
    labels(out, bins);
    let _ = writeln!(
        out,
        "<figcaption>requests within {window}, from each mark up to the next</figcaption>\n</figure>"
    );
    numbers(out, bins);
    out.push_str("</section>\n");
}

fn plot(out: &mut String, report: &Report, window: &str) {
    let bins = &report.histogram;
    let count = bins.len().max(1) as u64;
    let tallest = bins.iter().map(|bin| bin.keys).max().unwrap_or_default().max(1);
    let (mut within, mut over) = (String::new(), String::new());
    let (mut counts, mut hints) = (String::new(), String::new());
    for (at, bin) in (0_u64..).zip(bins).filter(|(_, bin)| bin.keys > 0) {
        let height = (bin.keys * TALLEST / tallest).max(LOWEST);
        let side = if bin.over { &mut over } else { &mut within };
        let _ = write!(side, "M{} 1000v-{height}h84v{height}z", at * 100 + 8);
        let _ = write!(
            hints,
            "<rect x=\"{}\" width=\"100\" height=\"1000\"><title>{}: {}</title></rect>",
            at * 100,
            range(bin),
            counted(bin.keys, "key")
        );
        let _ = write!(
            counts,
            "<span style=\"left:{}%;bottom:{}.{}%\">{}</span>",
            decimals(at * 1_000 + 500, count * 10),
            height / 10,
            height % 10,
            short(bin.keys)
        );
    }
    // No bin is on both sides, so the limit is the edge between two of them.
    let limit = bins.iter().take_while(|bin| !bin.over).count() as u64;
    let _ = writeln!(
        out,
        "<div class=\"plot\">\n<svg viewBox=\"0 0 {} 1000\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Histogram: {} of {} make more than {} requests within {}\">\
         <path class=\"within\" d=\"{within}\"/><path class=\"over\" d=\"{over}\"/>{hints}</svg>\n\
         <div class=\"counts\" aria-hidden=\"true\">{counts}</div>\n\
         <div class=\"limit\" style=\"left:{}%\"><span{}>limit {}</span></div>\n</div>",
        count * 100,
        grouped(report.keys_over),
        counted(report.keys, "key"),
        grouped(report.limit),
        Escaped(window),
        decimals(limit * 100, count),
        if limit * 10 > count * 7 { " class=\"left\"" } else { "" },
        short(report.limit),
    );
}

fn labels(out: &mut String, bins: &[Bin]) {
    let count = bins.len().max(1) as u64;
    // On a phone every second label of many would touch the next.
    let class = if count > 9 { "marks many" } else { "marks" };
    let _ = write!(out, "<div class=\"{class}\" aria-hidden=\"true\">");
    let edges = bins.iter().map(|bin| bin.from).chain(bins.last().map(|bin| bin.below));
    for (at, edge) in (0_u64..).zip(edges) {
        let _ = write!(
            out,
            "<span style=\"left:{}%\">{}</span>",
            decimals(at * 100, count),
            short(edge)
        );
    }
    out.push_str("</div>\n");
}

fn numbers(out: &mut String, bins: &[Bin]) {
    out.push_str(
        "<details><summary>The numbers</summary>\n<table class=\"numbers\">\n<thead><tr><th scope=\"col\">Requests</th>\
         <th scope=\"col\">Keys within the limit</th><th scope=\"col\">Keys above it</th></tr></thead>\n<tbody>\n",
    );
    for bin in bins {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>",
            range(bin),
            grouped(if bin.over { 0 } else { bin.keys }),
            grouped(if bin.over { bin.keys } else { 0 })
        );
    }
    out.push_str("</tbody>\n</table>\n</details>\n");
}

/// The demands in the bin: `20 to 49`.
fn range(bin: &Bin) -> String {
    let last = bin.below - 1;
    if last == bin.from {
        return grouped(last);
    }
    format!("{} to {}", grouped(bin.from), grouped(last))
}

/// `number / of` with two decimals, for a place in percent.
fn decimals(number: u64, of: u64) -> String {
    let hundredths = u128::from(number) * 100 / u128::from(of.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::sample;

    #[test]
    fn every_bar_is_on_one_side_of_the_limit_and_the_limit_between_them() {
        let arrivals: Vec<(u64, &str)> = [("a", 5), ("b", 6), ("c", 7)]
            .iter()
            .flat_map(|&(key, count)| vec![(0, key); count])
            .collect();
        let mut out = String::new();
        section(&mut out, &sample("--limit 6", &arrivals));
        // Bars of 1, 2 to 4, 5 to 6 and 7 to 9: two keys are within and one is above.
        assert!(out.contains("<path class=\"within\" d=\"M208 1000v-780h84v780z\"/>"), "{out}");
        assert!(out.contains("<path class=\"over\" d=\"M308 1000v-390h84v390z\"/>"), "{out}");
        assert!(out.contains("class=\"limit\" style=\"left:75.00%\""), "{out}");
        assert!(out.contains("<th scope=\"row\">7 to 9</th><td>0</td><td>1</td>"), "{out}");
    }
}
