//! A plot as data: what the SVG writer and the page both draw.

use serde_json::{Value, json};

use crate::encode::base64;

/// One plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// True if both axes have the same scale.
    pub equal: bool,
    /// The curves.
    pub series: Vec<Series>,
    /// Where impacts are marked, on the horizontal axis.
    pub impacts: Vec<f64>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is on it, with its unit where it has one.
    pub label: String,
    /// Logarithmic.
    pub log: bool,
    /// What is shown, if that is not what the curves span.
    pub extent: Option<[f64; 2]>,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Its points.
    pub points: Vec<[f64; 2]>,
}

pub use carom_papers::Mark;

/// So many impacts are marked at most: more would be a grey wall.
const MOST_IMPACTS: usize = 200;

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true, extent: None }
    }

    /// The time, from the beginning to the end.
    pub fn time(span: [f64; 2]) -> Axis {
        Axis { label: "t".into(), log: false, extent: Some(span) }
    }
}

impl Series {
    /// A line.
    pub fn line(label: impl Into<String>, points: Vec<[f64; 2]>) -> Series {
        Series { label: label.into(), mark: Mark::Line, points }
    }
}

impl Chart {
    /// An empty chart.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart { title: title.into(), x, y, ..Chart::default() }
    }

    /// Marks impacts, unless there are too many to tell apart.
    pub fn with_impacts(mut self, times: &[f64]) -> Chart {
        if times.len() <= MOST_IMPACTS {
            self.impacts = times.to_vec();
        }
        self
    }

    /// True if nothing can be drawn.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.iter().all(|p| !self.is_drawable(*p)))
    }

    /// True if a point has a place on the axes.
    pub fn is_drawable(&self, [x, y]: [f64; 2]) -> bool {
        let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.log || value > 0.0);
        fits(x, &self.x) && fits(y, &self.y)
    }

    /// For the page. NaN stays NaN, and is a gap in the line.
    pub(crate) fn json(&self) -> Value {
        let axis = |axis: &Axis| json!({"label": axis.label, "log": axis.log, "extent": axis.extent});
        let series = |series: &Series| {
            let data = base64(series.points.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            json!({"label": series.label, "mark": series.mark.name(), "data": data})
        };
        json!({
            "title": self.title,
            "x": axis(&self.x),
            "y": axis(&self.y),
            "equal": self.equal,
            "series": self.series.iter().map(series).collect::<Vec<_>>(),
            "impacts": base64(self.impacts.iter().flat_map(|x| x.to_le_bytes())),
        })
    }
}
