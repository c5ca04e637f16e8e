//! The report of a run.

use carom::lab::model::Model;
use serde_json::json;

use crate::chart::Chart;
use crate::encode::escape;
use crate::motion::Motion;
use crate::page::{HINT, facts, number, page, table};
use crate::plots::pretty;
use crate::recording::{Listed, Recording};

/// Longer equations are collapsed.
const LONG: usize = 60_000;

/// The contents of a report.
pub struct Report<'a> {
    /// The model.
    pub model: &'a Model,
    /// Names and values, such as method, step and timings.
    pub facts: Vec<(&'static str, String)>,
    /// An additional message on how the run ended.
    pub message: Option<String>,
    /// The command that created the report.
    pub command: String,
    /// The recorded data.
    pub recording: &'a Recording,
    /// The plots.
    pub charts: &'a [Chart],
    /// The animation.
    pub motion: &'a Motion,
}

impl Report<'_> {
    /// The report as one HTML page.
    pub fn html(&self) -> String {
        let charts: Vec<_> = self.charts.iter().map(Chart::json).collect();
        let data = json!({"charts": charts, "motion": self.motion.json()});
        let body = [self.top(), self.plots(), self.impacts(), self.equations(), self.text()].concat();
        let facts: Vec<&str> = self.facts.iter().take(2).map(|(_, value)| value.as_str()).collect();
        page(&self.model.title, &format!("{}, step {}", facts[0], facts[1]), &body, &data)
    }

    fn top(&self) -> String {
        let message = self.message.iter().map(|text| format!("<p><b>{}</b></p>\n", escape(text))).collect::<String>();
        let mut note = String::new();
        if self.motion.is_part {
            let last = self.motion.time(self.motion.frames.max(1) - 1);
            note = format!("<p class=\"hint\">The animation shows the run up to t = {}.</p>\n", number(last, 6));
        }
        format!(
            "{message}<div class=\"top\"><div id=\"animation\"></div><div>{}\
             <p class=\"hint\">Made by</p><p><code>{}</code></p>{note}</div></div>\n",
            facts(&self.facts),
            escape(&self.command)
        )
    }

    fn plots(&self) -> String {
        let is_dense = self.recording.coordinates.iter().all(|values| !values.is_sparse());
        let thinned = "<p class=\"hint\">Of many nodes those are drawn at which something is largest or smallest: no spike \
                       is lost.</p>\n";
        let note = if is_dense { "" } else { thinned };
        format!("<h2>Plots</h2>\n{HINT}{note}<div id=\"plots\" class=\"plots\"></div>\n")
    }

    fn impacts(&self) -> String {
        let (listed, count) = (&self.recording.impacts, self.recording.impact_count);
        if count == 0 {
            return "<h2>Impacts</h2>\n<p>There were none.</p>\n".into();
        }
        let names: Vec<String> =
            self.model.system.coordinates.iter().map(|c| pretty(&format!("{}'", c.name))).collect();
        let sides = names.iter().flat_map(|name| [format!("{name}⁻"), format!("{name}⁺")]);
        let headings: Vec<String> = ["", "t", "wall", "λ"].map(String::from).into_iter().chain(sides).collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut last = 0;
        for impact in listed {
            if impact.number > last + 1 {
                rows.push(vec!["…".into()]);
            }
            last = impact.number;
            rows.push(row(impact));
        }
        let all = if listed.len() < count {
            format!("{} of {count}; carom run --json lists all", listed.len())
        } else {
            count.to_string()
        };
        format!("<h2>Impacts ({})</h2>\n{}", escape(&all), table(&headings, &[2], &rows))
    }

    fn equations(&self) -> String {
        let derivation = carom::lab::derive::derive(&self.model.system, &self.model.title);
        let sections = derivation.to_html_sections("h3");
        if sections.len() <= LONG {
            return format!("<h2>Equations</h2>\n{sections}");
        }
        format!("<h2>Equations</h2>\n<details><summary>They are long.</summary>\n{sections}</details>\n")
    }

    fn text(&self) -> String {
        let text = escape(self.model.source.text());
        format!(
            "<h2>Model</h2>\n<details open><summary>{}</summary><pre>{text}</pre></details>\n",
            escape(self.model.source.name())
        )
    }
}

fn row(impact: &Listed) -> Vec<String> {
    let start = [impact.number.to_string(), format!("{:.9}", impact.t), impact.wall.clone(), number(impact.lambda, 9)];
    let sides = impact.v[0].iter().zip(&impact.v[1]).flat_map(|(a, b)| [format!("{a:.6}"), format!("{b:.6}")]);
    start.into_iter().chain(sides.map(|cell| cell.replace('-', "−"))).collect()
}
