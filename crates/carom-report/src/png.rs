//! Converts SVG to PNG, with an embedded font.

use carom::lab::error::{Diagnostic, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::letters::as_paths;

/// Pixels per unit of the SVG.
const SHARPNESS: f32 = 2.0;

/// Renders an SVG as PNG.
pub fn render(svg: &str) -> Result<Vec<u8>> {
    let picture = pixels(svg, SHARPNESS)?;
    picture.encode_png().map_err(|e| Diagnostic::new(format!("cannot draw the picture: {e}")).into())
}

/// Renders an SVG as pixels.
pub(crate) fn pixels(svg: &str, sharpness: f32) -> Result<Pixmap> {
    let wrong = |what: String| Diagnostic::new(format!("cannot draw the picture: {what}"));
    let tree = Tree::from_str(&as_paths(svg), &Options::default()).map_err(|e| wrong(e.to_string()))?;
    let size = tree.size();
    let (width, height) = ((sharpness * size.width()) as u32, (sharpness * size.height()) as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| wrong(format!("it has {width} × {height} pixels")))?;
    resvg::render(&tree, Transform::from_scale(sharpness, sharpness), &mut pixels.as_mut());
    Ok(pixels)
}
