//! How the data of a figure are drawn, as plain data: whoever draws needs to know no figure by name.

/// How points are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Joined.
    #[default]
    Line,
    /// Each by itself.
    Dots,
    /// Joined, and each marked.
    Both,
    /// Each on a stem from zero.
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
    /// What the legend calls it.
    pub label: String,
    /// How it is drawn.
    pub mark: Mark,
}

/// How a table is drawn. Drawings with the same panel share their axes; panels stand beside each other in the order of their
/// first drawings. A table without a drawing is drawn over its first column, or printed if its rows have labels.
///
/// With labelled rows there is one curve for each label, of the first curve's column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The title of the panel.
    pub panel: String,
    /// The heading of the column on the horizontal axis.
    pub x: String,
    /// What the axes are called, with units.
    pub labels: [String; 2],
    /// Which axes are logarithmic.
    pub log: [bool; 2],
    /// True if both axes have the same scale, so that a circle is round.
    pub equal: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Drawing {
    /// A panel of the plane: y over x, with the same scale on both axes.
    pub fn plane(panel: impl Into<String>) -> Drawing {
        Drawing { equal: true, ..Drawing::new(panel, "x", ["x", "y"]) }
    }

    /// A panel with a column and labels for its axes.
    pub fn new(panel: impl Into<String>, x: &str, labels: [&str; 2]) -> Drawing {
        Drawing { panel: panel.into(), x: x.into(), labels: labels.map(str::to_string), ..Drawing::default() }
    }

    /// The headings of the columns that it needs.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        [&self.x].into_iter().chain(self.curves.iter().map(|curve| &curve.column))
    }

    /// Both axes logarithmic.
    pub fn log_log(mut self) -> Drawing {
        self.log = [true, true];
        self
    }

    /// The vertical axis logarithmic.
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
