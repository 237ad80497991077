//! The table of what each strategy decides otherwise than an exact log of timestamps.

use std::fmt::Write as _;

use super::escape::Escaped;
use crate::number::{bytes, fine_percent, grouped};
use crate::replay::Report;

/// Writes the table, when the strategies were held against an exact log.
pub(crate) fn section(out: &mut String, report: &Report) {
    let Some(exact) = &report.exact else { return };
    let _ = write!(
        out,
        "<section aria-labelledby=\"exact\">\n<h2 id=\"exact\">Against an exact log</h2>\n\
         <p class=\"lead\">An exact log of timestamps admits a request if fewer than the limit were admitted to its \
         key in the window that ends with it. It admits {}, denies {} and takes {} of state. \
         Each strategy goes by what it admitted itself, so one decision that differs may bring others.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"exact\">\n<table class=\"top\">\n\
         <caption>Requests decided otherwise than by the exact log</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Strategy</th><th scope=\"col\">Admitted wrongly</th>\
         <th scope=\"col\">Denied wrongly</th><th scope=\"col\">Wrong in all</th>\
         <th scope=\"col\">Keys</th></tr>\n</thead>\n<tbody>\n",
        grouped(exact.admitted),
        grouped(exact.denied),
        bytes(exact.state_bytes)
    );
    let share = |count: u64| Escaped(&fine_percent(count, report.requests)).to_string();
    for one in &exact.strategies {
        let name = one.strategy.as_str();
        let _ = writeln!(
            out,
            "<tr class=\"{name}\"><th scope=\"row\"><span class=\"swatch\"></span>{name}</th>\
             <td>{} <small>{}</small></td><td>{} <small>{}</small></td><td>{}</td><td>{}</td></tr>",
            grouped(one.admitted_wrongly),
            share(one.admitted_wrongly),
            grouped(one.denied_wrongly),
            share(one.denied_wrongly),
            share(one.wrong()),
            grouped(one.keys)
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}

#[cfg(test)]
mod tests {
    use crate::html::page;
    use crate::replay::sample;

    #[test]
    fn the_table_is_there_when_it_was_asked_for() {
        let arrivals = [59, 59, 60, 60, 119, 119].map(|second| (second, "a"));
        let with = page(&sample("--limit 2 --exact", &arrivals));
        // The fixed window admits the two at 60, which the log does not, and denies those at 119.
        let row = "fixed_window</th><td>2 <small>33.333%</small></td><td>2 <small>33.333%</small></td>\
                   <td>66.667%</td><td>1</td></tr>";
        assert!(with.contains(row), "{with}");
        assert!(with.contains("It admits 4, denies 2 and takes 32 B of state."));
        assert!(!page(&sample("--limit 2", &arrivals)).contains("id=\"exact\""));
    }
}
