//! Animated GIFs.

use carom::lab::error::{Diagnostic, Result};
use gif::{Encoder, Frame, Repeat};
use resvg::tiny_skia::{FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Stroke, Transform};

use crate::encode::escape;
use crate::motion::{Motion, Shape};
use crate::palette::{Theme, rgb};

/// The time per frame, in hundredths of a second.
const DELAY: u16 = 4;
/// The maximum length in seconds; of a longer motion it shows the beginning.
const SECONDS: f64 = 12.0;
const WIDTH: f64 = 480.0;
const TALLEST: f64 = 560.0;
/// The length of a trail, in seconds of the GIF.
const TRAIL: f64 = 0.8;
/// The length of a flash, in seconds of the GIF.
const FLASH: f64 = 0.35;
/// The number of shades between a colour and the background.
const SHADES: usize = 20;

/// Renders the motion as an animated GIF.
pub fn gif(motion: &Motion, theme: &Theme) -> Result<Vec<u8>> {
    let wrong = |e: &dyn std::fmt::Display| Diagnostic::new(format!("cannot make the animation: {e}"));
    let painter = Painter::new(motion, theme);
    let ground = painter.ground()?;
    let colors = Colors::new(theme);
    let [width, height] = painter.size.map(|x| x as u16);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &colors.table).map_err(|e| wrong(&e))?;
    encoder.set_repeat(Repeat::Infinite).map_err(|e| wrong(&e))?;
    let mut before: Option<Vec<u8>> = None;
    for k in 0..painter.count {
        let pixels = colors.indices(&painter.picture(k, &ground));
        let frame = changed(before.as_deref(), &pixels, width, height);
        encoder.write_frame(&frame).map_err(|e| wrong(&e))?;
        before = Some(pixels);
    }
    drop(encoder);
    Ok(bytes)
}

/// The rectangle of a picture that differs from the last one.
fn changed(before: Option<&[u8]>, now: &[u8], width: u16, height: u16) -> Frame<'static> {
    let (w, h) = (usize::from(width), usize::from(height));
    let differs = |k: &usize| before.is_none_or(|before| before[*k] != now[*k]);
    let places: Vec<usize> = (0..now.len()).filter(differs).collect();
    let span = |part: &dyn Fn(usize) -> usize, all: usize| {
        let (low, high) = places.iter().fold((all, 0), |(a, b), k| (a.min(part(*k)), b.max(part(*k))));
        if low > high { (0, 1) } else { (low, high + 1 - low) }
    };
    let ((left, wide), (top, tall)) = (span(&|k| k % w, w), span(&|k| k / w, h));
    let rows = (top..top + tall).flat_map(|y| &now[y * w + left..y * w + left + wide]);
    Frame {
        delay: DELAY,
        left: left as u16,
        top: top as u16,
        width: wide as u16,
        height: tall as u16,
        buffer: rows.copied().collect::<Vec<u8>>().into(),
        ..Frame::default()
    }
}

/// The colours of a theme, each in shades down to the background, for antialiasing.
struct Colors {
    table: Vec<u8>,
}

impl Colors {
    fn new(theme: &Theme) -> Colors {
        let paper = rgb(theme.paper);
        let strong = [theme.ink, theme.faint, theme.impact].into_iter().chain(theme.series.into_iter().take(7));
        let shades =
            strong.flat_map(|color| (1..=SHADES).map(move |k| mix(paper, rgb(color), k as f64 / SHADES as f64)));
        Colors { table: [paper].into_iter().chain(shades).flatten().collect() }
    }

    fn indices(&self, picture: &Pixmap) -> Vec<u8> {
        let mut known = std::collections::HashMap::new();
        let nearest = |color: [u8; 3]| {
            let distance = |entry: &[u8]| -> i32 {
                entry.iter().zip(color).map(|(a, b)| (i32::from(*a) - i32::from(b)).pow(2)).sum()
            };
            let best = self.table.chunks(3).enumerate().min_by_key(|(_, entry)| distance(entry));
            best.map_or(0, |(k, _)| k as u8)
        };
        let pixels = picture.pixels().iter();
        pixels
            .map(|p| *known.entry([p.red(), p.green(), p.blue()]).or_insert_with_key(|color| nearest(*color)))
            .collect()
    }
}

fn mix(a: [u8; 3], b: [u8; 3], part: f64) -> [u8; 3] {
    [0, 1, 2].map(|k| (f64::from(a[k]) + part * (f64::from(b[k]) - f64::from(a[k]))).round() as u8)
}

/// Draws the pictures of a motion.
struct Painter<'a> {
    motion: &'a Motion,
    theme: &'a Theme,
    size: [f64; 2],
    /// Pixels per unit of length.
    scale: f64,
    /// The number of pictures of the GIF.
    count: usize,
    /// The number of frames of the motion per picture.
    stride: f64,
}

impl<'a> Painter<'a> {
    fn new(motion: &'a Motion, theme: &'a Theme) -> Painter<'a> {
        let [x0, x1, y0, y1] = motion.view;
        let scale = (WIDTH / (x1 - x0)).min(TALLEST / (y1 - y0));
        let size = [scale * (x1 - x0), scale * (y1 - y0)].map(|x| x.round().max(1.0));
        let seconds = motion.seconds();
        let count = (seconds.min(SECONDS) * 100.0 / f64::from(DELAY)).round() as usize;
        let stride = (motion.frames - 1) as f64 * f64::from(DELAY) / (100.0 * seconds);
        Painter { motion, theme, size, scale, count, stride }
    }

    /// The frame of the motion that a picture shows.
    fn frame(&self, picture: usize) -> usize {
        ((picture as f64 * self.stride).round() as usize).min(self.motion.frames - 1)
    }

    fn place(&self, point: usize, frame: usize) -> [f32; 2] {
        let [x, y] = self.motion.place(point, frame);
        let [x0, _, _, y1] = self.motion.view;
        [(self.scale * (x - x0)) as f32, (self.scale * (y1 - y)) as f32]
    }

    /// The background: fixed parts and text.
    fn ground(&self) -> Result<Pixmap> {
        let ([width, height], [x0, _, _, y1]) = (self.size, self.motion.view);
        let word = |(text, [x, y]): &(String, [f64; 2])| {
            let (x, y) = (self.scale * (x - x0), self.scale * (y1 - y) + 4.0);
            format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", escape(text))
        };
        let words: String = self.motion.words.iter().map(word).collect();
        let (paper, ink) = (self.theme.paper, self.theme.ink);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
             <rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>\
             <g font-family=\"DejaVu Sans\" font-size=\"13\" fill=\"{ink}\">{words}</g></svg>"
        );
        crate::png::pixels(&svg, 1.0)
    }

    fn picture(&self, number: usize, ground: &Pixmap) -> Pixmap {
        let mut pixels = ground.clone();
        let frame = self.frame(number);
        for (k, &point) in self.motion.traced.iter().enumerate() {
            let length = (TRAIL * 100.0 / f64::from(DELAY)) as usize;
            let from = self.frame(number.saturating_sub(length));
            let path: Vec<[f32; 2]> = (from..=frame).map(|f| self.place(point, f)).collect();
            self.line(&mut pixels, &path, self.theme.color(k), 0.45, 1.5);
        }
        let mut disks = 0;
        for shape in &self.motion.shapes {
            match shape {
                Shape::Segment(a, b) => {
                    self.line(&mut pixels, &[*a, *b].map(|p| self.place(p, frame)), self.theme.faint, 1.0, 2.0);
                }
                Shape::Link(link) => {
                    let path: Vec<[f32; 2]> = link.iter().map(|p| self.place(*p, frame)).collect();
                    let color = if self.motion.is_fixed(shape) { self.theme.faint } else { self.theme.ink };
                    self.line(&mut pixels, &path, color, 1.0, 2.5);
                }
                Shape::Disk(center, radius) => {
                    let radius = ((self.scale * radius) as f32).max(3.0);
                    let is_fixed = self.motion.is_fixed(shape);
                    let color = if is_fixed { self.theme.faint } else { self.theme.color(disks) };
                    self.disk(&mut pixels, self.place(*center, frame), radius, color, 1.0);
                    disks += usize::from(!is_fixed);
                }
            }
        }
        self.flashes(&mut pixels, frame);
        pixels
    }

    fn flashes(&self, pixels: &mut Pixmap, frame: usize) {
        let now = self.motion.time(frame);
        let fade = FLASH * 100.0 / f64::from(DELAY) * self.stride * self.motion.dt;
        for (t, point) in &self.motion.flashes {
            let age = (now - t) / fade;
            if (0.0..1.0).contains(&age) {
                let hit = ((t - self.motion.begin) / self.motion.dt).round() as usize;
                let radius = 8.0 + 16.0 * age as f32;
                self.ring(pixels, self.place(*point, hit), radius, 1.0 - age as f32);
            }
        }
    }

    fn paint(&self, color: &str, strength: f32) -> Paint<'static> {
        let [r, g, b] = rgb(color);
        let mut paint = Paint::default();
        paint.set_color_rgba8(r, g, b, (255.0 * strength) as u8);
        paint.anti_alias = true;
        paint
    }

    fn line(&self, pixels: &mut Pixmap, points: &[[f32; 2]], color: &str, strength: f32, width: f32) {
        let mut path = PathBuilder::new();
        for (k, [x, y]) in points.iter().enumerate() {
            if k == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
        }
        let stroke = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
        if let Some(path) = path.finish() {
            pixels.stroke_path(&path, &self.paint(color, strength), &stroke, Transform::identity(), None);
        }
    }

    fn disk(&self, pixels: &mut Pixmap, [x, y]: [f32; 2], radius: f32, color: &str, strength: f32) {
        if let Some(path) = PathBuilder::from_circle(x, y, radius) {
            pixels.fill_path(&path, &self.paint(color, strength), FillRule::Winding, Transform::identity(), None);
        }
    }

    fn ring(&self, pixels: &mut Pixmap, [x, y]: [f32; 2], radius: f32, strength: f32) {
        let stroke = Stroke { width: 3.0, ..Stroke::default() };
        if let Some(path) = PathBuilder::from_circle(x, y, radius) {
            let paint = self.paint(self.theme.color(1), strength);
            pixels.stroke_path(&path, &paint, &stroke, Transform::identity(), None);
        }
    }
}
