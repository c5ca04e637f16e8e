//! Text as paths, from the embedded font: pictures have the same letters on every machine, and the renderer needs no fonts.

use std::fmt::Write;
use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The size of text whose surroundings name none.
const SIZE: f64 = 13.0;
/// The space between a letter and a mark above it, as a fraction of the font size.
const ABOVE: f64 = 0.06;

/// How much thicker bold letters are, as a fraction of the font size. A bold font would be another 0.7 MB, for titles alone.
const BOLDER: f64 = 0.07;

static FONT: LazyLock<Option<Face>> = LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());

/// Replaces the `text` elements of an SVG that this crate wrote by paths.
pub fn as_paths(svg: &str) -> String {
    let (mut drawn, mut rest, mut size) = (String::with_capacity(2 * svg.len()), svg, SIZE);
    while let Some(begin) = rest.find("<text") {
        let (before, text) = rest.split_at(begin);
        let Some((element, after)) = text.split_once("</text>") else { break };
        let Some((tag, content)) = element.split_once('>') else { break };
        drawn += before;
        // The size of the surroundings is that of the last element that names one.
        let named = before.rfind("font-size=").and_then(|at| attribute(&before[at..], "font-size")?.parse().ok());
        size = named.unwrap_or(size);
        draw(&mut drawn, tag, &unescape(content), size);
        rest = after;
    }
    drawn + rest
}

/// The value of an attribute in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!("{name}=\""))?;
    Some(value.split_once('"')?.0)
}

/// Undoes [`crate::encode::escape`].
fn unescape(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.into_iter().fold(text.into(), |text: String, (from, to)| text.replace(from, to))
}

/// Writes a text as a path, with the attributes of its tag.
fn draw(svg: &mut String, tag: &str, text: &str, size: f64) {
    let Some(face) = &*FONT else { return };
    let number = |name: &str| attribute(tag, name).and_then(|value| value.parse::<f64>().ok());
    let size = number("font-size").unwrap_or(size);
    let thicker = if attribute(tag, "font-weight") == Some("bold") { BOLDER * size } else { 0.0 };
    let line = Line::new(face, text, size, thicker);
    let part = match attribute(tag, "text-anchor") {
        Some("middle") => 0.5,
        Some("end") => 1.0,
        _ => 0.0,
    };
    *svg += "<path";
    for name in ["fill", "transform"] {
        if let Some(value) = attribute(tag, name) {
            let _ = write!(svg, " {name}=\"{value}\"");
        }
    }
    if thicker > 0.0 {
        let ink = attribute(tag, "fill").unwrap_or("currentColor");
        let _ = write!(svg, " stroke=\"{ink}\" stroke-width=\"{thicker:.3}\" stroke-linejoin=\"round\"");
    }
    let place = [number("x").unwrap_or(0.0) - part * line.width, number("y").unwrap_or(0.0)];
    let _ = write!(svg, " d=\"{}\"/>", line.path(place));
}

/// A line of text: the letters with their places, in units of the picture.
struct Line<'a> {
    face: &'a Face<'static>,
    letters: Vec<(GlyphId, [f64; 2])>,
    width: f64,
    /// The size of a unit of the font.
    scale: f64,
}

impl<'a> Line<'a> {
    /// Letters of a font, each `thicker` than in the font.
    fn new(face: &'a Face<'static>, text: &str, size: f64, thicker: f64) -> Line<'a> {
        let scale = size / f64::from(face.units_per_em());
        let mut line = Line { face, letters: Vec::new(), width: 0.0, scale };
        let mut last: Option<(GlyphId, f64)> = None;
        for c in text.chars() {
            let glyph = face.glyph_index(c).unwrap_or_default();
            if let Some((base, x)) = last.filter(|_| is_mark(c)) {
                let place = line.above(base, x, glyph, size);
                line.letters.push((glyph, place));
                continue;
            }
            line.width += last.map_or(0.0, |(left, _)| scale * f64::from(kerning(face, left, glyph)));
            line.letters.push((glyph, [line.width, 0.0]));
            last = Some((glyph, line.width));
            line.width += scale * f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) + thicker;
        }
        line
    }

    /// The place of a mark: in the middle of its letter, and not below its top.
    fn above(&self, base: GlyphId, x: f64, mark: GlyphId, size: f64) -> [f64; 2] {
        let boxes = [base, mark].map(|glyph| self.face.glyph_bounding_box(glyph));
        let [Some(base), Some(mark)] = boxes else { return [x, 0.0] };
        let middle = |left: i16, right: i16| 0.5 * (f64::from(left) + f64::from(right));
        let shift = middle(base.x_min, base.x_max) - middle(mark.x_min, mark.x_max);
        let is_above = mark.y_min > 0;
        let missing = self.scale * f64::from(base.y_max - mark.y_min) + ABOVE * size;
        [x + self.scale * shift, if is_above { missing.max(0.0) } else { 0.0 }]
    }

    /// The outlines of the letters, from a place on.
    fn path(&self, [x, y]: [f64; 2]) -> String {
        let mut outline = Outline { path: String::new(), place: [0.0; 2], scale: self.scale };
        for (glyph, [dx, up]) in &self.letters {
            outline.place = [x + dx, y - up];
            self.face.outline_glyph(*glyph, &mut outline);
        }
        outline.path
    }
}

/// True if a letter stands above or below the one before it.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// The change of the distance between two letters, in units of the font.
fn kerning(face: &Face, left: GlyphId, right: GlyphId) -> i16 {
    let tables = face.tables().kern.into_iter().flat_map(|table| table.subtables);
    let mut horizontal = tables.filter(|table| table.horizontal && !table.variable);
    horizontal.find_map(|table| table.glyphs_kerning(left, right)).unwrap_or(0)
}

/// Writes outlines as the data of a path.
struct Outline {
    path: String,
    place: [f64; 2],
    scale: f64,
}

impl Outline {
    fn add(&mut self, command: char, points: &[[f32; 2]]) {
        self.path.push(command);
        for [x, y] in points.iter().map(|point| point.map(f64::from)) {
            let [x, y] = [self.place[0] + self.scale * x, self.place[1] - self.scale * y];
            let _ = write!(self.path, "{x:.3} {y:.3} ");
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.add('M', &[[x, y]]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.add('L', &[[x, y]]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.add('Q', &[[x1, y1], [x, y]]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.add('C', &[[x1, y1], [x2, y2], [x, y]]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'static> {
        Line::new(FONT.as_ref().expect("the font is right"), text, 10.0, 0.0)
    }

    #[test]
    fn all_letters_of_labels_are_in_the_font() {
        for c in "abcXYZ0123456789 .,−-+×·/()[]{}<>=|'′″²³⁻¹₀₁₂θφψωλμΔΦΣτ∂∞≤≥…–".chars()
        {
            let face = FONT.as_ref().expect("the font is right");
            assert!(face.glyph_index(c).is_some(), "{c}");
        }
    }

    /// The width of a digit of DejaVu Sans is 1303 of 2048.
    #[test]
    fn widths_are_those_of_the_font() {
        assert!((line("0123").width - 4.0 * 10.0 * 1303.0 / 2048.0).abs() < 1e-9);
        assert!(line("AV").width < line("A").width + line("V").width, "A and V move together");
        assert_eq!(line("q\u{307}").width, line("q").width, "a dot takes no space");
    }

    /// A mark on a capital letter is higher than on a small one.
    #[test]
    fn marks_stand_above_their_letters() {
        let height = |text: &str| line(text).letters[1].1[1];
        assert!(height("H\u{303}") > height("q\u{303}"));
    }

    #[test]
    fn text_becomes_a_path_with_its_attributes() {
        let svg =
            "<svg font-size=\"20\"><text x=\"3\" y=\"4\" text-anchor=\"end\" fill=\"red\">a &lt; b</text><g/></svg>";
        let drawn = as_paths(svg);
        assert!(drawn.starts_with("<svg font-size=\"20\"><path fill=\"red\" d=\"M"), "{drawn}");
        assert!(drawn.ends_with("Z\"/><g/></svg>"), "{drawn}");
        assert!(!drawn.contains("text"), "{drawn}");
        let largest = |svg: &str| {
            let path = svg.split(" d=").nth(1).unwrap_or_default();
            let numbers = path.split(['M', 'L', 'Q', 'Z', ' ', '"']).filter_map(|word| word.parse::<f64>().ok());
            numbers.fold(f64::MIN, f64::max)
        };
        assert!(largest(&drawn) <= 4.6, "it ends at x = 3, and nearly stands on y = 4: {drawn}");
    }
}
