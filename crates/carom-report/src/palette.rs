//! The palette of Okabe and Ito, suitable for all kinds of colour vision, on light and dark backgrounds.

use carom::lab::model::COLORS;

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
    /// The time cursor and the flash of an impact.
    pub cursor: &'static str,
    /// The series, in order.
    pub series: [&'static str; 7],
    /// The colours with the names of [`COLORS`], in order.
    named: [&'static str; COLORS.len()],
}

/// A colour of a shape, which depends on the theme unless the model gives its value.
#[derive(Clone, Debug, PartialEq)]
pub enum Ink {
    /// The colour of text and axes.
    Ink,
    /// The colour of the surroundings.
    Faint,
    /// The colour of a series.
    Series(usize),
    /// A name, or `#rrggbb`.
    Own(String),
}

impl Ink {
    /// The colour in a theme.
    pub fn in_theme<'a>(&'a self, theme: &Theme) -> &'a str {
        match self {
            Ink::Ink => theme.ink,
            Ink::Faint => theme.faint,
            Ink::Series(number) => theme.color(*number),
            Ink::Own(color) => COLORS.iter().position(|name| name == color).map_or(color, |k| theme.named[k]),
        }
    }

    /// A CSS variable, or a colour.
    pub fn css(&self) -> String {
        match self {
            Ink::Ink => "--ink".into(),
            Ink::Faint => "--faint".into(),
            Ink::Series(number) => format!("--c{}", number % LIGHT.series.len()),
            Ink::Own(color) if COLORS.contains(&color.as_str()) => format!("--{color}"),
            Ink::Own(color) => color.clone(),
        }
    }
}

/// Dark lines on a light background.
pub const LIGHT: Theme = Theme {
    paper: "#ffffff",
    ink: "#1d2330",
    faint: "#5b6474",
    grid: "#e4e4e4",
    impact: "#8a8f99",
    cursor: "#8e24aa",
    series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3c3c3c"],
    named: ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#9b59b6", "#c2a800", "#8a8f99", "#1d2330"],
};

/// Light lines on a dark background.
pub const DARK: Theme = Theme {
    paper: "#16181d",
    ink: "#e7e4de",
    faint: "#a3a6af",
    grid: "#2d3139",
    impact: "#7b818d",
    cursor: "#d78bff",
    series: ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#d8d8d8"],
    named: ["#56b4e9", "#e69f00", "#2cc295", "#f0763c", "#c08adf", "#f0e442", "#8a909c", "#e7e4de"],
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
            ("cursor", self.cursor),
        ];
        let named = named.into_iter().chain(COLORS.into_iter().zip(self.named));
        let named = named.map(|(name, color)| format!("--{name}:{color};"));
        let series = self.series.iter().enumerate().map(|(k, color)| format!("--c{k}:{color};"));
        named.chain(series).collect()
    }
}

/// Red, green and blue of `#rrggbb`.
pub fn rgb(color: &str) -> [u8; 3] {
    let part = |k: usize| color.get(1 + 2 * k..3 + 2 * k).and_then(|hex| u8::from_str_radix(hex, 16).ok());
    [0, 1, 2].map(|k| part(k).unwrap_or(0))
}
