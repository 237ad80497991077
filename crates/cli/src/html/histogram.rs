//! How many keys ask for how much, against the limit.

use std::fmt::Write as _;

use super::escape::Escaped;
use crate::duration::exact;
use crate::number::{counted, grouped, short};
use crate::replay::{Bin, Report};

/// The tallest bar in thousandths of the plot; above it are the counts and the limit's label.
const TALLEST: u64 = 780;

/// A bar of one key among thousands must still be seen.
const LOWEST: u64 = 8;

/// Writes the figure and, for those who want the numbers, its table.
pub(crate) fn section(out: &mut String, report: &Report) {
    let window = exact(report.window);
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
    let tallest = bins.iter().map(|bin| bin.within + bin.over).max().unwrap_or_default().max(1);
    let height = |keys: u64| {
        if keys == 0 { 0 } else { (keys * TALLEST / tallest).max(LOWEST) }
    };
    let (mut within, mut over, mut counts) = (String::new(), String::new(), String::new());
    let mut hints = String::new();
    for (at, bin) in (0_u64..).zip(bins) {
        let keys = bin.within + bin.over;
        let (low, high) = (height(bin.within), height(keys).max(height(bin.within)));
        let left = at * 100 + 8;
        if bin.within > 0 {
            let _ = write!(within, "M{left} 1000v-{low}h84v{low}z");
        }
        if bin.over > 0 {
            let rise = high.saturating_sub(low).max(LOWEST);
            let _ = write!(over, "M{left} {}v-{rise}h84v{rise}z", 1_000 - low);
        }
        if keys > 0 {
            let (x, y) = (at * 1_000 + 500, high);
            let _ = write!(
                hints,
                "<rect x=\"{}\" width=\"100\" height=\"1000\"><title>{}: {}</title></rect>",
                at * 100,
                range(bin),
                counted(keys, "key")
            );
            let _ = write!(
                counts,
                "<span style=\"left:{}%;bottom:{}.{}%\">{}</span>",
                decimals(x, count * 10),
                y / 10,
                y % 10,
                short(keys)
            );
        }
    }
    let limit = limit_place(report.limit, bins);
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
        decimals(limit, count * 10),
        if limit > count * 700 { " class=\"left\"" } else { "" },
        short(report.limit),
    );
}

/// Where the limit lies, in thousandths of a bin from the left: the edge between what is within it
/// and what is above.
fn limit_place(limit: u64, bins: &[Bin]) -> u64 {
    let edge = limit + 1;
    let Some(index) = bins.iter().position(|bin| edge <= bin.below) else {
        return bins.len() as u64 * 1_000;
    };
    let bin = &bins[index];
    // Inside a bin the scale is logarithmic as well. A place on a page needs no exactness.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let inside = {
        let (from, edge, below) = (bin.from as f64, edge as f64, bin.below as f64);
        ((edge / from).log(below / from) * 1_000.0).clamp(0.0, 1_000.0) as u64
    };
    index as u64 * 1_000 + inside
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
            grouped(bin.within),
            grouped(bin.over)
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

    #[test]
    fn the_limit_lies_where_its_bin_says() {
        let bin = |from, below| Bin { from, below, within: 0, over: 0 };
        let bins = [bin(1, 2), bin(2, 5), bin(5, 10), bin(10, 20)];
        assert_eq!(limit_place(1, &bins), 1_000);
        assert_eq!(limit_place(4, &bins), 2_000);
        assert_eq!(limit_place(19, &bins), 4_000);
        assert!((3_400..3_700).contains(&limit_place(14, &bins)));
        assert_eq!(limit_place(1_000, &bins), 4_000);
    }
}
