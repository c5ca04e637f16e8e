//! Animated GIFs.

use carom::lab::error::{Diagnostic, Result};
use gif::{Encoder, Frame, Repeat};
use resvg::tiny_skia::Pixmap;

use crate::encode::escape;
use crate::motion::Motion;
use crate::page::number;
use crate::palette::{Theme, rgb};
use crate::pen::{self, Pen};
use crate::scene::{Scene, mix};
use crate::stage::Form;
use crate::words::{SIZE, Words};

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
/// The largest number of shades between a colour and the background.
const SHADES: usize = 20;
/// The number of colours of a GIF.
const MOST_COLORS: usize = 256;

/// Renders the motion as an animated GIF.
pub fn gif(motion: &Motion, theme: &Theme) -> Result<Vec<u8>> {
    let wrong = |e: &dyn std::fmt::Display| Diagnostic::new(format!("cannot make the animation: {e}"));
    let mut painter = Painter::new(motion, theme);
    let ground = painter.ground()?;
    let colors = Colors::new(motion, theme);
    let [width, height] = painter.scene.size.map(|x| x as u16);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &colors.table).map_err(|e| wrong(&e))?;
    encoder.set_repeat(Repeat::Infinite).map_err(|e| wrong(&e))?;
    let mut before: Option<Vec<u8>> = None;
    for k in 0..painter.count {
        let pixels = colors.indices(&painter.picture(k, &ground)?);
        let frame = changed(before.as_deref(), &pixels, width, height);
        encoder.write_frame(&frame).map_err(|e| wrong(&e))?;
        before = Some(pixels);
    }
    drop(encoder);
    Ok(bytes)
}

/// Renders the first picture of the motion as PNG.
pub fn still(motion: &Motion, theme: &Theme) -> Result<Vec<u8>> {
    let mut painter = Painter::new(motion, theme);
    let ground = painter.ground()?;
    let picture = painter.picture(0, &ground)?;
    Ok(picture.encode_png().map_err(|e| Diagnostic::new(format!("cannot make the picture: {e}")))?)
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
    fn new(motion: &Motion, theme: &Theme) -> Colors {
        let paper = rgb(theme.paper);
        let inks = motion.shapes.iter().map(|shape| &shape.ink).chain(motion.traced.iter().map(|(_, ink)| ink));
        let mut strong = vec![rgb(theme.ink), rgb(theme.faint), rgb(theme.cursor)];
        for color in inks.map(|ink| rgb(ink.in_theme(theme))) {
            if !strong.contains(&color) && strong.len() < MOST_COLORS / 4 {
                strong.push(color);
            }
        }
        let count = SHADES.min((MOST_COLORS - 1) / strong.len());
        let shades = |color: [u8; 3]| (1..=count).map(move |k| mix(paper, color, k as f64 / count as f64));
        Colors { table: [paper].into_iter().chain(strong.into_iter().flat_map(shades)).flatten().collect() }
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

/// Draws the pictures of a motion.
struct Painter<'a> {
    scene: Scene<'a>,
    motion: &'a Motion,
    theme: &'a Theme,
    /// The number of pictures of the GIF.
    count: usize,
    /// The number of frames of the motion per picture.
    stride: f64,
    /// The decimals of the time that change from picture to picture.
    decimals: usize,
    words: Words,
}

impl<'a> Painter<'a> {
    fn new(motion: &'a Motion, theme: &'a Theme) -> Painter<'a> {
        let scene = Scene::new(motion, theme, [WIDTH, TALLEST]);
        let seconds = motion.seconds();
        let count = (seconds.min(SECONDS) * 100.0 / f64::from(DELAY)).round() as usize;
        let stride = (motion.frames - 1) as f64 * f64::from(DELAY) / (100.0 * seconds);
        let decimals = (-(stride * motion.dt).log10().floor()).clamp(0.0, 12.0) as usize;
        Painter { scene, motion, theme, count, stride, decimals, words: Words::new(theme.ink) }
    }

    /// The frame of the motion that a picture shows.
    fn frame(&self, picture: usize) -> usize {
        ((picture as f64 * self.stride).round() as usize).min(self.motion.frames - 1)
    }

    /// The background: fixed text, and how the time passes unless it is real time.
    fn ground(&self) -> Result<Pixmap> {
        let [width, height] = self.scene.size;
        let word = |(text, place): &(String, [f64; 2])| {
            let [x, y] = self.scene.on_screen(*place);
            format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>", y + 4.0, escape(text))
        };
        let words: String = self.motion.words.iter().map(word).collect();
        let rate = self.motion.rate();
        let speed = if (rate - 1.0).abs() < 1e-9 { String::new() } else { format!("{} × real time", number(rate, 2)) };
        let (paper, ink) = (self.theme.paper, self.theme.ink);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
             <rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>\
             <g font-family=\"DejaVu Sans\" font-size=\"{SIZE}\" fill=\"{ink}\">{words}\
             <text x=\"{}\" y=\"18\" text-anchor=\"end\">{speed}</text></g></svg>",
            width - 8.0
        );
        crate::png::pixels(&svg, 1.0)
    }

    fn picture(&mut self, number: usize, ground: &Pixmap) -> Result<Pixmap> {
        let mut pixels = ground.clone();
        let frame = self.frame(number);
        let length = (TRAIL * 100.0 / f64::from(DELAY)) as usize;
        let from = self.frame(number.saturating_sub(length));
        let (behind, before): (Vec<_>, Vec<_>) =
            self.scene.order(frame).into_iter().partition(|shape| shape.form.is_behind());
        behind.into_iter().for_each(|shape| self.scene.shape(&mut pixels, shape, frame, 1.0));
        for (point, ink) in &self.motion.traced {
            let path: Vec<[f32; 2]> = (from..=frame).map(|f| self.scene.place(*point, f)).collect();
            Pen::new(&mut pixels, ink.in_theme(self.theme), 0.45).line(&path, 1.5);
        }
        before.into_iter().for_each(|shape| self.scene.shape(&mut pixels, shape, frame, 1.0));
        self.flashes(&mut pixels, frame);
        for shape in &self.motion.shapes {
            let places: Vec<[f32; 2]> = shape.form.places().iter().map(|p| self.scene.place(*p, frame)).collect();
            let [x, y] = pen::middle(&places);
            match &shape.form {
                Form::Label(text, _) => self.words.write(&mut pixels, text, [x, y])?,
                Form::Disk(_, radius) | Form::Circle(_, radius) | Form::Ball(_, radius) => {
                    let above = (self.scene.scale * radius) as f32 + 10.0;
                    self.words.write(&mut pixels, shape.name.as_deref().unwrap_or(""), [x, y - above])?;
                }
                form => {
                    let top = places.iter().map(|place| place[1]).fold(f32::INFINITY, f32::min);
                    let y = if matches!(form, Form::Polygon(_)) { top } else { y };
                    self.words.write(&mut pixels, shape.name.as_deref().unwrap_or(""), [x, y - 12.0])?;
                }
            }
        }
        let time = format!("t = {:.1$}", self.motion.time(frame), self.decimals).replace('-', "−");
        self.words.write_number(&mut pixels, &time, [8.0, 14.0])?;
        Ok(pixels)
    }

    fn flashes(&self, pixels: &mut Pixmap, frame: usize) {
        let now = self.motion.time(frame);
        let fade = FLASH * 100.0 / f64::from(DELAY) * self.stride * self.motion.dt;
        for (t, place) in &self.motion.flashes {
            let age = (now - t) / fade;
            if (0.0..1.0).contains(&age) {
                let radius = 8.0 + 16.0 * age as f32;
                Pen::new(pixels, self.theme.cursor, 1.0 - age as f32).circle(self.scene.on_screen(*place), radius, 3.0);
            }
        }
    }
}
