//! Text in the pictures of a GIF, each piece rendered once.

use std::collections::HashMap;

use carom::lab::error::Result;
use resvg::tiny_skia::{Pixmap, PixmapPaint, Transform};

use crate::encode::escape;

/// The font size in pixels.
pub const SIZE: f64 = 13.0;
/// The width of a digit of DejaVu Sans, as a fraction of the font size; all digits have the same.
const DIGIT: f64 = 0.636;

/// Rendered text.
pub struct Words {
    color: &'static str,
    known: HashMap<String, Pixmap>,
}

impl Words {
    /// Text of one colour.
    pub fn new(color: &'static str) -> Words {
        Words { color, known: HashMap::new() }
    }

    /// Writes text, centred at a place.
    pub fn write(&mut self, pixels: &mut Pixmap, text: &str, [x, y]: [f32; 2]) -> Result<()> {
        if !(x.is_finite() && y.is_finite()) {
            return Ok(());
        }
        if !self.known.contains_key(text) {
            let (width, height) = (text.chars().count() as f64 * SIZE + 4.0, 1.6 * SIZE);
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\"><text x=\"{}\" \
                 y=\"{:.1}\" text-anchor=\"middle\" font-family=\"DejaVu Sans\" font-size=\"{SIZE}\" \
                 fill=\"{}\">{}</text></svg>",
                width / 2.0,
                1.15 * SIZE,
                self.color,
                escape(text)
            );
            self.known.insert(text.to_string(), crate::png::pixels(&svg, 1.0)?);
        }
        let word = &self.known[text];
        let place = [x - 0.5 * word.width() as f32, y - 0.5 * word.height() as f32].map(|x| x.round() as i32);
        pixels.draw_pixmap(place[0], place[1], word.as_ref(), &PixmapPaint::default(), Transform::identity(), None);
        Ok(())
    }

    /// Writes text that changes from picture to picture, letter by letter, from a place on.
    pub fn write_number(&mut self, pixels: &mut Pixmap, text: &str, [x, y]: [f32; 2]) -> Result<()> {
        for (k, letter) in text.chars().enumerate().filter(|(_, letter)| *letter != ' ') {
            self.write(pixels, &letter.to_string(), [x + ((k as f64 + 0.5) * DIGIT * SIZE) as f32, y])?;
        }
        Ok(())
    }
}
