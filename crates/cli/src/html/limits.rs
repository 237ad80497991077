//! The table of several limits: which of them binds, and whom.

use std::fmt::Write as _;

use super::escape::Escaped;
use crate::number::{grouped, multiple, percent};
use crate::replay::Report;

/// Writes the table, when there are several limits.
pub(crate) fn section(out: &mut String, report: &Report) {
    if report.limits.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"limits\">\n<h2 id=\"limits\">Which limit binds</h2>\n\
         <p class=\"lead\">A request is admitted if every limit admits it, and spends nothing of any otherwise. \
         Of the limits that denied one, that binds whose wait is longest; the share is of all denied requests.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"limits\">\n<table class=\"top\">\n\
         <caption>Denied requests by limit</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Limit</th><th scope=\"col\">Strategy</th><th scope=\"col\">Binds</th>\
         <th scope=\"col\">Denies</th><th scope=\"col\">Keys limited</th>\
         <th scope=\"col\">Worst burst</th></tr>\n</thead>\n<tbody>\n",
    );
    for limit in &report.limits {
        let limit_name = limit.limit.name();
        for (one, all) in limit.strategies.iter().zip(&report.strategies) {
            let name = one.strategy.as_str();
            let _ = writeln!(
                out,
                "<tr class=\"{name}\"><th scope=\"row\">{}</th><td><span class=\"swatch\"></span>{name}</td>\
                 <td>{} <small>{}</small></td><td>{}</td><td>{} <small>of {}</small></td>\
                 <td>{} <small>{}</small></td></tr>",
                Escaped(&crate::number::printable(&limit_name)),
                grouped(one.binding),
                Escaped(&percent(one.binding, all.denied)),
                grouped(one.denied),
                grouped(one.keys_limited),
                grouped(limit.keys),
                grouped(one.worst),
                multiple(one.worst, limit.limit.most)
            );
        }
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

#[cfg(test)]
mod tests {
    use crate::html::page;
    use crate::replay::sample;

    #[test]
    fn each_limit_has_a_row_for_each_strategy() {
        // Three for all, two for each: the third of `a` is denied to it alone, `b` gets one of two.
        let arrivals = [(0, "a"), (0, "a"), (0, "a"), (1, "b"), (2, "b")];
        let with = page(&sample("--limit 2 --and all:3/1m", &arrivals));
        assert!(with.contains("<h1>2 per 1m for each ip and 3 per 1m for all together</h1>"));
        let row = "3 per 1m for all together</th><td><span class=\"swatch\"></span>fixed_window</td>\
                   <td>1 <small>50.0%</small></td><td>1</td><td>1 <small>of 1</small></td>\
                   <td>3 <small>1.00×</small></td></tr>";
        assert!(with.contains(row), "{with}");
        assert!(!page(&sample("--limit 2", &arrivals)).contains("id=\"limits\""));
    }
}
