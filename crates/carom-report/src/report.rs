//! The report of a run.

use carom::Account;
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
    /// The method and the lengths of the steps, below the title.
    pub subtitle: String,
    /// Names and values, such as method, step and timings.
    pub facts: Vec<(&'static str, String)>,
    /// An additional message on how the run ended.
    pub message: Option<String>,
    /// Notes and warnings of the run.
    pub warnings: Vec<String>,
    /// The energy account, if something can change the energy.
    pub account: Option<Account>,
    /// The number of digits that mean something.
    pub digits: usize,
    /// The command that created the report.
    pub command: String,
    /// The recorded data.
    pub recording: &'a Recording,
    /// The plots.
    pub charts: &'a [Chart],
    /// The animation.
    pub motion: &'a Motion,
    /// Leaves out the equations and the text of the model.
    pub is_small: bool,
}

impl Report<'_> {
    /// The report as one HTML page.
    pub fn html(&self) -> String {
        let charts: Vec<_> = self.charts.iter().map(Chart::json).collect();
        let data = json!({"charts": charts, "motion": self.motion.json()});
        let mut body = [self.top(), self.plots(), self.impacts()].concat();
        if !self.is_small {
            body += &(self.equations() + &self.text());
        }
        page(&self.model.title, &self.subtitle, &body, &data)
    }

    fn top(&self) -> String {
        let message = self.message.iter().map(|text| format!("<p><b>{}</b></p>\n", escape(text)));
        let warnings = self.warnings.iter().map(|text| format!("<p class=\"warning\">{}</p>\n", escape(text)));
        let message: String = message.chain(warnings).collect();
        let note = self.notes();
        format!(
            "{message}<div class=\"top\"><div><div id=\"animation\"></div>{note}</div><div>{}{}\
             <p class=\"hint\">Made by</p><p><code>{}</code></p></div></div>\n",
            facts(&self.facts),
            self.energy_account(),
            escape(&self.command)
        )
    }

    /// What the animation shows, and how fast.
    fn notes(&self) -> String {
        let mut notes = Vec::new();
        let rate = self.motion.rate();
        if (rate - 1.0).abs() > 1e-9 {
            notes.push(format!("A second of the animation is {} of t.", number(rate, 3)));
        }
        if self.motion.is_part {
            let last = self.motion.time(self.motion.frames.max(1) - 1);
            notes.push(format!("It shows the run up to t = {}.", number(last, 6)));
        }
        if self.motion.has_marks() {
            notes.push("○ marks the points that touch walls; other parts of the drawing pass through them.".into());
        }
        if notes.is_empty() { String::new() } else { format!("<p class=\"hint\">{}</p>\n", notes.join(" ")) }
    }

    /// What changed the energy, and the unexplained rest; empty if nothing did.
    fn energy_account(&self) -> String {
        let Some(account) = self.account else { return String::new() };
        let parts =
            [("forces", account.work), ("drives and moving walls", account.drives), ("impacts", account.impacts)];
        let size = parts.iter().fold(0.0_f64, |most, (_, x)| most.max(x.abs()));
        let acted = parts.into_iter().filter(|(_, x)| x.abs() > 1e-12 * size);
        let signed = |x: f64| if x > 0.0 { format!("+{}", number(x, 6)) } else { number(x, 6) };
        let mut rows: Vec<(&str, String)> = acted.map(|(name, x)| (name, signed(x))).collect();
        if rows.is_empty() {
            return String::new();
        }
        rows.push(("unexplained", format!("{:+.1e}", account.unexplained).replace('-', "−")));
        format!("<h3>Energy account</h3>\n{}", facts(&rows))
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
            rows.push(self.row(impact));
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

    fn row(&self, impact: &Listed) -> Vec<String> {
        let [t, lambda] = [impact.t, impact.lambda].map(|x| number(x, self.digits));
        let sides = impact.v[0].iter().zip(&impact.v[1]).flat_map(|(a, b)| [number(*a, 6), number(*b, 6)]);
        [impact.number.to_string(), t, impact.wall.clone(), lambda].into_iter().chain(sides).collect()
    }
}
