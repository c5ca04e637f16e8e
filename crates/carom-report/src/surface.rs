//! What pens draw on: pixels, or the text of an SVG.

use std::fmt::Write;

use resvg::tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

/// What is stroked or filled, in pixels.
pub enum Outline<'p> {
    /// A line from place to place.
    Open(&'p [[f32; 2]]),
    /// A polygon.
    Closed(&'p [[f32; 2]]),
    /// A circle: centre and radius.
    Circle([f32; 2], f32),
}

/// A colour and its strength; with strength 0 it is transparent.
#[derive(Clone, Copy)]
pub struct Color {
    pub rgb: [u8; 3],
    pub strength: f32,
}

pub trait Surface {
    /// Draws a line of a width, with round ends and corners.
    fn stroke(&mut self, outline: &Outline, color: Color, width: f32);
    fn fill(&mut self, outline: &Outline, color: Color);
}

impl Outline<'_> {
    fn is_finite(&self) -> bool {
        match self {
            Outline::Open(places) | Outline::Closed(places) => places.as_flattened().iter().all(|x| x.is_finite()),
            Outline::Circle([x, y], radius) => x.is_finite() && y.is_finite() && radius.is_finite(),
        }
    }

    fn path(&self) -> Option<Path> {
        if !self.is_finite() {
            return None;
        }
        let (places, is_closed) = match self {
            Outline::Open(places) => (places, false),
            Outline::Closed(places) => (places, true),
            Outline::Circle([x, y], radius) => return PathBuilder::from_circle(*x, *y, *radius),
        };
        let mut path = PathBuilder::new();
        for (k, [x, y]) in places.iter().enumerate() {
            if k == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
        }
        if is_closed {
            path.close();
        }
        path.finish()
    }
}

fn paint(Color { rgb: [r, g, b], strength }: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, (255.0 * strength) as u8);
    paint.anti_alias = true;
    paint
}

impl Surface for Pixmap {
    fn stroke(&mut self, outline: &Outline, color: Color, width: f32) {
        let stroke = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        if let Some(path) = outline.path() {
            self.stroke_path(&path, &paint(color), &stroke, Transform::identity(), None);
        }
    }

    fn fill(&mut self, outline: &Outline, color: Color) {
        if let Some(path) = outline.path() {
            self.fill_path(&path, &paint(color), FillRule::Winding, Transform::identity(), None);
        }
    }
}

/// The elements of an SVG.
#[derive(Default)]
pub struct Elements(pub String);

impl Elements {
    fn element(&mut self, outline: &Outline, style: &str) {
        if !outline.is_finite() {
            return;
        }
        let place = |[x, y]: &[f32; 2]| format!("{x:.1},{y:.1}");
        let list = |places: &[[f32; 2]]| places.iter().map(place).collect::<Vec<_>>().join(" ");
        // Writing to a string cannot fail.
        let _ = match outline {
            Outline::Open(places) => writeln!(self.0, "<polyline points=\"{}\" {style}/>", list(places)),
            Outline::Closed(places) => writeln!(self.0, "<polygon points=\"{}\" {style}/>", list(places)),
            Outline::Circle([x, y], radius) => {
                writeln!(self.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {style}/>")
            }
        };
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

impl Surface for Elements {
    fn stroke(&mut self, outline: &Outline, Color { rgb, strength }: Color, width: f32) {
        let opacity = if strength < 1.0 { format!(" stroke-opacity=\"{strength:.2}\"") } else { String::new() };
        let style = format!(
            "fill=\"none\" stroke=\"{}\"{opacity} stroke-width=\"{width:.1}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"",
            hex(rgb)
        );
        self.element(outline, &style);
    }

    fn fill(&mut self, outline: &Outline, Color { rgb, strength }: Color) {
        let opacity = if strength < 1.0 { format!(" fill-opacity=\"{strength:.2}\"") } else { String::new() };
        self.element(outline, &format!("fill=\"{}\"{opacity}", hex(rgb)));
    }
}
