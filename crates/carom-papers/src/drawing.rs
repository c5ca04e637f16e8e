//! How to draw the data of a figure. Plain data, so that the drawing code need not know any figure by name.

/// How points are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points.
    #[default]
    Line,
    /// A dot for each point.
    Dots,
    /// A line, with a mark for each point.
    Both,
    /// A stem from zero for each point.
    Stems,
}

impl Mark {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Line => "line",
            Mark::Dots => "dots",
            Mark::Both => "both",
            Mark::Stems => "stems",
        }
    }
}

/// A curve of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// The heading of its column.
    pub column: String,
    /// The label in the legend.
    pub label: String,
    /// How it is drawn.
    pub mark: Mark,
}

/// How to draw a table. Drawings with the same panel share their axes; panels are beside each other in the order of their first
/// drawings. A table without a drawing is drawn over its first column, or printed if its rows have labels.
///
/// If the rows have labels, there is one curve per label, from the column of the first curve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The title of the panel.
    pub panel: String,
    /// The heading of the column on the horizontal axis.
    pub x: String,
    /// The labels of the axes, with units.
    pub labels: [String; 2],
    /// Which axes are logarithmic.
    pub log: [bool; 2],
    /// True if both axes have the same scale, so that a circle is round.
    pub equal: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Drawing {
    /// A panel of the plane: y over x, with equal scales.
    pub fn plane(panel: impl Into<String>) -> Drawing {
        Drawing { equal: true, ..Drawing::new(panel, "x", ["x", "y"]) }
    }

    /// A panel with the column of its horizontal axis and labels for both axes.
    pub fn new(panel: impl Into<String>, x: &str, labels: [&str; 2]) -> Drawing {
        Drawing { panel: panel.into(), x: x.into(), labels: labels.map(str::to_string), ..Drawing::default() }
    }

    /// The headings of the columns that it uses.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        [&self.x].into_iter().chain(self.curves.iter().map(|curve| &curve.column))
    }

    /// Makes both axes logarithmic.
    pub fn log_log(mut self) -> Drawing {
        self.log = [true, true];
        self
    }

    /// Makes the vertical axis logarithmic.
    pub fn log_y(mut self) -> Drawing {
        self.log[1] = true;
        self
    }

    /// Adds a curve.
    pub fn curve(mut self, column: &str, label: impl Into<String>, mark: Mark) -> Drawing {
        self.curves.push(Curve { column: column.into(), label: label.into(), mark });
        self
    }
}
