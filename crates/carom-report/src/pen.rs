//! Lines, circles, springs and hatched ground, in pixels. `animation.js` draws the same on a canvas.

use crate::palette::rgb;
use crate::surface::{Color, Outline, Surface};

/// The distance of the hatches, and their length.
const HATCH: [f32; 2] = [9.0, 8.0];
/// The number of turns of a spring, and half its width.
const TURNS: usize = 9;
const COIL: f32 = 6.0;

/// Draws in one colour.
pub struct Pen<'a> {
    surface: &'a mut dyn Surface,
    color: Color,
}

impl<'a> Pen<'a> {
    /// A pen of a colour `#rrggbb`; with strength 0 it is transparent.
    pub fn new(surface: &'a mut dyn Surface, color: &str, strength: f32) -> Pen<'a> {
        Pen::of(surface, rgb(color), strength)
    }

    /// A pen of a colour.
    pub fn of(surface: &'a mut dyn Surface, rgb: [u8; 3], strength: f32) -> Pen<'a> {
        Pen { surface, color: Color { rgb, strength } }
    }

    /// A line from place to place.
    pub fn line(&mut self, places: &[[f32; 2]], width: f32) {
        self.surface.stroke(&Outline::Open(places), self.color, width);
    }

    /// A filled polygon.
    pub fn area(&mut self, corners: &[[f32; 2]]) {
        self.surface.fill(&Outline::Closed(corners), self.color);
    }

    /// The outline of a polygon.
    pub fn border(&mut self, corners: &[[f32; 2]], width: f32) {
        self.surface.stroke(&Outline::Closed(corners), self.color, width);
    }

    /// A filled circle.
    pub fn disk(&mut self, center: [f32; 2], radius: f32) {
        self.surface.fill(&Outline::Circle(center, radius), self.color);
    }

    /// The outline of a circle.
    pub fn circle(&mut self, center: [f32; 2], radius: f32, width: f32) {
        self.surface.stroke(&Outline::Circle(center, radius), self.color, width);
    }

    /// A line from place to place, hatched on the right as one goes.
    pub fn ground(&mut self, places: &[[f32; 2]]) {
        self.line(places, 2.0);
        for pair in places.windows(2) {
            let ([x, y], [dx, dy], length) = (pair[0], unit(pair[0], pair[1]), distance(pair[0], pair[1]));
            let count = if length.is_finite() { (length / HATCH[0]) as usize } else { 0 };
            for k in 0..=count {
                let s = (k as f32 + 0.5) * HATCH[0];
                if s <= length {
                    self.hatch([x + s * dx, y + s * dy], [-dy, dx], [dx, dy]);
                }
            }
        }
    }

    /// A circle, hatched on the outside if the inside is free, and on the inside otherwise.
    pub fn post(&mut self, center: [f32; 2], radius: f32, inside: bool) {
        self.circle(center, radius, 2.0);
        let count = if radius.is_finite() {
            (std::f32::consts::TAU * radius / HATCH[0]).clamp(0.0, 4000.0) as usize
        } else {
            0
        };
        for k in 0..count {
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / count as f32).sin_cos();
            let out = if inside { [cos, sin] } else { [-cos, -sin] };
            self.hatch([center[0] + radius * cos, center[1] + radius * sin], out, [-sin, cos]);
        }
    }

    /// A hatch from a place towards `out`, inclined against `along`.
    fn hatch(&mut self, [x, y]: [f32; 2], out: [f32; 2], along: [f32; 2]) {
        let part = HATCH[1] * std::f32::consts::FRAC_1_SQRT_2;
        let end = [x + part * (out[0] - along[0]), y + part * (out[1] - along[1])];
        self.line(&[[x, y], end], 1.0);
    }
}

fn distance([x, y]: [f32; 2], [u, v]: [f32; 2]) -> f32 {
    (u - x).hypot(v - y)
}

/// The direction from one place to another.
fn unit(from: [f32; 2], to: [f32; 2]) -> [f32; 2] {
    let length = distance(from, to).max(f32::MIN_POSITIVE);
    [(to[0] - from[0]) / length, (to[1] - from[1]) / length]
}

/// The mean of some places.
pub fn middle(places: &[[f32; 2]]) -> [f32; 2] {
    [0, 1].map(|k| places.iter().map(|place| place[k]).sum::<f32>() / places.len() as f32)
}

/// The part of the line through two places that crosses a picture of this size, and more.
pub fn through([width, height]: [f32; 2], from: [f32; 2], to: [f32; 2]) -> [[f32; 2]; 2] {
    let ([dx, dy], reach) = (unit(from, to), width.hypot(height));
    let along = (0.5 * width - from[0]) * dx + (0.5 * height - from[1]) * dy;
    let foot = [from[0] + along * dx, from[1] + along * dy];
    [-reach, reach].map(|s| [foot[0] + s * dx, foot[1] + s * dy])
}

/// The zigzag of a spring.
pub fn coil(from: [f32; 2], to: [f32; 2]) -> Vec<[f32; 2]> {
    let ([dx, dy], length) = (unit(from, to), distance(from, to));
    let turn = |k: usize| {
        let (s, side) =
            (0.12 + 0.76 * (k as f32 + 0.5) / (2 * TURNS) as f32, if k.is_multiple_of(2) { COIL } else { -COIL });
        [from[0] + s * length * dx - side * dy, from[1] + s * length * dy + side * dx]
    };
    let straight = |s: f32| [from[0] + s * length * dx, from[1] + s * length * dy];
    let start = [from, straight(0.12)];
    start.into_iter().chain((0..2 * TURNS).map(turn)).chain([straight(0.88), to]).collect()
}
