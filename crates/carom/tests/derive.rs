//! Mechanics on paper: what is derived is right, and reads as a person would write it.

mod systems;

use carom::lab::derive::derive;
use carom::lab::expr::print::text::width;
use carom::lab::expr::{Expr, Func, grad, jacobian};
use carom::lab::model::Model;
use carom::lab::system::{System, Wall, time};
use systems::*;

/// Values for the parameters, the time, the coordinates and the velocities of a system.
fn point(system: &System, dice: &mut Dice) -> Vec<(Expr, f64)> {
    let mut point: Vec<(Expr, f64)> = system.parameters.iter().map(|p| (p.symbol, 0.4 + dice.roll())).collect();
    point.push((time(), dice.roll()));
    for c in &system.coordinates {
        point.push((c.q, 3.0 * dice.roll() - 1.5));
        let v = 0.6 * dice.roll() - 0.3;
        point.push((c.v, v));
        point.push((Expr::symbol(&format!("{}'-", c.name)), v));
    }
    // Driven coordinates are where their motion says.
    for c in &system.coordinates {
        if let Some(motion) = c.prescribed {
            let (q, v) = (value(motion, &point), value(motion.diff(time()), &point));
            for (s, x) in &mut point {
                *x = if *s == c.q {
                    q
                } else if *s == c.v {
                    v
                } else {
                    *x
                };
            }
        }
    }
    point
}

/// x with A x = b, by elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            b[i] -= factor * b[k];
        }
    }
    (0..n).map(|i| b[i] / a[i][i]).collect()
}

fn text(e: Expr) -> String {
    e.to_string()
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{what}: {found} instead of {expected}");
}

/// The free block of M, and ∂L/∂q + Q − the rest of d/dt ∂L/∂v, straight from the definitions.
fn newton(system: &System, at: &[(Expr, f64)]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let free = system.free();
    let (q, v, l) = (system.q(), system.v(), system.lagrangian.l);
    let p = grad(l, &v);
    let mass = jacobian(&p, &v);
    let m = free.iter().map(|&i| free.iter().map(|&j| value(mass[i][j], at)).collect()).collect();
    let no_acceleration: Vec<Expr> = system.coordinates.iter().map(|c| c.acceleration()).collect();
    let force = |i: usize| {
        let rate = system.time_derivative(p[i]) - system.forces[i] - l.diff(q[i]);
        let mut at = at.to_vec();
        for (c, &a) in system.coordinates.iter().zip(&no_acceleration) {
            let drive = c.prescribed.map_or(0.0, |f| value(f.diff(time()).diff(time()), &at));
            at.push((a, drive));
        }
        -value(rate, &at)
    };
    (m, free.iter().map(|&i| force(i)).collect())
}

/// M a = F, solved with numbers, gives the accelerations that were solved with symbols.
#[test]
fn accelerations_solve_the_equations() {
    let mut dice = Dice(7);
    for (name, system) in all() {
        let derivation = derive(&system, name);
        for _ in 0..5 {
            let at = point(&system, &mut dice);
            let (m, f) = newton(&system, &at);
            let expected = solve(m, f);
            for (&i, a) in system.free().iter().zip(expected) {
                let left = text(system.coordinates[i].acceleration());
                let Some(found) = derivation.find(&left) else {
                    assert!(system.coordinates.len() > 3 || !system.constraints.is_empty(), "{name}: no {left}");
                    continue;
                };
                assert_close(value(found, &at), a, &format!("{name}: {left} = {found}"));
            }
        }
    }
}

/// v·∂L/∂v − L over the free coordinates, at other velocities.
fn energy(system: &System, at: &[(Expr, f64)], v: &[f64]) -> f64 {
    let mut at = at.to_vec();
    for (c, &v) in system.coordinates.iter().zip(v) {
        at.retain(|(s, _)| *s != c.v);
        at.push((c.v, v));
    }
    let l = system.lagrangian.l;
    let terms = system.free().into_iter().map(|i| l.diff(system.coordinates[i].v) * system.coordinates[i].v);
    value(terms.sum::<Expr>() - l, &at)
}

/// φ_t with the motion of the driven coordinates.
fn full_drift(system: &System, at: &[(Expr, f64)]) -> f64 {
    value(system.drive(&[system.walls[0].phi])[0].diff(time()), at)
}

/// v⁺ and λ obey M (v⁺ − v⁻) = λ∇φ, φ̇⁺ = −e φ̇⁻ and [H] = λ ((1 − e) φ̇⁻/2 − φ_t).
#[test]
fn impacts_obey_the_law() {
    let mut dice = Dice(11);
    for (name, system) in all() {
        let derivation = derive(&system, name);
        let Some(lambda) = derivation.find("λ") else { continue };
        let (free, wall) = (system.free(), &system.walls[0]);
        for _ in 0..5 {
            let mut at = point(&system, &mut dice);
            let (m, _) = newton(&system, &at);
            let slope: Vec<f64> = grad(wall.phi, &system.q()).iter().map(|&g| value(g, &at)).collect();
            let gap_rate = |v: &[f64]| -> f64 {
                value(wall.phi.diff(time()), &at) + slope.iter().zip(v).map(|(g, v)| g * v).sum::<f64>()
            };
            let before: Vec<f64> = system.v().iter().map(|&v| value(v, &at)).collect();
            let approach = gap_rate(&before);
            at.push((Expr::symbol("phi'-"), approach));
            let mut after = before.clone();
            for &i in &free {
                let left = text(Expr::symbol(&format!("{}'+", system.coordinates[i].name)));
                after[i] = value(derivation.find(&left).expect("solved where λ is"), &at);
            }
            let lambda = value(lambda, &at);
            let drift = value(wall.phi.diff(time()), &at);
            let rebound: f64 = drift + slope.iter().zip(&after).map(|(g, v)| g * v).sum::<f64>();
            assert_close(rebound, -value(wall.restitution, &at) * approach, &format!("{name}: rebound"));
            let e = value(wall.restitution, &at);
            let work = lambda * (0.5 * (1.0 - e) * approach - full_drift(&system, &at));
            assert_close(
                energy(&system, &at, &after) - energy(&system, &at, &before),
                work,
                &format!("{name}: energy"),
            );
            for (row, &i) in m.iter().zip(&free) {
                let jump: f64 = row.iter().zip(&free).map(|(m, &j)| m * (after[j] - before[j])).sum();
                assert_close(jump, lambda * slope[i], &format!("{name}: momentum {i}"));
            }
        }
    }
}

/// H(q, p(q, v)) is v·p − L, whichever way it is written.
#[test]
fn hamiltonians_are_the_energy() {
    let mut dice = Dice(13);
    for (name, system) in all().into_iter().filter(|(name, _)| *name != "driven") {
        let derivation = derive(&system, name);
        let at = point(&system, &mut dice);
        let (v, l) = (system.v(), system.lagrangian.l);
        let momenta = grad(l, &v);
        let energy: Expr = momenta.iter().zip(&v).map(|(&p, &v)| p * v).sum::<Expr>() - l;
        let mut with_momenta = at.clone();
        for (c, &p) in system.coordinates.iter().zip(&momenta) {
            for symbol in ["p".to_owned(), format!("p_{}", c.name), c.name.replace("theta", "p")] {
                with_momenta.push((Expr::symbol(&symbol), value(p, &at)));
            }
        }
        let forms = derivation.find_all("H");
        assert!(!forms.is_empty(), "{name}");
        for h in forms {
            assert_close(value(h, &with_momenta), value(energy, &at), &format!("{name}: H = {h}"));
        }
    }
}

/// The pages are compared with those in `golden/`; with CAROM_BLESS set they are written instead.
#[test]
fn pages_read_as_before() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("CAROM_BLESS").is_some();
    for (name, system) in all() {
        let derivation = derive(&system, name);
        let mut pages = vec![("txt", derivation.to_text())];
        if ["pendulum", "bar", "chain-3"].contains(&name) {
            pages.extend([("tex", derivation.to_latex()), ("html", derivation.to_html())]);
        }
        for (kind, page) in pages {
            let path = folder.join(format!("{name}.{kind}"));
            if bless {
                std::fs::write(&path, &page).expect("the folder is there");
            }
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            let changed = page.lines().zip(before.lines()).find(|(now, then)| now != then);
            assert!(page == before, "{} has changed: {changed:#?}", path.display());
        }
    }
}

/// Names and titles cannot break out of the page.
#[test]
fn titles_are_escaped() {
    let mut system = pendulum();
    system.walls[0].name = "<script>alert(1)</script> & $x_1$".into();
    let derivation = derive(&system, "50% <b>");
    assert!(!derivation.to_html().contains("<script>") && !derivation.to_html().contains("<b>"));
    assert!(derivation.to_latex().contains("50\\% <b>") && derivation.to_latex().contains("\\$x\\_1\\$"));
}

/// Odd systems get a page too: nothing moves, no mass, a letter taken twice, a wall that nothing reaches.
#[test]
fn odd_systems_do_not_panic() {
    let zero = Expr::constant(0.0);
    let mut massless = system(&["x", "y"], &["k"], s("x'").squared(), s("k") * s("y").squared());
    massless = wall(massless, "far", s("k") - 1.0, zero);
    let mut all_driven = pendulum();
    all_driven.coordinates[0].prescribed = Some(time().sin());
    let taken = ["phi", "lambda", "L", "T", "V", "H", "M", "p", "P"];
    let kinetic = taken.iter().map(|q| s(&format!("{q}'")).squared() / (1.0 + s(q).squared())).sum();
    let mut letters = system(&taken, &["g", "G", "mu"], kinetic, s("phi").ln() / s("lambda"));
    letters = wall(letters, "φ", s("phi") - s("t"), Expr::constant(0.5));
    let singular = system(&["x"], &[], 1.0 / s("x'"), zero);
    let empty = system(&[], &[], zero, zero);
    for (i, system) in [massless, all_driven, letters, singular, empty].iter().enumerate() {
        let derivation = derive(system, "odd");
        let page = derivation.to_text() + &derivation.to_latex() + &derivation.to_html();
        assert!(page.contains("Lagrangian"), "{i}");
    }
}

/// A chain of ten links is long, but not slow.
#[test]
fn a_long_chain_finishes() {
    let clock = std::time::Instant::now();
    let page = derive(&chain(10), "Chain").to_text();
    assert!(page.contains("θ̈₁₀") && clock.elapsed().as_secs() < 10, "{:?}", clock.elapsed());
}

/// Whatever a Lagrangian contains, its derivation ends: work is counted, and what costs too much stays as it was.
#[test]
fn derivations_end() {
    let (x, k, m) = (s("x"), s("k"), s("m"));
    let root = (k / m).sqrt();
    let t = 0.5 * m * s("x'").squared();
    let nested = (0..12).fold(x + root, |e, _| x + 1.0 / (e + root));
    let powers = (x + k + m + 1.0).pow(16) / (x - k).pow(8);
    let mut systems: Vec<System> = [1.0 / (x + root), 1.0 / (root + 1.0) / (x + 1.0), nested, powers]
        .into_iter()
        .map(|v| wall(system(&["x"], &["k", "m"], t, v), "wall", x - root, s("k")))
        .collect();
    systems.push(bent_chain(3, [(0, Func::Exp), (2, Func::Atan)]));
    systems.push(bent_chain(5, [(2, Func::Sqrt), (4, Func::Atan)]));
    systems.push(bent_chain(10, [(4, Func::Exp), (9, Func::Atan)]));
    systems.push(bent_chain(50, [(30, Func::Atan), (40, Func::Atan)]));
    systems.extend([chain(30), chain(200)]);
    for (i, system) in systems.iter().enumerate() {
        let clock = std::time::Instant::now();
        let derivation = derive(system, "hard");
        let page = derivation.to_text() + &derivation.to_latex() + &derivation.to_html();
        assert!(page.to_lowercase().contains("equations of motion"), "{i}");
        assert!(clock.elapsed().as_secs() < 20, "system {i} took {:?}", clock.elapsed());
    }
}

/// Of very many walls the first are written out, and the others counted.
#[test]
fn many_walls_end_too() {
    let mut system = chain(10);
    let first = system.walls[0].clone();
    for k in 0..5_000 {
        let phi = first.phi + f64::from(k);
        system.walls.push(Wall { name: format!("wall {k}"), phi, ..first.clone() });
    }
    let clock = std::time::Instant::now();
    let derivation = derive(&system, "walls");
    let page = derivation.to_text();
    let written = derivation.sections.iter().filter(|section| section.title.starts_with("Impact: ")).count();
    let counted = format!("The impact laws of {} more walls are not written out.", system.walls.len() - written);
    assert!(written > 10 && written < 1_000 && page.contains(&counted), "{written} walls");
    assert!(clock.elapsed().as_secs() < 20, "{:?}", clock.elapsed());
}

/// One coordinate rebounds with v⁺ = −e v⁻, whatever the shape of the wall.
#[test]
fn a_peg_returns_the_bob() {
    let derivation = derive(&peg(), "Peg");
    assert_eq!(derivation.find("θ̇⁺").map(text).as_deref(), Some("−0.8 θ̇⁻"));
}

/// The systems of these tests, and shipped mechanisms, which have long constraints and deep products.
fn printed() -> Vec<(&'static str, System)> {
    let shipped = ["four-bar", "scissor-lift", "stewart"];
    let load = |name: &'static str| (name, Model::load(name).expect("it is shipped").system);
    all().into_iter().chain(shipped.map(load)).collect()
}

/// No line is wider than the terminal.
#[test]
fn lines_fit() {
    for (name, system) in printed() {
        let derivation = derive(&system, name);
        assert_eq!(derivation.to_text(), derivation.to_text_within(100), "{name}");
        for columns in [60, 80, 100, 160] {
            let page = derivation.to_text_within(columns);
            let wide = page.lines().find(|line| width(line) > columns);
            assert_eq!(wide, None, "{name} in {columns} columns");
        }
    }
}

/// In LaTeX, `\\left` and `\\right` are on one line of a display, and other parentheses balance over its lines.
#[test]
fn latex_is_balanced() {
    for (name, system) in printed() {
        for display in derive(&system, name).to_latex().split("\\begin{align*}").skip(1) {
            let display = display.split("\\end{align*}").next().unwrap_or_default();
            let count = |text: &str, what: &str| text.matches(what).count();
            for line in display.split(" \\\\\n") {
                assert_eq!(count(line, "\\left"), count(line, "\\right"), "{name}: {line}");
                assert!(line.len() < 600, "{name}: {line}");
            }
            for (open, close) in [("\\bigl(", "\\bigr)"), ("\\Bigl(", "\\Bigr)"), ("{", "}")] {
                assert_eq!(count(display, open), count(display, close), "{name}: {display}");
            }
        }
    }
}

/// A fragment is what the document shows, without the document.
#[test]
fn a_fragment_has_no_preamble() {
    let derivation = derive(&double_pendulum(), "Double pendulum");
    let (fragment, whole) = (derivation.to_latex_equations(), derivation.to_latex());
    for word in ["\\documentclass", "\\section", "\\begin{document}", "The momenta"] {
        assert!(whole.contains(word) && !fragment.contains(word), "{word}");
    }
    let displays = |text: &str| text.matches("\\begin{align*}").count();
    assert_eq!(displays(&fragment), displays(&whole));
}

/// Every element of a page is closed, and every velocity has its dot without help from a font.
#[test]
fn pages_are_whole() {
    for (name, system) in all() {
        let derivation = derive(&system, name);
        let page = derivation.to_html();
        for tag in ["span", "div", "i", "sup", "sub", "section", "svg"] {
            let count = |mark: String| page.matches(&mark).count();
            assert_eq!(
                count(format!("<{tag}>")) + count(format!("<{tag} ")),
                count(format!("</{tag}>")),
                "{name}: {tag}"
            );
        }
        assert!(page.contains("class=\"dot1"), "{name}");
        let body = page.split("</head>").nth(1).unwrap_or_default();
        let visible: String = body.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text).collect();
        for mark in ['\u{307}', '\u{308}', '˙', '¨', '∇', 'ℒ'] {
            assert!(!visible.contains(mark), "{name}: {mark} needs a font that has it");
        }
    }
}
