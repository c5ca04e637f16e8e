//! One picture of a motion: its positions at equal times, the earlier ones faint, with the trails between them.

use crate::encode::escape;
use crate::motion::Motion;
use crate::page::number;
use crate::palette::Theme;
use crate::pen::{self, Pen};
use crate::scene::Scene;
use crate::stage::Form;
use crate::surface::Elements;
use crate::words::SIZE;

const WIDTH: f64 = 640.0;
const TALLEST: f64 = 640.0;
/// The number of positions.
const POSITIONS: usize = 6;
/// The strength of the first position.
const FAINTEST: f32 = 0.16;

/// The motion as one SVG.
pub fn svg(motion: &Motion, title: &str, theme: &Theme) -> String {
    let scene = Scene::new(motion, theme, [WIDTH, TALLEST]);
    let mut drawn = Elements::default();
    let last = motion.frames - 1;
    let frames: Vec<usize> = (0..POSITIONS).map(|k| k * last / (POSITIONS - 1)).collect();
    let is_still = |form: &Form| form.places().iter().all(|&place| motion.points[place].len() == 1);
    for shape in scene.order(0).into_iter().filter(|shape| is_still(&shape.form)) {
        scene.shape(&mut drawn, shape, 0, 1.0);
    }
    for (point, ink) in &motion.traced {
        let path: Vec<[f32; 2]> = (0..motion.frames).map(|frame| scene.place(*point, frame)).collect();
        Pen::new(&mut drawn, ink.in_theme(theme), 0.4).line(&path, 1.3);
    }
    for (k, &frame) in frames.iter().enumerate() {
        let part = k as f32 / (POSITIONS - 1) as f32;
        // Most of the strength comes at the end, so that the last position stands out.
        let strength = FAINTEST + (1.0 - FAINTEST) * part * part * part;
        for shape in scene.order(frame).into_iter().filter(|shape| !is_still(&shape.form)) {
            scene.shape(&mut drawn, shape, frame, strength);
        }
    }
    let text = |[x, y]: [f32; 2], text: &str| {
        format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n", y + 4.0, escape(text))
    };
    let mut words: String = motion.words.iter().map(|(word, place)| text(scene.on_screen(*place), word)).collect();
    for shape in &motion.shapes {
        let at: Vec<[f32; 2]> = shape.form.places().iter().map(|p| scene.place(*p, last)).collect();
        let [x, y] = pen::middle(&at);
        match (&shape.form, &shape.name) {
            (Form::Label(label, _), _) => words += &text([x, y], label),
            (_, Some(name)) => words += &text([x, y - 12.0], name),
            _ => {}
        }
    }
    let [width, height] = scene.size;
    let (top, full) = (34.0, height + 34.0);
    let span = format!("t = {} to {}", number(motion.time(0), 4), number(motion.time(last), 4));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{full}\" viewBox=\"0 0 {width} {full}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n\
         <g font-family=\"DejaVu Sans, sans-serif\" font-size=\"{SIZE}\" fill=\"{}\">\n\
         <text x=\"10\" y=\"21\" font-size=\"15\">{}</text>\n<text x=\"{}\" y=\"21\" text-anchor=\"end\">{span}</text>\n\
         <g transform=\"translate(0 {top})\">\n{}{words}</g>\n</g>\n</svg>\n",
        theme.paper,
        theme.ink,
        escape(title),
        width - 10.0,
        drawn.0
    )
}
