//! Self-contained HTML pages with style, script and data inside.

use carom::lab::expr::print::html::STYLE as FORMULAS;
use serde_json::Value;

use crate::encode::{escape, script_json};
use crate::palette::{DARK, LIGHT};

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPTS: [&str; 3] =
    [include_str!("../assets/plot.js"), include_str!("../assets/animation.js"), include_str!("../assets/page.js")];

/// A page with a title, a line below it, an HTML body, and data for the scripts.
pub fn page(title: &str, lead: &str, body: &str, data: &Value) -> String {
    let colors = format!(":root{{{}}}:root[data-theme=\"dark\"]{{{}}}", LIGHT.css(), DARK.css());
    let (title, lead, data) = (escape(title), escape(lead), script_json(data));
    let scripts: String = SCRIPTS.iter().map(|script| format!("<script>\n{script}</script>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{colors}\n{STYLE}{FORMULAS}</style>\n</head>\n<body>\n<main>\n\
         <header><div><h1>{title}</h1>\n<p class=\"lead\">{lead}</p></div>\
         <button id=\"theme\" type=\"button\" title=\"light or dark\">☾ dark</button></header>\n\
         {body}</main>\n<script type=\"application/json\" id=\"data\">{data}</script>\n{scripts}</body>\n</html>\n"
    )
}

/// How to use the interactive plots.
pub const HINT: &str = "<p class=\"hint\">Values appear under the pointer. Drag to zoom, or click a plot and turn the wheel; \
                        a double click shows everything again.</p>\n";

/// A table; the columns with indices in `words` are text, the others numbers.
pub fn table(headings: &[&str], words: &[usize], rows: &[Vec<String>]) -> String {
    let class = |k: usize| if words.contains(&k) { " class=\"word\"" } else { "" };
    let cells = |tag: &str, row: &mut dyn Iterator<Item = &str>| -> String {
        row.enumerate().map(|(k, cell)| format!("<{tag}{}>{}</{tag}>", class(k), escape(cell))).collect()
    };
    let head = cells("th", &mut headings.iter().copied());
    let body: String =
        rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", &mut row.iter().map(String::as_str)))).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )
}

/// A list of names and values.
pub fn facts(rows: &[(&str, String)]) -> String {
    let row =
        |(name, value): &(&str, String)| format!("<tr><th>{}</th><td>{}</td></tr>\n", escape(name), escape(value));
    format!("<table class=\"facts\">\n{}</table>\n", rows.iter().map(row).collect::<String>())
}

/// A number with at most `digits` digits.
pub fn number(x: f64, digits: usize) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        let digits = (digits as i32 - 1 - x.abs().max(1e-3).log10().floor() as i32).max(0) as usize;
        let plain = format!("{x:.digits$}");
        let short = if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.') } else { &plain };
        return short.replace('-', "−");
    }
    let decimals = digits.saturating_sub(1);
    format!("{x:.decimals$e}").replace('-', "−")
}
