//! The drawing of a model before it is sampled: places, shapes between them, and the walls that carom draws by itself.

use carom::lab::error::Result;
use carom::lab::expr::{Expr, eval};
use carom::lab::model::{self, Model, Outline, Place};
use carom::lab::system::time;

use crate::fit::Curve;
use crate::floor::Plane;
use crate::plots::pretty;
use crate::recording::Recording;
use crate::touch::{Touch, Trial, Walls};

/// What is drawn; places are given by index.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Rods from place to place.
    Link(Vec<usize>),
    /// A disk: centre and radius.
    Disk(usize, f64),
    /// The outline of a circle: centre and radius.
    Circle(usize, f64),
    /// A straight line.
    Segment(usize, usize),
    /// A coil.
    Spring(usize, usize),
    /// A filled polygon.
    Polygon(Vec<usize>),
    /// A text.
    Label(String, usize),
    /// Straight lines from place to place, hatched on the right.
    Ground(Vec<usize>),
    /// The whole line through two places, hatched on the right.
    Wall(usize, usize),
    /// A circle that keeps points inside or outside: the centre, a place on it, and true if the inside is free.
    Post(usize, usize, bool),
    /// A mark at a place that touches walls, and the radius of the ball around it.
    Ring(usize, f64),
    /// A ball in space: centre and radius.
    Ball(usize, f64),
    /// A rod with round ends, and its radius.
    Capsule(usize, usize, f64),
    /// A box in space, by its eight corners.
    Block(Vec<usize>),
    /// A taut string.
    Cord(usize, usize),
    /// A patch of a plane in space, by its four corners.
    Floor([usize; 4]),
}

impl Form {
    /// The places of the shape.
    pub fn places(&self) -> Vec<usize> {
        match self {
            Form::Link(all) | Form::Polygon(all) | Form::Ground(all) | Form::Block(all) => all.clone(),
            Form::Disk(a, _) | Form::Circle(a, _) | Form::Ring(a, _) | Form::Label(_, a) | Form::Ball(a, _) => vec![*a],
            Form::Segment(a, b)
            | Form::Spring(a, b)
            | Form::Wall(a, b)
            | Form::Post(a, b, _)
            | Form::Capsule(a, b, _)
            | Form::Cord(a, b) => vec![*a, *b],
            Form::Floor(corners) => corners.to_vec(),
        }
    }

    /// True for what belongs to the surroundings even if it moves.
    pub fn is_surroundings(&self) -> bool {
        matches!(self, Form::Segment(..) | Form::Ground(_) | Form::Wall(..) | Form::Post(..) | Form::Floor(_))
    }

    /// True for what is behind all that moves, in space too.
    pub fn is_behind(&self) -> bool {
        matches!(self, Form::Wall(..) | Form::Post(_, _, true) | Form::Floor(_))
    }

    /// From back to front.
    fn depth(&self) -> usize {
        match self {
            Form::Wall(..) | Form::Post(..) | Form::Ground(_) | Form::Segment(..) | Form::Floor(_) => 0,
            Form::Polygon(_) | Form::Block(_) => 1,
            Form::Spring(..) | Form::Link(_) | Form::Cord(..) | Form::Capsule(..) => 2,
            Form::Circle(..) => 3,
            Form::Disk(..) | Form::Ball(..) => 4,
            Form::Ring(..) => 5,
            Form::Label(..) => 6,
        }
    }
}

/// A shape, with the name and the colour that the model gives it.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// The shape.
    pub form: Form,
    /// The name to write beside it.
    pub name: Option<String>,
    /// The colour: a name, or `#rrggbb`.
    pub color: Option<String>,
}

/// The places and shapes of a drawing.
pub struct Stage {
    /// The places that are expressions.
    pub places: Vec<Place>,
    /// The walls that are fitted: each has two places, numbered after those above.
    pub fitted: Vec<Trial>,
    /// The planes in space: each has four places, numbered after all others.
    pub floors: Vec<Plane>,
    /// The shapes, from back to front.
    pub sketches: Vec<Sketch>,
    /// Text at fixed positions.
    pub words: Vec<(String, [f64; 2])>,
    /// What touches at each wall.
    pub touches: Vec<Touch>,
}

impl Stage {
    /// The drawing of a model. The ranges of the recorded coordinates tell where walls are compared with lines and circles.
    pub fn new(model: &Model, recording: &Recording) -> Result<Stage> {
        if model.points.is_empty() && model.drawings.is_empty() {
            return Ok(Stage::of_axes(model, recording));
        }
        let mut stage = Stage::empty();
        let is_label = |drawing: &&model::Drawing| matches!(drawing.shape, model::Shape::Label(..));
        for drawing in model.drawings.iter().filter(|drawing| !is_label(drawing)) {
            stage.draw(model, drawing);
        }
        if model.drawings.is_empty() {
            for point in &model.points {
                let at = stage.number(point.at);
                stage.add(Form::Disk(at, 0.0));
            }
        }
        let ranges: Vec<[f64; 2]> = recording.coordinates.iter().map(|values| values.range(0)).collect();
        let walls = Walls::new(model, &stage.places, &ranges, recording.span[0])?;
        stage.touches = walls.touches;
        stage.mark_touching(model);
        stage.draw_contacts(model);
        for drawing in model.drawings.iter().filter(is_label) {
            stage.draw(model, drawing);
        }
        stage.draw_walls(walls.drawn, recording.span[0]);
        stage.draw_floors(model, walls.planes);
        stage.sketches.sort_by_key(|sketch| sketch.form.depth());
        Ok(stage)
    }

    fn empty() -> Stage {
        let (places, fitted, sketches) = (Vec::new(), Vec::new(), Vec::new());
        Stage { places, fitted, floors: Vec::new(), sketches, words: Vec::new(), touches: Vec::new() }
    }

    /// The number of a place; equal places are one.
    fn number(&mut self, place: Place) -> usize {
        self.places.iter().position(|other| *other == place).unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        })
    }

    fn add(&mut self, form: Form) {
        self.sketches.push(Sketch { form, name: None, color: None });
    }

    fn draw(&mut self, model: &Model, drawing: &model::Drawing) {
        use model::Shape;
        let radius = |radius: &Expr| eval(&[*radius], &model.parameter_values())[0].abs();
        let form = match &drawing.shape {
            Shape::Link(all) => Form::Link(all.iter().map(|place| self.number(*place)).collect()),
            Shape::Polygon(all) => Form::Polygon(all.iter().map(|place| self.number(*place)).collect()),
            Shape::Disk(center, r) => Form::Disk(self.number(*center), radius(r)),
            Shape::Circle(center, r) => Form::Circle(self.number(*center), radius(r)),
            Shape::Segment([a, b]) => Form::Segment(self.number(*a), self.number(*b)),
            Shape::Spring([a, b]) => Form::Spring(self.number(*a), self.number(*b)),
            Shape::Ground([a, b]) => Form::Ground(vec![self.number(*a), self.number(*b)]),
            Shape::Label(text, at) => Form::Label(text.clone(), self.number(*at)),
            Shape::Sphere(center, r) => Form::Ball(self.number(*center), radius(r)),
            Shape::Capsule([a, b], r) => Form::Capsule(self.number(*a), self.number(*b), radius(r)),
            Shape::Box(corners) => Form::Block(corners.iter().map(|place| self.number(*place)).collect()),
            Shape::Cord([a, b]) => Form::Cord(self.number(*a), self.number(*b)),
        };
        self.sketches.push(Sketch { form, name: drawing.name.clone(), color: drawing.color.clone() });
    }

    /// Marks the places that touch walls, unless a ball of the right size is drawn there. Of a polygon that only moves to and fro a
    /// whole face touches.
    fn mark_touching(&mut self, model: &Model) {
        let is_jointed = |place: usize| {
            let mut forms = self.sketches.iter().map(|sketch| &sketch.form);
            forms.any(|form| !matches!(form, Form::Polygon(_)) && form.places().contains(&place))
        };
        let jointed: Vec<bool> = (0..self.places.len()).map(is_jointed).collect();
        for touch in self.touches.clone() {
            let (place, radius) = match touch {
                Touch::At(place) if jointed[place] => (place, 0.0),
                Touch::Contact(number, place) => {
                    (place, eval(&[model.contacts[number].radius], &model.parameter_values())[0])
                }
                Touch::At(_) | Touch::Between(..) | Touch::Unknown => continue,
            };
            let is_ball = |form: &Form| match form {
                Form::Disk(at, r) | Form::Circle(at, r) | Form::Ball(at, r) => {
                    *at == place && radius > 0.0 && (r - radius).abs() < 1e-9 * radius
                }
                Form::Ring(at, r) => *at == place && *r == radius,
                _ => false,
            };
            if !self.sketches.iter().any(|sketch| is_ball(&sketch.form)) {
                self.add(Form::Ring(place, radius));
            }
        }
    }

    /// The shapes of contacts whose points are drawn.
    fn draw_contacts(&mut self, model: &Model) {
        let mut known: Vec<Outline> = Vec::new();
        for (number, contact) in model.contacts.iter().enumerate() {
            let is_hidden = contact.walls.iter().all(|(wall, _)| model.undrawn.contains(wall));
            let touches = self.touches.iter().any(|touch| matches!(touch, Touch::Contact(n, _) if *n == number));
            if is_hidden || !touches || known.contains(&contact.outline) {
                continue;
            }
            known.push(contact.outline);
            let form = match contact.outline {
                Outline::Line { from, to, .. } => Form::Wall(self.number(from), self.number(to)),
                Outline::Box { low: [x0, y0], high: [x1, y1] } => {
                    let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]];
                    Form::Ground(corners.map(|corner| self.number(corner)).to_vec())
                }
                Outline::Circle { center: [x, y], radius, inside } => {
                    Form::Post(self.number([x, y]), self.number([x + radius, y]), inside)
                }
                // With the other planes: see `draw_floors`.
                Outline::Plane { .. } => continue,
            };
            self.add(form);
        }
    }

    /// The walls that are lines or circles; equal ones once.
    fn draw_walls(&mut self, walls: Vec<Trial>, t: f64) {
        let mut known: Vec<Curve> = Vec::new();
        for mut trial in walls {
            let Some(curve) = trial.curve(t) else { continue };
            if !trial.is_moving {
                if known.iter().any(|other| other.is_near(&curve)) {
                    continue;
                }
                known.push(curve);
            }
            let at = self.places.len() + 2 * self.fitted.len();
            self.add(match curve {
                Curve::Line { .. } => Form::Wall(at, at + 1),
                Curve::Circle { inside, .. } => Form::Post(at, at + 1, inside),
            });
            self.fitted.push(trial);
        }
    }

    /// The planes in space: those of contacts whose points are drawn, and walls.
    fn draw_floors(&mut self, model: &Model, walls: Vec<Plane>) {
        let touched =
            |number: usize| self.touches.iter().any(|touch| matches!(touch, Touch::Contact(n, _) if *n == number));
        let is_shown =
            |contact: &model::ContactGeometry| !contact.walls.iter().all(|(wall, _)| model.undrawn.contains(wall));
        let shown = model.contacts.iter().enumerate().filter(|(k, contact)| touched(*k) && is_shown(contact));
        let of_contacts = shown.filter_map(|(_, contact)| match contact.outline {
            Outline::Plane { through: [a, b, c], normal: [u, v, w] } => Some([a, b, c, u, v, w]),
            _ => None,
        });
        let planes: Vec<Plane> = of_contacts.chain(walls).collect();
        for plane in planes {
            if !self.floors.contains(&plane) {
                self.floors.push(plane);
            }
        }
        let first = self.places.len() + 2 * self.fitted.len();
        for k in 0..self.floors.len() {
            self.add(Form::Floor([0, 1, 2, 3].map(|corner| first + 4 * k + corner)));
        }
    }

    /// True if a place is the same in every picture of every run.
    pub fn is_fixed(&self, model: &Model, place: usize) -> bool {
        let moving: Vec<Expr> = model.system.q().into_iter().chain([time()]).collect();
        let fitted = self.places.len() + 2 * self.fitted.len();
        match self.places.get(place) {
            Some(place) => place.iter().all(|x| !x.depends_on(&moving)),
            None if place < fitted => !self.fitted[(place - self.places.len()) / 2].is_moving,
            None => self.floors[(place - fitted) / 4].iter().all(|x| !x.depends_on(&moving)),
        }
    }

    /// The default drawing: each coordinate as a point on its own axis.
    fn of_axes(model: &Model, recording: &Recording) -> Stage {
        let constant = Expr::constant;
        let mut stage = Stage::empty();
        for (k, (c, values)) in model.system.coordinates.iter().zip(&recording.coordinates).enumerate() {
            let y = -0.5 * k as f64;
            let [low, high] = values.range(0);
            let size = if high > low { high - low } else { 1.0 };
            let x = (c.q - low) / size * 4.0;
            let at = [constant(0.0), constant(4.0), x].map(|x| stage.number([x, constant(y)]));
            stage.add(Form::Segment(at[0], at[1]));
            stage.add(Form::Disk(at[2], 0.07));
            stage.words.push((pretty(&c.name), [-0.35, y]));
            let label = |x: f64| format!("{:.3}", if x.abs() < 5e-4 { 0.0 } else { x }).replace('-', "−");
            stage.words.extend([(label(low), [0.0, y - 0.2]), (label(high), [4.0, y - 0.2])]);
        }
        stage.sketches.sort_by_key(|sketch| sketch.form.depth());
        stage.touches = vec![Touch::Unknown; model.system.walls.len()];
        stage
    }
}
