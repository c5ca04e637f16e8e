//! Charts as SVG: panels beside each other, made of basic shapes.

use std::fmt::Write;

use crate::chart::{Chart, Mark, Series};
use crate::encode::escape;
use crate::palette::Theme;
use crate::scale::{Scale, Ticks, power};

/// The size of a panel.
const PANEL: [f64; 2] = [480.0, 320.0];
/// The left, right, top and bottom margins of the axes in their panel. Legends are added to the top.
const MARGIN: [f64; 4] = [84.0, 26.0, 44.0, 52.0];
/// The height of a legend row.
const LEGEND: f64 = 19.0;
/// The most rows of a legend: what follows is counted in its last entry, so that there is room for the axes.
const LEGEND_ROWS: f64 = 5.0;
const FONT: f64 = 13.0;
/// More points than this are drawn small and written as one path.
const MANY: usize = 400;
/// Longer labels are truncated.
const LONGEST: usize = 30;
/// Longer titles of a panel are cut: they are as wide as its axes.
const LONGEST_TITLE: usize = 46;

/// A figure of several panels.
pub fn figure(title: &str, charts: &[Chart], theme: &Theme) -> String {
    let columns = if charts.len() == 1 { 1 } else { 2 };
    let rows = charts.len().div_ceil(columns);
    let head = if title.is_empty() { 8.0 } else { 44.0 };
    let (width, height) = (columns as f64 * PANEL[0] + 16.0, head + rows as f64 * PANEL[1] + 8.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"{FONT}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        theme.paper
    );
    if !title.is_empty() {
        let title = escape(&cut(title, 2 * columns * LONGEST));
        let _ = writeln!(text, "<text x=\"24\" y=\"30\" font-size=\"18\" fill=\"{}\">{title}</text>", theme.ink);
    }
    for (k, chart) in charts.iter().enumerate() {
        let (x, y) = (8.0 + (k % columns) as f64 * PANEL[0], head + (k / columns) as f64 * PANEL[1]);
        let _ = writeln!(text, "<g transform=\"translate({x} {y})\">");
        Panel::new(chart, theme).draw(k, &mut text);
        text += "</g>\n";
    }
    text + "</svg>\n"
}

/// Truncates `text` to at most `longest` letters.
fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.into();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// The approximate width of a label; combining marks have no width.
fn room(label: &str) -> f64 {
    label.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count() as f64 * 0.59 * FONT
}

/// A chart and its position in the figure.
struct Panel<'a> {
    chart: &'a Chart,
    theme: &'a Theme,
    scales: [Scale; 2],
    /// The left, right, top and bottom of the axes.
    area: [f64; 4],
    /// The label and position of each legend entry.
    legend: Vec<(String, [f64; 2])>,
}

impl<'a> Panel<'a> {
    fn new(chart: &'a Chart, theme: &'a Theme) -> Panel<'a> {
        let drawable = || chart.series.iter().flat_map(|s| &s.points).copied().filter(|p| chart.is_drawable(*p));
        let zero = chart.series.iter().any(|s| s.mark == Mark::Stems).then_some(0.0);
        let x = match chart.x.extent {
            Some(extent) => Scale::fit(extent, chart.x.log, 0.0),
            None => Scale::fit(drawable().map(|p| p[0]), chart.x.log, 0.04),
        };
        let y = Scale::fit(drawable().map(|p| p[1]).chain(zero), chart.y.log, 0.06);
        let mut panel = Panel {
            chart,
            theme,
            scales: [x, y],
            area: [MARGIN[0], PANEL[0] - MARGIN[1], 0.0, 0.0],
            legend: Vec::new(),
        };
        let bottom = panel.lay_legend();
        panel.area[2] = bottom.max(MARGIN[2]);
        panel.area[3] = PANEL[1] - MARGIN[3];
        if chart.equal {
            panel.equalize();
        }
        panel
    }

    /// Widens one of the scales so that both have the same length per pixel.
    fn equalize(&mut self) {
        let [left, right, top, bottom] = self.area;
        let [x, y] = self.scales;
        let unit = (x.length() / (right - left)).max(y.length() / (bottom - top));
        self.scales = [x.widened(unit * (right - left)), y.widened(unit * (bottom - top))];
    }

    /// Arranges the legend in rows below the title. Returns the top of the axes.
    fn lay_legend(&mut self) -> f64 {
        let named: Vec<&str> =
            self.chart.series.iter().map(|series| &*series.label).filter(|l| !l.is_empty()).collect();
        let top = MARGIN[2] - 2.0;
        let (mut x, mut y) = (self.area[0], top);
        for (k, name) in named.iter().enumerate() {
            let label = cut(name, LONGEST);
            let width = room(&label) + 38.0;
            if x > self.area[0] && x + width > self.area[1] + 12.0 {
                if y + LEGEND > top + (LEGEND_ROWS - 0.5) * LEGEND {
                    if let Some((last, _)) = self.legend.last_mut() {
                        *last = format!("and {} more", named.len() - k + 1);
                    }
                    break;
                }
                (x, y) = (self.area[0], y + LEGEND);
            }
            self.legend.push((label, [x, y]));
            x += width;
        }
        if self.legend.is_empty() { MARGIN[2] - 12.0 } else { y + 12.0 }
    }

    /// The position of a point.
    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [left, right, top, bottom] = self.area;
        let [a, b] = [self.scales[0].place(x), self.scales[1].place(y)];
        [left + a * (right - left), bottom - b * (bottom - top)]
    }

    fn draw(&self, number: usize, text: &mut String) {
        let title = escape(&cut(&self.chart.title, LONGEST_TITLE));
        let (ink, left) = (self.theme.ink, self.area[0]);
        let _ = writeln!(
            text,
            "<text x=\"{left}\" y=\"20\" font-size=\"15\" font-weight=\"bold\" fill=\"{ink}\">{title}</text>"
        );
        self.draw_axes(text);
        self.draw_impacts(text);
        let [left, right, top, bottom] = self.area;
        let _ = writeln!(
            text,
            "<clipPath id=\"axes{number}\"><rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"/></clipPath>\n\
             <g clip-path=\"url(#axes{number})\">",
            right - left,
            bottom - top
        );
        for (k, series) in self.chart.series.iter().enumerate() {
            self.draw_series(k, series, text);
        }
        *text += "</g>\n";
        self.draw_legend(text);
    }

    fn draw_axes(&self, text: &mut String) {
        let [left, right, top, bottom] = self.area;
        let ticks = [self.scales[0].ticks(6), self.scales[1].ticks(5)];
        let Theme { ink, faint, grid, .. } = self.theme;
        for (x, label) in &ticks[0].at {
            let x = self.place([*x, f64::NAN])[0];
            let _ = writeln!(
                text,
                "<path d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"{grid}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{faint}\">{label}</text>",
                bottom + 18.0
            );
        }
        for (y, label) in &ticks[1].at {
            let y = self.place([f64::NAN, *y])[1];
            let _ = writeln!(
                text,
                "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"{grid}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{faint}\">{label}</text>",
                left - 7.0,
                y + 4.5
            );
        }
        let _ = writeln!(text, "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"{ink}\"/>");
        let [x, y] = [0, 1].map(|k| escape(&axis_label([&self.chart.x, &self.chart.y][k].label.as_str(), &ticks[k])));
        let (middle, height) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let _ = writeln!(
            text,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{x}</text>\n\
             <text transform=\"translate(18 {height:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"{ink}\">{y}</text>",
            bottom + 38.0
        );
    }

    fn draw_impacts(&self, text: &mut String) {
        let [left, right, top, bottom] = self.area;
        let places = self.chart.impacts.iter().map(|t| self.place([*t, f64::NAN])[0]);
        for x in places.filter(|x| (left..=right).contains(x)) {
            let color = self.theme.impact;
            let _ = writeln!(
                text,
                "<path d=\"M{x:.1} {top:.1}V{bottom:.1}\" stroke=\"{color}\" stroke-dasharray=\"3 3\"/>"
            );
        }
    }

    fn draw_series(&self, k: usize, series: &Series, text: &mut String) {
        let color = self.theme.color(k);
        let points: Vec<Option<[f64; 2]>> =
            series.points.iter().map(|p| self.chart.is_drawable(*p).then(|| self.place(*p))).collect();
        if matches!(series.mark, Mark::Line | Mark::Both) {
            let dash = if k < self.theme.series.len() { "" } else { " stroke-dasharray=\"6 3\"" };
            let path = path(&points);
            let _ = writeln!(
                text,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dash}/>"
            );
        }
        let zero = self.place([f64::NAN, 0.0])[1];
        let radius = if points.len() > MANY / 4 { 1.8 } else { 2.8 };
        if points.len() > MANY && series.mark != Mark::Line {
            let dots: String = points.iter().flatten().map(|[x, y]| format!("M{x:.1} {y:.1}h.01")).collect();
            let _ =
                writeln!(text, "<path d=\"{dots}\" stroke=\"{color}\" stroke-width=\"2\" stroke-linecap=\"round\"/>");
        }
        let single = if points.len() > MANY { &[] } else { points.as_slice() };
        for [x, y] in single.iter().flatten() {
            if series.mark == Mark::Stems {
                let _ = write!(text, "<path d=\"M{x:.1} {zero:.1}V{y:.1}\" stroke=\"{color}\" stroke-width=\"1.4\"/>");
            }
            if series.mark != Mark::Line {
                let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{color}\"/>");
            }
        }
    }

    fn draw_legend(&self, text: &mut String) {
        let named = self.chart.series.iter().enumerate().filter(|(_, series)| !series.label.is_empty());
        for ((k, _), (label, [x, y])) in named.zip(&self.legend) {
            let (color, ink) = (self.theme.color(k), self.theme.ink);
            let dash = if k < self.theme.series.len() { "" } else { " stroke-dasharray=\"6 3\"" };
            let _ = writeln!(
                text,
                "<path d=\"M{x:.1} {:.1}h20\" stroke=\"{color}\" stroke-width=\"3\"{dash}/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{ink}\">{}</text>",
                y - 4.5,
                x + 26.0,
                escape(label)
            );
        }
    }
}

/// The label of an axis, with the power of ten that its tick labels omit.
fn axis_label(label: &str, ticks: &Ticks) -> String {
    if ticks.exponent == 0 { label.into() } else { format!("{label}   ×{}", power(ticks.exponent)) }
}

/// A path through the points, interrupted at missing points. Positions are written to a tenth of a pixel.
fn path(points: &[Option<[f64; 2]>]) -> String {
    let (mut text, mut command) = (String::new(), 'M');
    for point in points {
        match point {
            Some([x, y]) => {
                let _ = write!(text, "{command}{x:.1} {y:.1}");
                command = 'L';
            }
            None => command = 'M',
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;
    use crate::palette::LIGHT;

    fn chart(points: Vec<[f64; 2]>) -> Chart {
        let mut chart = Chart::new("a < b", Axis::new("t"), Axis::new("\"y\" & z"));
        chart.series.push(Series::line("</text>", points));
        chart
    }

    #[test]
    fn names_stay_text() {
        let svg = figure("<script>", &[chart(vec![[0.0, 0.0], [1.0, 1.0]])], &LIGHT);
        for escaped in ["&lt;script&gt;", "a &lt; b", "&quot;y&quot; &amp; z", "&lt;/text&gt;"] {
            assert!(svg.contains(escaped), "{escaped} is missing");
        }
        assert!(crate::png::render(&svg).is_ok());
    }

    #[test]
    fn what_has_no_place_is_a_gap() {
        let points = vec![[0.0, 0.0], [1.0, 1.0], [2.0, f64::NAN], [3.0, 1.0], [4.0, f64::INFINITY], [5.0, 0.5]];
        let svg = figure("", &[chart(points)], &LIGHT);
        let line = svg.lines().find(|line| line.contains("stroke-linejoin")).unwrap_or("");
        assert_eq!((line.matches('M').count(), line.matches('L').count()), (3, 1), "{line}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    /// A square in the plane is a square in the figure.
    #[test]
    fn equal_scales_make_circles_round() {
        for points in [vec![[0.0, 0.0], [9.0, 1.0]], vec![[0.0, 0.0], [1.0, 9.0]]] {
            let chart = Chart { equal: true, ..chart(points) };
            let panel = Panel::new(&chart, &LIGHT);
            let ([x0, y0], [x1, y1]) = (panel.place([0.0, 0.0]), panel.place([1.0, 1.0]));
            assert!(((x1 - x0) - (y0 - y1)).abs() < 1e-9, "{} by {}", x1 - x0, y0 - y1);
        }
    }

    #[test]
    fn a_legend_that_is_too_long_takes_more_lines() {
        let mut long = chart(vec![[0.0, 0.0], [1.0, 1.0]]);
        long.series = vec![Series::line("a name of some length", vec![[0.0, 0.0], [1.0, 1.0]]); 6];
        let panel = Panel::new(&long, &LIGHT);
        let right = panel.legend.iter().map(|(label, [x, _])| x + 26.0 + room(label)).fold(0.0, f64::max);
        assert!(right <= PANEL[0], "the legend ends at {right}");
        assert!(panel.legend.iter().all(|(_, [_, y])| *y < panel.area[2]), "the legend is above the axes");
    }

    #[test]
    fn a_legend_leaves_room_for_the_axes() {
        let mut long = chart(vec![[0.0, 0.0], [1.0, 1.0]]);
        long.series = vec![Series::line("a name of some length", vec![[0.0, 0.0], [1.0, 1.0]]); 40];
        let panel = Panel::new(&long, &LIGHT);
        let [_, _, top, bottom] = panel.area;
        assert!(bottom - top > 0.4 * PANEL[1], "the axes are {} high", bottom - top);
        let (last, _) = panel.legend.last().expect("it has entries");
        assert_eq!(*last, format!("and {} more", 41 - panel.legend.len()));
    }
}
