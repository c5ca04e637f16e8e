//! The palette of Okabe and Ito, suitable for all kinds of colour vision, on light and dark backgrounds.

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The background.
    pub paper: &'static str,
    /// Text and axes.
    pub ink: &'static str,
    /// Less important text and lines.
    pub faint: &'static str,
    /// Grid lines.
    pub grid: &'static str,
    /// Impacts.
    pub impact: &'static str,
    /// The series, in order.
    pub series: [&'static str; 7],
}

/// Dark lines on a light background.
pub const LIGHT: Theme = Theme {
    paper: "#ffffff",
    ink: "#1d2330",
    faint: "#5b6474",
    grid: "#e4e4e4",
    impact: "#8a8f99",
    series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3c3c3c"],
};

/// Light lines on a dark background.
pub const DARK: Theme = Theme {
    paper: "#16181d",
    ink: "#e7e4de",
    faint: "#a3a6af",
    grid: "#2d3139",
    impact: "#7b818d",
    series: ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#d8d8d8"],
};

impl Theme {
    /// The colour of a series.
    pub fn color(&self, series: usize) -> &'static str {
        self.series[series % self.series.len()]
    }

    /// The colours as CSS variables.
    pub fn css(&self) -> String {
        let named = [
            ("paper", self.paper),
            ("ink", self.ink),
            ("faint", self.faint),
            ("grid", self.grid),
            ("impact", self.impact),
        ];
        let named = named.iter().map(|(name, color)| format!("--{name}:{color};"));
        let series = self.series.iter().enumerate().map(|(k, color)| format!("--c{k}:{color};"));
        named.chain(series).collect()
    }
}

/// Red, green and blue of `#rrggbb`.
pub fn rgb(color: &str) -> [u8; 3] {
    let part = |k: usize| color.get(1 + 2 * k..3 + 2 * k).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    [0, 1, 2].map(|k| part(k).unwrap_or(0))
}
