//! Random chaotic systems with impacts, whose data are doubles without an error.

use crate::Random;

/// A random system.
pub struct Chaotic {
    /// What it is.
    pub kind: &'static str,
    /// The model.
    pub text: String,
    /// The start.
    pub q: Vec<f64>,
    /// The velocities at the start.
    pub v: Vec<f64>,
    /// The end time.
    pub until: f64,
}

/// A random system of any kind.
pub fn random_system(random: &mut Random) -> Chaotic {
    const KINDS: [fn(&mut Random) -> Chaotic; 8] =
        [scatterers, gas, comb, gear, wedge, ring, double_pendulum, henon_heiles];
    KINDS[random.below(KINDS.len())](random)
}

fn system(kind: &'static str, lagrangian: &str, walls: &[String], q: Vec<f64>, v: Vec<f64>, until: f64) -> Chaotic {
    let names: Vec<String> = match q.len() {
        2 => vec!["x".into(), "y".into()],
        n => (0..n / 2).flat_map(|i| [format!("x{i}"), format!("y{i}")]).collect(),
    };
    let walls: String = walls.iter().map(|phi| format!("[[wall]]\nphi = \"{phi}\"\n")).collect();
    let text = format!(
        "coordinates = {names:?}\n[lagrangian]\n{lagrangian}\n{walls}[initial]\nq = {q:?}\nv = {v:?}\n[run]\nuntil = {until:?}\n"
    );
    Chaotic { kind, text, q, v, until }
}

/// A number with few binary digits, so that short sums and products of such are exact.
fn short(random: &mut Random, a: f64, b: f64) -> f64 {
    (random.between(a, b) * 1024.0).round() / 1024.0
}

fn velocity(random: &mut Random, speed: f64) -> Vec<f64> {
    let angle = random.between(0.0, std::f64::consts::TAU);
    vec![speed * angle.cos(), speed * angle.sin()]
}

const PARTICLE: &str = "T = \"(x'^2 + y'^2)/2\"";

/// Sinai's billiard: a particle in a box with round scatterers.
fn scatterers(random: &mut Random) -> Chaotic {
    let [a, b] = [0; 2].map(|_| short(random, 0.8, 1.6));
    let mut walls = vec![format!("x + {a:?}"), format!("{a:?} - x"), format!("y + {b:?}"), format!("{b:?} - y")];
    let disks: Vec<[f64; 3]> = (0..1 + random.below(3))
        .map(|_| [short(random, -a, a), short(random, -b, b), short(random, 0.15, 0.4)])
        .collect();
    let is_root = random.below(2) == 0;
    walls.extend(disks.iter().map(|[x, y, r]| match is_root {
        true => format!("sqrt((x - ({x:?}))^2 + (y - ({y:?}))^2) - {r:?}"),
        false => format!("(x - ({x:?}))^2 + (y - ({y:?}))^2 - {r:?}^2"),
    }));
    let mut place = || [short(random, -0.95 * a, 0.95 * a), short(random, -0.95 * b, 0.95 * b)];
    let is_free = |q: &[f64; 2]| disks.iter().all(|[x, y, r]| (q[0] - x).hypot(q[1] - y) > r + 0.02);
    let q = std::iter::repeat_with(&mut place).find(is_free).expect("there is room");
    let speed = random.between(0.5, 2.0);
    let until = short(random, 4.0, 25.0);
    system("scatterers", PARTICLE, &walls, q.to_vec(), velocity(random, speed), until)
}

/// Hard disks in a box, with different masses.
fn gas(random: &mut Random) -> Chaotic {
    let n = 2 + random.below(2);
    let (r, m) = (short(random, 0.12, 0.2), (0..n).map(|_| short(random, 0.5, 2.0)).collect::<Vec<_>>());
    let mut walls = Vec::new();
    for i in 0..n {
        walls.extend([format!("x{i} - {r:?}"), format!("{:?} - x{i}", 1.0 - r)]);
        walls.extend([format!("y{i} - {r:?}"), format!("{:?} - y{i}", 1.0 - r)]);
        walls.extend((0..i).map(|j| format!("sqrt((x{i} - x{j})^2 + (y{i} - y{j})^2) - {:?}", 2.0 * r)));
    }
    let corners = [[0.27, 0.27], [0.73, 0.71], [0.29, 0.74]];
    let q = (0..n).flat_map(|i| corners[i].map(|x| x + random.between(-0.01, 0.01))).collect();
    let v = (0..n).flat_map(|_| velocity(random, 1.0)).collect();
    let terms: Vec<String> = (0..n).map(|i| format!("{:?}*(x{i}'^2 + y{i}'^2)/2", m[i])).collect();
    system("gas", &format!("T = \"{}\"", terms.join(" + ")), &walls, q, v, short(random, 2.0, 8.0))
}

/// A particle that falls on a wavy floor.
fn comb(random: &mut Random) -> Chaotic {
    let (amplitude, k) = (short(random, 0.02, 0.1), 4 + random.below(13));
    let lagrangian = format!("{PARTICLE}\nV = \"{:?}*y\"", short(random, 8.0, 11.0));
    let walls = [format!("y - {amplitude:?}*sin({k}*x)")];
    let (q, v) = (vec![random.between(-1.0, 1.0), random.between(0.3, 0.8)], vec![random.between(-1.0, 1.0), 0.0]);
    system("comb", &lagrangian, &walls, q, v, short(random, 2.0, 6.0))
}

/// A toothed wheel that hits a sliding body; y is its angle.
fn gear(random: &mut Random) -> Chaotic {
    let (depth, teeth) = (short(random, 0.05, 0.15), 3 + random.below(6));
    let walls = [format!("x - {depth:?}*cos({teeth}*y)"), "2 - x".to_string()];
    let v = vec![random.between(-2.0, -0.3), random.between(2.0, 25.0)];
    let (q, until) = (vec![1.0, random.between(0.0, 6.0)], short(random, 2.0, 6.0));
    system("gear", "T = \"x'^2/2 + 2*y'^2/2\"", &walls, q, v, until)
}

/// A particle that falls into a wedge.
fn wedge(random: &mut Random) -> Chaotic {
    let [left, right] = [0; 2].map(|_| short(random, 0.3, 2.0));
    let walls = [format!("y + {left:?}*x"), format!("y - {right:?}*x")];
    let lagrangian = format!("{PARTICLE}\nV = \"{:?}*y\"", short(random, 0.5, 10.0));
    let (q, v) = (vec![random.between(-0.3, 0.3), random.between(1.0, 2.0)], velocity(random, 1.0));
    system("wedge", &lagrangian, &walls, q, v, short(random, 10.0, 40.0))
}

/// A particle between a circle and a smaller one inside, off its middle.
fn ring(random: &mut Random) -> Chaotic {
    let (r, x) = (short(random, 0.2, 0.5), short(random, 0.1, 0.4));
    let walls = ["1 - x^2 - y^2".to_string(), format!("(x - {x:?})^2 + y^2 - {r:?}^2")];
    let q = vec![random.between(-0.75, -0.5), random.between(-0.3, 0.3)];
    let until = short(random, 4.0, 20.0);
    system("ring", PARTICLE, &walls, q, velocity(random, 1.0), until)
}

/// A double pendulum beside a wall; x and y are its angles.
fn double_pendulum(random: &mut Random) -> Chaotic {
    let m = short(random, 0.5, 2.0);
    let lagrangian = format!(
        "T = \"x'^2/2 + {m:?}*(x'^2 + y'^2 + 2*x'*y'*cos(x - y))/2\"\nV = \"-10*cos(x) - 10*{m:?}*(cos(x) + cos(y))\""
    );
    let walls = [format!("sin(x) + sin(y) + {:?}", short(random, 0.1, 1.0))];
    let q = vec![random.between(0.5, 2.5), random.between(0.5, 2.5)];
    let v = vec![random.between(-2.0, 2.0), random.between(-2.0, 2.0)];
    system("double pendulum", &lagrangian, &walls, q, v, short(random, 3.0, 9.0))
}

/// Hénon and Heiles' particle between two walls.
fn henon_heiles(random: &mut Random) -> Chaotic {
    let walls = [format!("{:?} - x", short(random, 0.1, 0.4)), format!("y + {:?}", short(random, 0.1, 0.3))];
    let lagrangian = format!("{PARTICLE}\nV = \"(x^2 + y^2)/2 + x^2*y - y^3/3\"");
    let (q, speed) = (vec![random.between(-0.2, 0.05), random.between(-0.05, 0.2)], random.between(0.35, 0.48));
    let until = short(random, 20.0, 80.0);
    system("Hénon–Heiles", &lagrangian, &walls, q, velocity(random, speed), until)
}
