//! Figures and tables of the papers, drawn from their data, with claim and finding.

use carom_papers::{Drawing, Entry, Finding, Mark, Table, Verdict};
use serde_json::json;

use crate::chart::{Axis, Chart, Series};
use crate::encode::{base64, escape};
use crate::page::{HINT, number, page, table};
use crate::palette::LIGHT;
use crate::svg;

/// Tables of at most this many rows are also printed.
const SHORT: usize = 30;
/// The number of digits in tables; the CSV files have all digits.
const DIGITS: usize = 5;

/// The panels of a finding, in the order of its tables.
pub fn charts(finding: &Finding) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    for table in &finding.tables {
        let guessed = if table.drawings.is_empty() { guess(table) } else { None };
        for drawing in table.drawings.iter().chain(&guessed) {
            let place = charts.iter().position(|chart| chart.title == drawing.panel).unwrap_or_else(|| {
                charts.push(panel(drawing));
                charts.len() - 1
            });
            charts[place].series.extend(curves(table, drawing));
        }
    }
    charts.retain(|chart| !chart.is_empty());
    charts
}

/// The axes of a drawing, without curves.
fn panel(drawing: &Drawing) -> Chart {
    let [x, y] = [0, 1].map(|k| Axis { label: drawing.labels[k].clone(), log: drawing.log[k], extent: None });
    Chart { equal: drawing.equal, ..Chart::new(&drawing.panel, x, y) }
}

/// The default drawing: every column over the first, which is logarithmic if it is a step.
fn guess(table: &Table) -> Option<Drawing> {
    if table.rows.len() < 2 || table.rows.iter().any(|(label, _)| label.is_some()) {
        return None;
    }
    let (x, rest) = table.columns.split_first()?;
    let drawing = Drawing::new(&table.name, x, [x, if rest.len() == 1 { &rest[0] } else { "" }]);
    let drawing = rest.iter().fold(drawing, |drawing, column| drawing.curve(column, column, Mark::Line));
    Some(if x == "h" { drawing.log_log() } else { drawing })
}

fn curves(table: &Table, drawing: &Drawing) -> Vec<Series> {
    let Some(x) = table.column(&drawing.x) else { return Vec::new() };
    let mut all = Vec::new();
    for curve in &drawing.curves {
        let Some(y) = table.column(&curve.column) else { continue };
        let points = |label: Option<&String>| {
            let rows = table.rows.iter().zip(x.iter().zip(&y));
            rows.filter(|(row, _)| row.0.as_ref() == label).map(|(_, (x, y))| [*x, *y]).collect::<Vec<_>>()
        };
        let mut labels: Vec<Option<&String>> = table.rows.iter().map(|(label, _)| label.as_ref()).collect();
        labels.dedup();
        if labels.is_empty() {
            // The legend lists the label of an empty curve.
            labels.push(None);
        }
        for label in labels {
            let name = label.cloned().unwrap_or_else(|| curve.label.clone());
            all.push(Series { label: name, mark: curve.mark, points: points(label) });
        }
    }
    all
}

/// The figure as a picture.
pub fn picture(entry: &Entry, finding: &Finding, theme: &crate::palette::Theme) -> String {
    svg::figure(&format!("{} [{}]", entry.id, entry.document), &charts(finding), theme)
}

/// One figure or table as a page.
pub fn html(entry: &Entry, finding: &Finding, command: &str) -> String {
    let charts = charts(finding);
    let plots = if charts.is_empty() {
        String::new()
    } else {
        format!("<h2>Figure</h2>\n{HINT}<div id=\"plots\" class=\"plots\"></div>\n")
    };
    let tables: String = finding.tables.iter().map(data_table).collect();
    let numbers: Vec<Vec<String>> =
        finding.numbers.iter().map(|n| vec![n.name.clone(), number(n.value, DIGITS)]).collect();
    let body = format!(
        "<div class=\"sides\"><div><h3>The paper says</h3><p>{}</p></div>\
         <div><h3>Here comes out</h3><p>{}</p><p>The claim {}</p></div></div>\n\
         {plots}<h2>Numbers</h2>\n{}{tables}<p class=\"hint\">Made by <code>{}</code></p>\n",
        escape(entry.claim),
        escape(&finding.finding),
        verdict(finding.verdict),
        table(&["", "value"], &[0], &numbers),
        escape(command)
    );
    let data = json!({"charts": charts.iter().map(Chart::json).collect::<Vec<_>>()});
    page(&capital(entry.title), &format!("{}, {}", entry.document, entry.id), &body, &data)
}

fn capital(text: &str) -> String {
    // A symbol keeps its case: Λ is not λ.
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| [first.to_ascii_uppercase()].into_iter().chain(letters).collect())
}

fn verdict(verdict: Verdict) -> String {
    let class = match verdict {
        Verdict::Holds => "holds",
        Verdict::Partly => "partly",
        Verdict::DoesNot => "not",
    };
    format!("<span class=\"verdict {class}\"><b>{}</b></span>", verdict.words())
}

fn data_table(data: &Table) -> String {
    if data.rows.len() > SHORT {
        return String::new();
    }
    let headings: Vec<String> = data.columns.iter().map(|column| column.replace('_', " ")).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let cells = |(label, row): &(Option<String>, Vec<f64>)| {
        label.iter().cloned().chain(row.iter().map(|x| number(*x, DIGITS))).collect()
    };
    let rows: Vec<Vec<String>> = data.rows.iter().map(cells).collect();
    let words: &[usize] = if data.rows.iter().any(|(label, _)| label.is_some()) { &[0] } else { &[] };
    format!("<h2>{}</h2>\n{}", escape(&capital(&data.name)), table(&headings, words, &rows))
}

/// The index page of all figures, each with its file and its finding.
pub fn gallery(entries: &[(&Entry, Finding, String)], command: &str) -> String {
    let card = |(entry, finding, file): &(&Entry, Finding, String)| {
        let charts = charts(finding);
        let image = if charts.is_empty() {
            String::new()
        } else {
            let shown = svg::figure("", &charts[..charts.len().min(2)], &LIGHT);
            format!("<img alt=\"\" src=\"data:image/svg+xml;base64,{}\">", base64(shown.into_bytes()))
        };
        format!(
            "<li><a href=\"{}\">{image}<div><b>{}</b> {}<p>{}</p></div></a></li>\n",
            escape(file),
            escape(entry.id),
            verdict(finding.verdict),
            escape(&capital(entry.title))
        )
    };
    let body = format!(
        "<ul class=\"gallery\">\n{}</ul>\n<p class=\"hint\">Made by <code>{}</code></p>\n",
        entries.iter().map(card).collect::<String>(),
        escape(command)
    );
    let lead = "Figures and tables of the papers, recomputed: the claim of each, and our finding.";
    page("Figures and tables", lead, &body, &json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[&str], rows: Vec<(Option<String>, Vec<f64>)>) -> Table {
        Table {
            name: name.into(),
            columns: columns.iter().map(|c| c.to_string()).collect(),
            rows,
            drawings: Vec::new(),
        }
    }

    fn finding(tables: Vec<Table>) -> Finding {
        Finding { finding: "f < g".into(), verdict: Verdict::Partly, numbers: Vec::new(), tables }
    }

    /// A figure that is not known by name.
    #[test]
    fn a_new_figure_is_drawn_without_being_told_how() {
        let rows = |f: fn(f64) -> f64| (1..5).map(|k| (None, vec![f64::from(k), f(f64::from(k)), 2.0])).collect();
        let charts = charts(&finding(vec![
            table("over-time", &["t", "lambda", "g"], rows(|t| t * t)),
            table("orders", &["h", "error", "other"], rows(|h| h.powi(2))),
            table("words", &["method", "a", "b"], vec![(Some("cva".into()), vec![1.0, 2.0])]),
        ]));
        let told: Vec<_> = charts.iter().map(|c| (c.title.as_str(), c.x.log, c.series.len())).collect();
        assert_eq!(told, [("over-time", false, 2), ("orders", true, 2)]);
        assert_eq!(charts[0].series[0].points[2], [3.0, 9.0]);
    }

    #[test]
    fn tables_of_one_panel_share_it_and_labels_become_curves() {
        let drawing = Drawing::new("p", "t", ["t [s]", "H [J]"]).curve("H", "one", Mark::Line);
        let one = Table { drawings: vec![drawing.clone()], ..table("a", &["t", "H"], vec![(None, vec![0.0, 1.0])]) };
        let labelled = |label: &str, t: f64| (Some(label.to_string()), vec![t, t]);
        let rows = vec![labelled("x", 0.0), labelled("x", 1.0), labelled("y", 2.0)];
        let two = Table { drawings: vec![drawing], ..table("b", &["rule", "t", "H"], rows) };
        let charts = charts(&finding(vec![one, two]));
        assert_eq!(charts.len(), 1);
        let curves: Vec<_> = charts[0].series.iter().map(|s| (s.label.as_str(), s.points.len())).collect();
        assert_eq!(curves, [("one", 1), ("x", 2), ("y", 1)]);
    }
}
