//! Systems that the tests of printing and deriving share.

#![allow(dead_code)]

use carom::lab::expr::{Expr, ExprNode, Func, with_arena};
use carom::lab::system::{Constraint, Coordinate, Enforce, Form, Lagrangian, Parameter, System, Wall, time};

/// The symbol of that name.
pub fn s(name: &str) -> Expr {
    Expr::symbol(name)
}

/// df/dt along the coordinates, for definitions.
pub fn dot(f: Expr, coordinates: &[&str]) -> Expr {
    let along: Expr = coordinates.iter().map(|name| f.diff(s(name)) * s(&format!("{name}'"))).sum();
    along + f.diff(time())
}

/// A system without walls, constraints or forces.
pub fn system(coordinates: &[&str], parameters: &[&str], t: Expr, v: Expr) -> System {
    let value = |i: usize| 1.0 + 0.37 * i as f64;
    let parameter = |(i, name): (usize, &&str)| Parameter { name: (*name).into(), symbol: s(name), value: value(i) };
    System {
        coordinates: coordinates.iter().map(|name| Coordinate::new(name)).collect(),
        parameters: parameters.iter().enumerate().map(parameter).collect(),
        lagrangian: Lagrangian { l: t - v, parts: Some((t, v)) },
        walls: Vec::new(),
        constraints: Vec::new(),
        forces: vec![Expr::constant(0.0); coordinates.len()],
        function: None,
        mechanism: None,
    }
}

/// Adds a wall.
pub fn wall(mut system: System, name: &str, phi: Expr, restitution: Expr) -> System {
    system.walls.push(Wall { name: name.into(), phi, restitution });
    system
}

/// NOTES: a pendulum on a wall.
pub fn pendulum() -> System {
    let (m, r, g) = (s("m"), s("R"), s("g"));
    let t = 0.5 * m * r.squared() * s("theta'").squared();
    let v = m * g * r * (1.0 - s("theta").cos());
    wall(system(&["theta"], &["m", "g", "R"], t, v), "wall", s("theta"), Expr::constant(1.0))
}

/// NOTES: a point mass above the floor y = h.
pub fn point_mass() -> System {
    let m = s("m");
    let t = 0.5 * m * (s("x'").squared() + s("y'").squared());
    wall(system(&["x", "y"], &["m", "g", "h"], t, m * s("g") * s("y")), "floor", s("y") - s("h"), Expr::constant(1.0))
}

/// Two links, the second angle from the first link.
pub fn double_pendulum() -> System {
    let q = ["theta1", "theta2"];
    let (a, b) = (s(q[0]), s(q[0]) + s(q[1]));
    let (x1, y1) = (s("L1") * a.sin(), -s("L1") * a.cos());
    let (x2, y2) = (x1 + s("L2") * b.sin(), y1 - s("L2") * b.cos());
    let kinetic = |m: Expr, x: Expr, y: Expr| m * (dot(x, &q).squared() + dot(y, &q).squared()) / 2.0;
    let t = kinetic(s("m1"), x1, y1) + kinetic(s("m2"), x2, y2);
    let v = s("m1") * s("g") * y1 + s("m2") * s("g") * y2;
    let system = system(&q, &["m1", "m2", "L1", "L2", "g"], t, v);
    wall(system, "left wall", x2 + 0.25, Expr::constant(1.0))
}

/// DLM: a cart that moves up and down, with a pendulum.
pub fn cart_pendulum() -> System {
    let (y, theta, l) = (s("y"), s("theta"), s("L"));
    let (vy, omega) = (s("y'"), s("theta'"));
    let across = l * omega * theta.cos();
    let up = vy + l * omega * theta.sin();
    let t = 0.5 * s("m1") * vy.squared() + 0.5 * s("m2") * (across.squared() + up.squared());
    let v = s("g") * (s("m1") * y + s("m2") * (y - l * theta.cos()));
    wall(system(&["y", "theta"], &["m1", "m2", "L", "g"], t, v), "floor", y, Expr::constant(1.0))
}

/// GP: a rigid bar that lands on one end.
pub fn bar() -> System {
    let (m, l) = (s("m"), s("L"));
    let inertia = m * l.squared() / 12.0;
    let t = 0.5 * m * (s("x'").squared() + s("y'").squared()) + 0.5 * inertia * s("theta'").squared();
    let phi = s("y") - l / 2.0 * s("theta").cos();
    let system = system(&["y", "x", "theta"], &["m", "L", "g", "e"], t, m * s("g") * s("y"));
    wall(system, "floor", phi, s("e"))
}

/// NOTES: a double pendulum whose first link is driven.
pub fn driven() -> System {
    let mut system = double_pendulum();
    system.coordinates[0].prescribed = Some(s("omega") * time());
    system.parameters.push(Parameter { name: "omega".into(), symbol: s("omega"), value: 2.0 });
    system.walls[0].phi = system.walls[0].phi - 0.25;
    system
}

/// A ball on a table that shakes.
pub fn moving_wall() -> System {
    let m = s("m");
    let t = 0.5 * m * s("y'").squared();
    let system = system(&["y"], &["m", "g", "A", "omega", "e"], t, m * s("g") * s("y"));
    wall(system, "table", s("y") - s("A") * (s("omega") * time()).sin(), s("e"))
}

/// L = −m c² √(1 − v²/c²): not quadratic in v.
pub fn relativistic() -> System {
    let (m, c, v) = (s("m"), s("c"), s("x'"));
    let mut system = system(&["x"], &["m", "c"], Expr::constant(0.0), Expr::constant(0.0));
    let l = -(m * c.squared()) * (1.0 - v.squared() / c.squared()).sqrt();
    system.lagrangian = Lagrangian { l, parts: None };
    wall(system, "mirror", s("x"), Expr::constant(1.0))
}

/// TPC: a bead on a circle, in Cartesian coordinates, with a floor.
pub fn constrained() -> System {
    let m = s("m");
    let t = 0.5 * m * (s("x'").squared() + s("y'").squared());
    let mut system = system(&["x", "y"], &["m", "g"], t, m * s("g") * s("y"));
    let g = s("x").squared() + s("y").squared() - 1.0;
    system.constraints.push(Constraint { name: "rod".into(), g, enforce: Enforce::OnePoint, form: Form::Function });
    system.forces[0] = -s("c") * s("x'");
    system.parameters.push(Parameter { name: "c".into(), symbol: s("c"), value: 0.1 });
    wall(system, "floor", s("y") + 0.5, Expr::constant(1.0))
}

/// A chain of n equal links, by their angles from the vertical.
pub fn chain(n: usize) -> System {
    let names: Vec<String> = (1..=n).map(|i| format!("theta{i}")).collect();
    let q: Vec<&str> = names.iter().map(String::as_str).collect();
    let (mut x, mut y) = (Expr::constant(0.0), Expr::constant(0.0));
    let (mut t, mut v) = (x, x);
    for name in &q {
        x = x + s("L") * s(name).sin();
        y = y - s("L") * s(name).cos();
        t = t + 0.5 * s("m") * (dot(x, &q).squared() + dot(y, &q).squared());
        v = v + s("m") * s("g") * y;
    }
    wall(system(&q, &["m", "L", "g"], t, v), "wall", x + 0.25, Expr::constant(1.0))
}

/// A pendulum on a string whose bob hits a peg of radius r at (a, −b).
pub fn peg() -> System {
    let (m, r) = (s("m"), s("R"));
    let (x, y) = (r * s("theta").sin(), -r * s("theta").cos());
    let t = 0.5 * m * (dot(x, &["theta"]).squared() + dot(y, &["theta"]).squared());
    let gap = ((x - s("a")).squared() + (y + s("b")).squared()).sqrt() - s("r");
    wall(system(&["theta"], &["m", "R", "g", "a", "b", "r"], t, m * s("g") * y), "peg", gap, Expr::constant(0.8))
}

/// A natural frequency √(g/R) among the terms, and a root below a fraction line.
pub fn natural_frequency() -> System {
    let (m, r, x, theta) = (s("m"), s("R"), s("x"), s("theta"));
    let (v, turn) = (s("x'"), s("theta'"));
    let w = (s("g") / r).sqrt();
    let swing = v.squared() + 2.0 * r * v * turn * theta.cos() + (r * turn).squared();
    let t = v.squared() / 2.0 + m * swing / 2.0;
    let u = w.squared() * x.squared() / 2.0 - m * s("g") * r * theta.cos() + w * x + 1.0 / (2.0 + x.squared() + w);
    wall(system(&["x", "theta"], &["g", "R", "m"], t, u), "wall", x + 1.0, Expr::constant(1.0))
}

/// A chain of n links, with the horizontal places of two of them bent by functions that no identity simplifies.
pub fn bent_chain(n: usize, bent: [(usize, Func); 2]) -> System {
    let names: Vec<String> = (1..=n).map(|i| format!("theta{i}")).collect();
    let q: Vec<&str> = names.iter().map(String::as_str).collect();
    let (mut x, mut y) = (Expr::constant(0.0), Expr::constant(0.0));
    let mut t = x;
    for (i, name) in q.iter().enumerate() {
        x = x + s(name).sin();
        y = y - s(name).cos();
        x = bent.iter().filter(|(at, _)| *at == i).fold(x, |x, &(_, f)| x.apply(f));
        t = t + 0.5 * s("m") * (dot(x, &q).squared() + dot(y, &q).squared());
    }
    wall(system(&q, &["m", "g"], t, s("m") * s("g") * y), "wall", x + 0.25, Expr::constant(1.0))
}

/// Every system here, by name.
pub fn all() -> Vec<(&'static str, System)> {
    vec![
        ("pendulum", pendulum()),
        ("point-mass", point_mass()),
        ("double-pendulum", double_pendulum()),
        ("cart-pendulum", cart_pendulum()),
        ("bar", bar()),
        ("driven", driven()),
        ("moving-wall", moving_wall()),
        ("relativistic", relativistic()),
        ("constrained", constrained()),
        ("peg", peg()),
        ("natural-frequency", natural_frequency()),
        ("chain-3", chain(3)),
        ("chain-5", chain(5)),
    ]
}

/// A source of numbers that are the same in every run.
pub struct Dice(pub u64);

impl Dice {
    /// Between 0 and 1.
    pub fn roll(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() * n as f64) as usize
    }
}

/// The value of e where the symbols have the values of `point`; others are NaN.
pub fn value(e: Expr, point: &[(Expr, f64)]) -> f64 {
    with_arena(|a| {
        let mut values = std::collections::HashMap::new();
        for x in a.reachable(&[e]) {
            let value = match a.node(x) {
                ExprNode::Const(c) => c,
                ExprNode::Pi => std::f64::consts::PI,
                ExprNode::Symbol(_) => point.iter().find(|(s, _)| *s == x).map_or(f64::NAN, |(_, v)| *v),
                ExprNode::Unary(f, y) => f.apply(values[&y]),
                ExprNode::Binary(op, y, z) => op.apply(values[&y], values[&z]),
            };
            values.insert(x, value);
        }
        values[&e]
    })
}
