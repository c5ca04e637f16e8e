//! Random models, written by the grammar of the format: most of them pass the reader and reach the solvers.

use crate::Random;
use crate::words::{METHODS, expression, number, one_of};

const COORDINATES: [&str; 6] = ["x", "y", "theta", "s", "u_1", "θ"];

/// A model that is being written.
struct Draft<'r> {
    random: &'r mut Random,
    text: String,
    /// The coordinates, and where they start.
    coordinates: Vec<(String, f64)>,
    /// What positions may contain.
    places: Vec<String>,
    points: Vec<String>,
    driven: Option<usize>,
    is_indexed: bool,
    /// The start asks for a step.
    has_step: bool,
}

/// A well-formed model, with every section of the format now and then.
pub fn model(random: &mut Random) -> String {
    let mut draft = Draft {
        random,
        text: String::new(),
        coordinates: Vec::new(),
        places: Vec::new(),
        points: Vec::new(),
        driven: None,
        is_indexed: false,
        has_step: false,
    };
    draft.names();
    draft.lagrangian();
    draft.points();
    for _ in 0..draft.few(3) {
        draft.wall();
    }
    for _ in 0..draft.few(2) {
        draft.contact();
    }
    let constraints = if draft.one_in(4) { 1 } else { 0 };
    (0..constraints).for_each(|_| draft.constraint());
    draft.forces();
    draft.outputs();
    draft.initial(constraints > 0);
    draft.run();
    draft.text
}

impl Draft<'_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    /// A number below n, small ones more often.
    fn few(&mut self, n: usize) -> usize {
        let most = self.random.below(n) + 1;
        self.random.below(most + 1)
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.text += line.as_ref();
        self.text.push('\n');
    }

    /// A coordinate that is not driven.
    fn coordinate(&mut self) -> (String, f64) {
        let count = self.coordinates.len();
        let at = self.random.below(count);
        let at = if self.driven == Some(at) { (at + 1) % count } else { at };
        self.coordinates[at].clone()
    }

    fn position(&mut self, depth: usize) -> String {
        expression(self.random, &self.places, depth)
    }

    /// An expression that may contain velocities and the time.
    fn motion(&mut self, depth: usize) -> String {
        let velocities = self.coordinates.iter().map(|(name, _)| format!("{name}'"));
        let names: Vec<String> = self.places.iter().cloned().chain(velocities).chain(["t".into()]).collect();
        expression(self.random, &names, depth)
    }

    fn names(&mut self) {
        self.is_indexed = self.one_in(6);
        let count = 1 + self.few(3);
        let first = self.random.below(COORDINATES.len());
        let name = |i: usize| COORDINATES[(first + i) % COORDINATES.len()].to_string();
        let names: Vec<String> = (0..count)
            .map(|i| if self.is_indexed { format!("{}[{}]", COORDINATES[first], i + 1) } else { name(i) })
            .collect();
        let list = match self.is_indexed {
            true => format!("\"{}[1..n]\"", COORDINATES[first]),
            false => names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "),
        };
        self.line(format!("coordinates = [{list}]\n[parameters]"));
        if self.is_indexed {
            self.line(format!("n = {count}"));
        }
        for name in ["m", "k", "e"] {
            let value = if name == "e" { "0.5" } else { one_of(self.random, &["1", "2.5", "0.1", "30", "1e-6"]) };
            self.line(format!("{name} = {value}"));
        }
        for name in names {
            let start = self.random.below(9) as f64 / 4.0 - 1.0;
            self.coordinates.push((name, start));
        }
        self.places = self.coordinates.iter().map(|(name, _)| name.clone()).chain(["m".into(), "k".into()]).collect();
        if self.one_in(2) {
            self.line("[definitions]");
            for name in ["w", "z"] {
                let e = self.position(2);
                self.line(format!("{name} = \"{e}\""));
                self.places.push(name.into());
            }
        }
        if count > 1 && self.one_in(6) {
            self.driven = Some(self.random.below(count));
        }
    }

    fn lagrangian(&mut self) {
        let mut kinetic = Vec::new();
        for i in 0..self.coordinates.len() {
            let v = format!("{}'", self.coordinates[i].0);
            let depth = 1 + self.random.below(2);
            let e = self.position(depth);
            kinetic.push(match self.random.below(40) {
                0..20 => format!("{v}^2/2"),
                20..26 => format!("m*{v}^2/2"),
                26..35 => format!("(1 + ({e})^2)*{v}^2/2"),
                35..39 => format!("({v} + {e})^2/2"),
                _ => format!("(1 - sqrt(1 - {v}^2/100))*100"),
            });
        }
        if self.places.iter().any(|name| name == "w") && self.one_in(2) {
            kinetic.push("w'^2/2".into());
        }
        let depth = self.random.below(4);
        let potential = self.position(depth);
        let kinetic = kinetic.join(" + ");
        self.line("[lagrangian]");
        match self.random.below(5) {
            0 => self.line(format!("L = \"{kinetic} - ({potential})\"")),
            1 => self.line(format!("T = \"{kinetic}\"")),
            _ => self.line(format!("T = \"{kinetic}\"\nV = \"{potential}\"")),
        }
    }

    fn points(&mut self) {
        if self.one_in(2) {
            return;
        }
        self.line("[points]");
        for name in ["tip", "end", "post"] {
            let [a, b] = [self.coordinate().0, self.position(1)];
            match name {
                "post" => self.line("post = [3, -2]"),
                _ => self.line(format!("{name} = [\"{a}\", \"{b}\"]")),
            }
            self.points.push(name.into());
        }
        if self.one_in(2) {
            self.line("[[draw]]\nlink = [\"post\", \"tip\"]\n[[draw]]\ndisk = \"end\"\nradius = 0.1");
        }
        if self.one_in(4) {
            let force = [self.motion(1), self.motion(1)];
            self.line(format!("[[push]]\nat = \"tip\"\nforce = [\"{}\", \"{}\"]", force[0], force[1]));
        }
    }

    fn wall(&mut self) {
        let (q, start) = self.coordinate();
        let other = self.coordinate().0;
        let gap = [0.0, 0.1, 0.5, 1.0, 1e-9][self.random.below(5)];
        let e = self.position(2);
        let phi = match self.random.below(10) {
            0..3 => format!("{q} - ({:?})", start - gap),
            3 | 4 => format!("({:?}) - {q}", start + gap),
            5 => format!("{q} - ({:?}) - 0.1*sin(3*t)", start - gap),
            6 => format!("{:?} - {q}^2", start * start + gap),
            7 => format!("{q} - 0.7*{other} + 2"),
            _ => format!("{q} - ({:?}) + ({e})", start - 1.0),
        };
        self.line(format!("[[wall]]\nphi = \"{phi}\""));
        self.restitution();
    }

    fn restitution(&mut self) {
        let e = one_of(self.random, &["", "", "0", "0.5", "0.9", "1", "\"e\"", "\"1 - e/9\""]);
        if !e.is_empty() {
            self.line(format!("restitution = {e}"));
        }
    }

    fn contact(&mut self) {
        if self.points.is_empty() {
            return;
        }
        let at = number(self.random);
        let shape = match self.random.below(4) {
            0 => format!("line = [[0, -3], [1, \"{at}/9 - 3\"]]"),
            1 => "box = [[-4, -5], [4, 6]]".into(),
            2 => "circle = {center = [0, 0], radius = 6}".into(),
            _ => "circle = {center = \"post\", radius = 0.5}\nside = \"outside\"".into(),
        };
        let points = one_of(self.random, &["\"all\"", "\"tip\"", "[\"tip\", \"end\"]"]);
        self.line(format!("[[contact]]\npoints = {points}\n{shape}"));
        self.restitution();
        if self.one_in(3) {
            self.line("radius = 0.1");
        }
    }

    fn constraint(&mut self) {
        let [a, b, e] = [self.coordinate().0, self.coordinate().0, self.position(1)];
        let g = match self.random.below(5) {
            0 => format!("{a}^2 + {b}^2 - 1"),
            1 => format!("{a} - 0.5*{b} - 0.1"),
            2 => format!("{a} - 0.1*sin(t)"),
            _ => format!("{a} - 0.3*({e})"),
        };
        self.line(format!("[[constraint]]\ng = \"{g}\""));
        if self.one_in(6) {
            self.line("enforce = \"two-point\"");
        }
    }

    fn forces(&mut self) {
        if let Some(driven) = self.driven {
            let name = self.coordinates[driven].0.clone();
            let e = expression(self.random, &["t".into(), "k".into()], 2);
            self.line(format!("[prescribed]\n\"{name}\" = \"{e}\""));
        }
        if self.one_in(3) {
            let (q, e) = (self.coordinate().0, self.motion(2));
            let force = if self.one_in(2) { format!("-0.3*{q}'") } else { e };
            self.line(format!("[forces]\n\"{q}\" = \"{force}\""));
        }
    }

    fn outputs(&mut self) {
        if self.one_in(3) {
            let [a, b, c] = [self.motion(2), self.motion(1), self.motion(2)];
            self.line(format!("[outputs]\nheight = \"{a}\"\nside = \"if({b} > 0, floor({c}), sign({a}))\""));
        }
        if self.one_in(4) {
            let g = format!("{} + {}", self.coordinate().0, self.motion(2));
            let direction = one_of(self.random, &["rising", "falling", "both"]);
            let stop = self.one_in(4);
            self.line(format!("[[section]]\ng = \"{g}\"\ndirection = \"{direction}\"\nstop = {stop}"));
        }
    }

    fn initial(&mut self, is_constrained: bool) {
        let motion = one_of(self.random, &["v", "v", "v", "v", "p", "p", "q1"]);
        self.has_step = motion == "q1";
        let by_name = self.driven.is_some() || self.one_in(3);
        let mut lists = [Vec::new(), Vec::new()];
        for i in 0..self.coordinates.len() {
            if self.driven == Some(i) {
                continue;
            }
            let (name, q) = self.coordinates[i].clone();
            let v = self.random.below(5) as f64 / 2.0 - 1.0;
            let v = if motion == "q1" { format!("{:?}", q + 0.01 * v) } else { format!("{v:?}") };
            for (list, value) in lists.iter_mut().zip([format!("{q:?}"), v]) {
                list.push(if by_name { format!("\"{name}\" = {value}") } else { value });
            }
        }
        let [q, v] = lists.map(|list| list.join(", "));
        let [open, close] = if by_name { ["{", "}"] } else { ["[", "]"] };
        self.line(format!("[initial]\nq = {open}{q}{close}\n{motion} = {open}{v}{close}"));
        if is_constrained || self.one_in(9) {
            self.line("project = true");
        }
    }

    fn run(&mut self) {
        let until = [0.1, 0.5, 1.0, 2.0][self.random.below(4)];
        self.line(format!("[run]\nuntil = {until:?}"));
        let method = if self.one_in(2) { one_of(self.random, &METHODS) } else { "" };
        // Without a step, the search for one goes through all nodes of the window of `mhc` at each impact.
        if self.has_step || method.contains("mhc") || self.one_in(2) {
            let steps = [1.0, 7.3, 20.0, 100.0][self.random.below(4)];
            self.line(format!("step = {:?}", until / steps));
        }
        if !method.is_empty() {
            self.line(format!("method = \"{method}\""));
        }
        for line in [
            "tolerance = 1e-4",
            "zeno = \"stop\"",
            "simultaneous = \"moreau\"",
            "mhc = {window = 0.2, statistic = \"mean\"}",
            "mcva = {order = 3, partial = \"gauss2\"}",
            "shadow = {m = 3}",
            "alpha = 0.4",
        ] {
            if self.one_in(7) {
                self.line(line);
            }
        }
        if self.one_in(12) {
            self.line("[projection]\nk = 3.0");
        }
    }
}
