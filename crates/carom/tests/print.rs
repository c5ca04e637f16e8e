//! Expressions as a person would write them: text, LaTeX, HTML, source; and tidied.

mod systems;

use carom::lab::expr::print::Notation;
use carom::lab::expr::tidy::tidy;
use carom::lab::expr::{Expr, Func};
use systems::*;

fn text(e: Expr) -> String {
    e.to_text(&notation())
}

fn notation() -> Notation {
    Notation::new(["m1", "m2", "m", "L", "R", "g", "e", "omega", "x_max"], ["theta1", "theta2", "theta", "x", "y"])
}

#[test]
fn text_reads_as_written_by_hand() {
    let (m, r, theta, x, t1, t2) = (s("m"), s("R"), s("theta"), s("x"), s("theta1"), s("theta2"));
    let cases = [
        (0.5 * m * r.squared() * s("theta'").squared(), "½ m R² θ̇²"),
        (m * r.squared() * s("theta'").squared() / 12.0, "m R² θ̇²/12"),
        (-(s("g") / r) * theta.sin(), "−(g/R) sin θ"),
        (1.0 - theta.cos(), "1 − cos θ"),
        (theta.cos() - 1.0, "cos θ − 1"),
        (1.0 + s("e"), "1 + e"),
        (x.squared() + s("y").squared() - 1.0, "x² + y² − 1"),
        ((t1 + t2).cos(), "cos(θ₁ + θ₂)"),
        (theta.sin().squared(), "sin² θ"),
        (theta.sin().squared() * s("theta'"), "sin²(θ) θ̇"),
        (theta.sin() * theta.cos(), "cos θ sin θ"),
        (theta.sin() / x, "sin(θ)/x"),
        ((s("m1") + s("m2")) * s("L").squared(), "(m₁ + m₂) L²"),
        (m * s("g") * r * (1.0 - theta.cos()), "m R g (1 − cos θ)"),
        ((s("omega") * s("t")).sin(), "sin(ω t)"),
        (s("x_max") + s("theta2''"), "θ̈₂ + x_max"),
        (-s("theta1'-"), "−θ̇₁⁻"),
        (s("theta1'-").squared(), "(θ̇₁⁻)²"),
        (9.81 * m, "9.81 m"),
        (Expr::constant(0.1 + 0.2) * m, "0.3 m"),
        (1e-12 * m, "10⁻¹² m"),
        (m / 3.0, "⅓ m"),
        (x.pow(1.5), "x^(3/2)"),
        (1.0 / x.sqrt(), "1/√x"),
        ((4.0 * x.squared()).sqrt(), "2 |x|"),
        ((2.0 * x.squared()).sqrt(), "√2 |x|"),
        (x.pow(4).sqrt(), "x²"),
        ((-x.squared()).sqrt(), "√(−x²)"),
        (2.0 * x / (4.0 * x.squared()).sqrt() * m, "m sgn(x)"),
        ((x + 1.0).sqrt() * m, "m √(x + 1)"),
        (x.abs().exp(), "exp(|x|)"),
        (x.pow(s("y")), "x^y"),
        (s("y").atan2(x), "atan2(y, x)"),
        (2.0 * Expr::pi() * r, "2 π R"),
        (-x - s("y"), "−x − y"),
        (s("y") - x, "y − x"),
        (m / (s("m1") / s("m2") + 1.0), "m/(1 + m₁/m₂)"),
        (x.squared().squared() / m.squared(), "x⁴/m²"),
    ];
    for (e, expected) in cases {
        assert_eq!(text(e), expected, "{}", e.to_source());
    }
}

#[test]
fn latex_and_html() {
    let n = notation();
    let kinetic = 0.5 * s("m") * s("R").squared() * s("theta'").squared();
    assert_eq!(kinetic.to_latex(&n), "\\frac{1}{2} m R^{2} \\dot{\\theta}^{2}");
    assert_eq!(s("theta").sin().squared().to_latex(&n), "\\sin^{2} \\theta");
    assert_eq!(s("theta1'-").to_latex(&n), "\\dot{\\theta}_{1}^{-}");
    assert_eq!(s("x_max").to_latex(&n), "x_{\\mathrm{max}}");
    assert_eq!(s("mass").to_latex(&n), "\\mathrm{mass}");
    assert_eq!(s("omega_drive").to_latex(&n), "\\omega_{\\mathrm{drive}}");
    let ratio = "<span class=\"frac\"><span><i>g</i></span><span><i>R</i></span></span>";
    let element = format!("<span class=\"m\" role=\"math\" aria-label=\"g/R\">{ratio}</span>");
    assert_eq!((s("g") / s("R")).to_html(&n), element);
    let velocity = s("theta1'").to_html(&n);
    assert!(velocity.contains("<span class=\"dot1 high\"><span><i>θ</i></span></span><sub>1</sub>"), "{velocity}");
    let root = ((s("x") / s("R") + 1.0).squared() * (s("g") / s("R")).sqrt()).to_html(&n);
    assert!(root.contains("class=\"paren\"") && root.contains("class=\"root\""), "{root}");
}

/// An expression that would fill libraries is named by its size, and a deep one by its depth.
#[test]
fn large_expressions_are_abbreviated() {
    let mut e = s("x");
    for _ in 0..60 {
        e = e * (e + 1.0);
    }
    assert!(text(e).starts_with("⟨expression of") && e.to_source().starts_with('<'), "{}", text(e));
    assert_eq!(tidy(e, &notation()), e);
    let mut deep = s("x");
    for _ in 0..10_000 {
        deep = deep.sin();
    }
    assert_eq!(text(deep), "⟨expression nested 10000 deep⟩");
    assert_eq!(tidy(deep, &notation()), deep);
    assert_eq!(deep.to_source().len(), 5 * 10_000 + 1);
    let mut nested = s("x");
    for _ in 0..80 {
        nested = (1.0 + nested * s("y")).sin();
    }
    assert!(text(nested).starts_with("sin(y sin(y sin(") && text(tidy(nested, &notation())).len() > 500);
    let long: Expr = (0..3000).map(|i| s(&format!("x{i}"))).sum();
    assert!(text(long).contains(" + x₂₉₉₉ + "), "a long sum is not deep");
}

#[test]
fn tidy_knows_trigonometry() {
    let (a, b, m, v) = (s("theta1"), s("theta2"), s("m"), s("theta1'"));
    let cases = [
        (a.sin().squared() + a.cos().squared(), "1"),
        (a.cos() * (a + b).cos() + a.sin() * (a + b).sin(), "cos θ₂"),
        (m * (v * a.cos()).squared() + m * (v * a.sin()).squared(), "m θ̇₁²"),
        ((s("x").squared() - s("y").squared()) / (s("x") - s("y")), "x + y"),
        (s("x").squared() + 2.0 * s("x") * s("y") + s("y").squared(), "(x + y)²"),
        ((a + Expr::pi() / 2.0).sin(), "cos θ₁"),
        (s("x").sqrt() * s("x").sqrt() - s("x"), "0"),
        (1.0 / (s("x") - s("y")) + 1.0 / (s("y") - s("x")), "0"),
    ];
    for (e, expected) in cases {
        assert_eq!(text(tidy(e, &notation())), expected, "{}", e.to_source());
    }
}

#[test]
fn tidy_cancels_common_factors() {
    let (x, y, a, b, m) = (s("x"), s("y"), s("theta1"), s("theta2"), s("m"));
    let slope = m * a.cos() - s("L") * a.sin();
    let sum = x.squared() + y.squared() + 1.0;
    let cases = [
        ((x.squared() - y.squared()) / (x + y).squared(), "(x − y)/(x + y)"),
        (x * (x + y) * (x + 2.0 * y) / ((x + y) * (x - y)), "(x² + 2 x y)/(x − y)"),
        (s("x'") - s("x'") * slope.squared() * m / (slope * m * slope), "0"),
        (3.0 * slope * b / slope.squared(), "3 θ₂/(m cos θ₁ − L sin θ₁)"),
        (y * sum / sum.sqrt(), "y √(x² + y² + 1)"),
        ((s("g") / m).sqrt() / (x + (s("g") / m).sqrt()), "√(g/m)/(x + √(g/m))"),
    ];
    for (e, expected) in cases {
        assert_eq!(text(tidy(e, &notation())), expected, "{}", e.to_source());
    }
}

/// A random expression of about `size` operations.
fn random(dice: &mut Dice, size: usize) -> Expr {
    if size == 0 {
        let leaves = ["x", "y", "theta", "m1", "x'", "y'"];
        return match dice.below(8) {
            6 => Expr::constant(dice.below(5) as f64 - 1.0),
            7 => Expr::constant([0.5, 1.0 / 3.0, 0.1, 2.5][dice.below(4)]),
            i => s(leaves[i]),
        };
    }
    let left = dice.below(size);
    let a = random(dice, left);
    match dice.below(11) {
        0 | 1 => a + random(dice, size - 1 - left),
        2 => a - random(dice, size - 1 - left),
        3..=5 => a * random(dice, size - 1 - left),
        6 => a / random(dice, size - 1 - left),
        7 => a.pow(1 + dice.below(3) as i32),
        8 => a.apply([Func::Sin, Func::Cos][dice.below(2)]),
        9 => a.apply(Func::NAMED[dice.below(13)]),
        _ => -a,
    }
}

fn random_point(dice: &mut Dice) -> Vec<(Expr, f64)> {
    ["x", "y", "theta", "m1", "x'", "y'"].into_iter().map(|name| (s(name), 4.0 * dice.roll() - 1.5)).collect()
}

/// The value is the same wherever it was defined, to the accuracy with which it is determined at all.
#[test]
fn tidy_keeps_values() {
    let mut dice = Dice(2024);
    let mut checked = 0;
    for _ in 0..2000 {
        let size = 1 + dice.below(14);
        let e = random(&mut dice, size);
        let tidied = tidy(e, &notation());
        for _ in 0..3 {
            let point = random_point(&mut dice);
            let nudged: Vec<(Expr, f64)> = point.iter().map(|&(s, x)| (s, x * (1.0 + 1e-11))).collect();
            let (before, after, nearby) = (value(e, &point), value(tidied, &point), value(e, &nudged));
            let condition = (before - nearby).abs() / 1e-11 * 1e-13;
            if !before.is_finite() || !nearby.is_finite() || before.abs() > 1e6 || condition > 1e-6 {
                continue;
            }
            checked += 1;
            let tolerance = 1e-8 * (1.0 + before.abs()) + condition;
            assert!((before - after).abs() <= tolerance, "{before} became {after}:\n{}\n{tidied}", e.to_source());
        }
    }
    assert!(checked > 3000, "only {checked} points were defined");
}

/// A random sum of products of sines and cosines, over another one.
fn random_waves(dice: &mut Dice) -> Expr {
    let (x, y) = (s("x"), s("y"));
    let angles = [x, x, y, x + y, x - y, 2.0 * x];
    let scales = [s("m1"), s("x'"), Expr::constant(2.0), Expr::constant(1.0), Expr::constant(-0.5)];
    let mut sum = |terms: usize| -> Expr {
        let term = |_| {
            let wave = |_| angles[dice.below(6)].apply([Func::Sin, Func::Cos][dice.below(2)]);
            (0..2).map(wave).product::<Expr>() * scales[dice.below(5)]
        };
        (0..terms).map(term).sum()
    };
    let (above, below) = (sum(3), sum(2));
    if dice.below(2) == 0 { above } else { above / (3.0 + below) }
}

/// Every way to write products of sines and cosines has the same value.
#[test]
fn tidy_keeps_waves() {
    let mut dice = Dice(31);
    for _ in 0..400 {
        let e = random_waves(&mut dice);
        let tidied = tidy(e, &notation());
        let point = random_point(&mut dice);
        let (before, after) = (value(e, &point), value(tidied, &point));
        let close = (before - after).abs() <= 1e-8 * (1.0 + before * before);
        assert!(close, "{before} became {after}:\n{}\n{tidied}", e.to_source());
    }
}

/// What `to_source` writes parses back to the same value.
#[test]
fn source_parses_back() {
    let mut dice = Dice(99);
    for _ in 0..2000 {
        let size = 1 + dice.below(12);
        let e = random(&mut dice, size);
        let source = e.to_source();
        let parsed = Parser { text: source.as_bytes(), at: 0 }.expression(0);
        let point = random_point(&mut dice);
        let (before, after) = (value(e, &point), value(parsed, &point));
        let close = (before - after).abs() <= 1e-12 * before.abs();
        assert!(close || before == after || !before.is_finite(), "{source}: {before} became {after}");
    }
}

/// The grammar of a model, in its smallest form.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> u8 {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn expression(&mut self, least: u8) -> Expr {
        let mut left = if self.peek() == b'-' {
            self.at += 1;
            -self.expression(3)
        } else {
            self.atom()
        };
        loop {
            let op = self.peek();
            let (bond, right) = match op {
                b'+' | b'-' => (1, 2),
                b'*' | b'/' => (2, 3),
                b'^' => (4, 3),
                _ => return left,
            };
            if bond < least.max(1) {
                return left;
            }
            self.at += 1;
            let other = self.expression(right);
            left = match op {
                b'+' => left + other,
                b'-' => left - other,
                b'*' => left * other,
                b'/' => left / other,
                _ => left.pow(other),
            };
        }
    }

    fn atom(&mut self) -> Expr {
        if self.peek() == b'(' {
            return self.arguments().remove(0);
        }
        let start = self.at;
        while let Some(&c) = self.text.get(self.at) {
            let exponent =
                start < self.at && c == b'-' && self.text[self.at - 1] == b'e' && self.text[start].is_ascii_digit();
            if !(c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'\'') || exponent) {
                break;
            }
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).expect("the source is ASCII");
        if let Ok(number) = word.parse::<f64>() {
            return Expr::constant(number);
        }
        if self.peek() != b'(' {
            return if word == "pi" { Expr::pi() } else { s(word) };
        }
        let arguments = self.arguments();
        match Func::NAMED.into_iter().find(|f| f.name() == word) {
            Some(f) => arguments[0].apply(f),
            None => arguments[0].atan2(arguments[1]),
        }
    }

    fn arguments(&mut self) -> Vec<Expr> {
        let mut arguments = Vec::new();
        loop {
            self.at += 1;
            arguments.push(self.expression(0));
            if self.peek() != b',' {
                self.at += 1;
                return arguments;
            }
        }
    }
}
