//! Charts as data, which the SVG writer and the page both draw.

use serde_json::{Value, json};

use crate::encode::base64;
use crate::simplify;

/// One plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// True if both axes have the same scale.
    pub equal: bool,
    /// The curves.
    pub series: Vec<Series>,
    /// The positions on the horizontal axis at which impacts are marked.
    pub impacts: Vec<f64>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The label, with a unit if there is one.
    pub label: String,
    /// True if logarithmic.
    pub log: bool,
    /// The range to show, if it differs from the range of the curves.
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

/// The largest number of impacts that are marked; more would fill the chart.
const MOST_IMPACTS: usize = 200;

impl Chart {
    /// This chart with fewer points, for a small file.
    pub fn small(mut self) -> Chart {
        for series in &mut self.series {
            series.points = match series.mark {
                Mark::Line => simplify::curve(&series.points, simplify::FEW),
                _ => simplify::few(&series.points, simplify::FEW),
            };
        }
        self
    }
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true, extent: None }
    }

    /// The time axis from start to end.
    pub fn time(span: [f64; 2]) -> Axis {
        Axis { label: "t".into(), log: false, extent: Some(span) }
    }
}

impl Series {
    /// A curve drawn as a line.
    pub fn line(label: impl Into<String>, points: Vec<[f64; 2]>) -> Series {
        Series { label: label.into(), mark: Mark::Line, points }
    }
}

impl Chart {
    /// An empty chart.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Chart {
        Chart { title: title.into(), x, y, ..Chart::default() }
    }

    /// Marks impacts, unless there are too many.
    pub fn with_impacts(mut self, times: &[f64]) -> Chart {
        if times.len() <= MOST_IMPACTS {
            self.impacts = times.to_vec();
        }
        self
    }

    /// True if there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.iter().all(|p| !self.is_drawable(*p)))
    }

    /// True if a point can be shown on the axes.
    pub fn is_drawable(&self, [x, y]: [f64; 2]) -> bool {
        let fits = |value: f64, axis: &Axis| value.is_finite() && (!axis.log || value > 0.0);
        fits(x, &self.x) && fits(y, &self.y)
    }

    /// The chart as JSON for the page. NaN stays NaN, and is a gap in the line.
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
