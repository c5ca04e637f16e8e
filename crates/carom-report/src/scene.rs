//! Draws the shapes of a motion on a surface. `animation.js` draws the same on a canvas.

use crate::motion::{Motion, Shape};
use crate::palette::{Theme, rgb};
use crate::pen::{self, Pen};
use crate::stage::Form;
use crate::surface::Surface;

/// The cells of a floor along each side.
const CELLS: usize = 8;
/// The direction to the light, in the axes of the picture.
const LIGHT: [f64; 3] = [-0.35, 0.6, 0.72];
/// The faces of a box, by its corners: corner k is on the far side along axis i if bit i of k is set.
const FACES: [[usize; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// A motion on a picture of some size.
pub struct Scene<'a> {
    pub motion: &'a Motion,
    pub theme: &'a Theme,
    /// In pixels.
    pub size: [f64; 2],
    /// Pixels per unit of length.
    pub scale: f64,
}

/// A colour between two others.
pub fn mix(a: [u8; 3], b: [u8; 3], part: f64) -> [u8; 3] {
    [0, 1, 2].map(|k| (f64::from(a[k]) + part * (f64::from(b[k]) - f64::from(a[k]))).round() as u8)
}

impl<'a> Scene<'a> {
    /// A picture that fits into a width and a height.
    pub fn new(motion: &'a Motion, theme: &'a Theme, [width, height]: [f64; 2]) -> Scene<'a> {
        let [x0, x1, y0, y1] = motion.view;
        let scale = (width / (x1 - x0)).min(height / (y1 - y0));
        let size = [scale * (x1 - x0), scale * (y1 - y0)].map(|x| x.round().max(1.0));
        Scene { motion, theme, size, scale }
    }

    pub fn on_screen(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        let [x0, _, _, y1] = self.motion.view;
        [(self.scale * (x - x0)) as f32, (self.scale * (y1 - y)) as f32]
    }

    pub fn place(&self, point: usize, frame: usize) -> [f32; 2] {
        self.on_screen(self.motion.place(point, frame))
    }

    /// The shapes from back to front: in space by their distance in this frame.
    pub fn order(&self, frame: usize) -> Vec<&'a Shape> {
        let mut shapes: Vec<&Shape> = self.motion.shapes.iter().collect();
        if self.motion.up.is_none() {
            return shapes;
        }
        let depth = |shape: &Shape| {
            let places = shape.form.places();
            let sum: f64 = places.iter().map(|&place| self.motion.depth(place, frame)).sum();
            sum / places.len() as f64
        };
        let layer = |shape: &Shape| match shape.form {
            Form::Label(..) => 2,
            _ if shape.form.is_behind() => 0,
            _ => 1,
        };
        let key = |shape: &&Shape| (layer(shape), if layer(shape) == 1 { depth(shape) } else { 0.0 });
        shapes.sort_by(|a, b| {
            let ((a, x), (b, y)) = (key(a), key(b));
            a.cmp(&b).then(x.total_cmp(&y))
        });
        shapes
    }

    /// Draws a shape; with strength 0 it is transparent.
    pub fn shape(&self, surface: &mut dyn Surface, shape: &Shape, frame: usize, strength: f32) {
        let at: Vec<[f32; 2]> = shape.form.places().iter().map(|p| self.place(*p, frame)).collect();
        let size = |radius: f64| (self.scale * radius) as f32;
        let color = shape.ink.in_theme(self.theme);
        let light = |part: f64| mix(rgb(self.theme.paper), rgb(color), part);
        let mut pen = Pen::new(surface, color, strength);
        match &shape.form {
            Form::Segment(..) => pen.line(&at, 2.0),
            Form::Link(_) => {
                if self.motion.up.is_some() {
                    Pen::new(surface, self.theme.paper, strength).line(&at, 5.0);
                }
                Pen::new(surface, color, strength).line(&at, 2.5);
            }
            Form::Cord(..) => pen.line(&at, 1.2),
            Form::Spring(..) => pen.line(&pen::coil(at[0], at[1]), 1.8),
            Form::Polygon(_) => pen.area(&at),
            Form::Disk(_, radius) => pen.disk(at[0], size(*radius).max(3.0)),
            Form::Circle(_, radius) => pen.circle(at[0], size(*radius).max(2.0), 2.0),
            Form::Ball(_, radius) => {
                let radius = size(*radius).max(2.0);
                pen.disk(at[0], radius);
                let spot = [at[0][0] - 0.3 * radius, at[0][1] - 0.35 * radius];
                Pen::of(surface, light(0.55), strength).disk(spot, 0.4 * radius);
            }
            Form::Capsule(_, _, radius) => {
                let width = 2.0 * size(*radius).max(1.0);
                pen.line(&at, width);
                Pen::of(surface, light(0.55), strength).line(&at, 0.35 * width);
            }
            Form::Block(places) => self.block(surface, places, frame, color, strength),
            Form::Floor(_) => self.floor(surface, &at, strength),
            Form::Ground(_) => pen.ground(&at),
            Form::Wall(..) => {
                let [width, height] = self.size.map(|x| x as f32);
                pen.ground(&pen::through([width, height], at[0], at[1]));
            }
            Form::Post(_, _, inside) => {
                let radius = (at[1][0] - at[0][0]).hypot(at[1][1] - at[0][1]);
                if self.motion.up.is_some() && !inside {
                    Pen::of(surface, light(0.2), strength).disk(at[0], radius);
                }
                Pen::new(surface, color, strength).post(at[0], radius, *inside);
            }
            Form::Ring(_, radius) => {
                let radius = size(*radius);
                if radius < 4.0 {
                    Pen::new(surface, self.theme.paper, strength).disk(at[0], 4.0);
                }
                Pen::new(surface, self.theme.ink, strength).circle(at[0], radius.max(4.0), 1.5);
            }
            Form::Label(..) => {}
        }
    }

    /// The faces of a box that look at the viewer, lighter towards the light.
    fn block(&self, surface: &mut dyn Surface, places: &[usize], frame: usize, color: &str, strength: f32) {
        let spots: Vec<[f64; 3]> = places.iter().map(|&place| self.motion.spot(place, frame)).collect();
        let middle = [0, 1, 2].map(|i| spots.iter().map(|spot| spot[i]).sum::<f64>() / spots.len() as f64);
        let minus = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|i| a[i] - b[i]);
        let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for face in FACES {
            let [a, b, _, d] = face.map(|k| spots[k]);
            let ([x, y, z], [u, v, w]) = (minus(b, a), minus(d, a));
            let mut normal = [y * w - z * v, z * u - x * w, x * v - y * u];
            let size = dot(normal, normal).sqrt();
            let out = if dot(normal, minus(a, middle)) < 0.0 { -1.0 } else { 1.0 };
            normal = normal.map(|x| out * x / size);
            if normal[2].is_nan() || normal[2] <= 0.0 {
                continue;
            }
            let corners = face.map(|k| self.place(places[k], frame));
            let part = 0.95 - 0.5 * dot(normal, LIGHT).max(0.0);
            Pen::of(surface, mix(rgb(self.theme.paper), rgb(color), part), strength).area(&corners);
            Pen::new(surface, color, strength).border(&corners, 1.2);
        }
    }

    /// A patch of a plane, with a grid.
    fn floor(&self, surface: &mut dyn Surface, at: &[[f32; 2]], strength: f32) {
        let paper = rgb(self.theme.paper);
        Pen::of(surface, mix(paper, rgb(self.theme.faint), 0.12), strength).area(at);
        let between = |a: [f32; 2], b: [f32; 2], k: usize| {
            let part = k as f32 / CELLS as f32;
            [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]
        };
        let mut pen = Pen::of(surface, mix(paper, rgb(self.theme.faint), 0.35), strength);
        for k in 0..=CELLS {
            pen.line(&[between(at[0], at[1], k), between(at[3], at[2], k)], 1.0);
            pen.line(&[between(at[0], at[3], k), between(at[1], at[2], k)], 1.0);
        }
    }
}
