//! The format of mechanisms, sentence by sentence: each key and name means what docs/model-format.md says, in numbers that are
//! worked out here by hand.

use carom::{Model, Trajectory};

type Vector = [f64; 3];

fn model(text: &str) -> Model {
    Model::from_text("model.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

fn set(text: &str, settings: &[&str]) -> Model {
    let settings: Vec<String> = settings.iter().map(|setting| setting.to_string()).collect();
    Model::from_text("model.toml", text, &settings).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// A few steps.
fn run(text: &str) -> Trajectory {
    let run = model(text).simulation().method("midpoint").step(0.001).until(0.003).run();
    run.unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// An output at the start.
fn first(run: &Trajectory, output: &str) -> f64 {
    run.output(output).expect("an output")[0]
}

/// The place of `tip` at the start.
fn tip(text: &str) -> Vector {
    let run = run(&format!("{text}\n[outputs]\nX = \"tip.x\"\nY = \"tip.y\"\nZ = \"tip.z\"\n"));
    ["X", "Y", "Z"].map(|name| first(&run, name))
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= tolerance, "{what}: off by {off:e}\n{found:?}\n{expected:?}");
}

/// x turned by |a| about a (Rodrigues).
fn turned(a: Vector, x: Vector) -> Vector {
    let angle = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    if angle == 0.0 {
        return x;
    }
    let n = a.map(|x| x / angle);
    let cross = [n[1] * x[2] - n[2] * x[1], n[2] * x[0] - n[0] * x[2], n[0] * x[1] - n[1] * x[0]];
    let along: f64 = n.iter().zip(x).map(|(n, x)| n * x).sum();
    [0, 1, 2].map(|i| x[i] * angle.cos() + cross[i] * angle.sin() + n[i] * along * (1.0 - angle.cos()))
}

fn sum(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] + b[i])
}

const MASS: &str = "mass = 1\ninertia = [0.1, 0.1, 0.1]\n";
const POINT: &str = "[points]\ntip = {on = \"B\", at = [0.3, 0.2, 0.1]}\n";
const AT: Vector = [1.0, 2.0, 3.0];
const TURN: Vector = [0.4, -0.3, 0.9];
const PLACE: Vector = [0.3, 0.2, 0.1];

/// A point at q = 0.7 on a body whose joint is placed and turned.
#[test]
fn frames_are_where_joints_put_them() {
    let body = |joint: &str, q: &str| {
        format!(
            "[[body]]\nname = \"B\"\nat = [1, 2, 3]\nturn = [0.4, -0.3, 0.9]\n{joint}{MASS}{POINT}[initial]\nq = {q}\n"
        )
    };
    let n = [0.0, 0.6, 0.8];
    let one = "{B = 0.7}";
    let placed = |inner: Vector| sum(AT, turned(TURN, inner));
    let about = |a: Vector| placed(turned(a.map(|x| 0.7 * x), PLACE));
    let along = |a: Vector| placed(sum(a.map(|x| 0.7 * x), PLACE));
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    let cases = [
        ("", one, about(z)),
        ("joint = \"revolute\"\naxis = [0, 3, 4]\n", one, about(n)),
        ("joint = \"prismatic\"\n", one, along(x)),
        ("joint = \"prismatic\"\naxis = [0, 3, 4]\n", one, along(n)),
        ("joint = \"tx\"\n", one, along(x)),
        ("joint = \"ty\"\n", one, along(y)),
        ("joint = \"tz\"\n", one, along(z)),
        ("joint = \"rx\"\n", one, about(x)),
        ("joint = \"ry\"\n", one, about(y)),
        ("joint = \"rz\"\n", one, about(z)),
        ("joint = [\"ry\"]\ncoordinates = [\"u\"]\n", "{u = 0.7}", about(y)),
        ("joint = \"ball\"\n", "{B = {rotation = [0, 0.42, 0.56]}}", about(n)),
        ("joint = \"free\"\n", "{B = {position = [1, 2, 3], rotation = [0, 0.42, 0.56]}}", about(n)),
    ];
    for (joint, q, due) in cases {
        assert_near(&tip(&body(joint, q)), &due, 1e-15 * 8.0, joint);
    }
    // A list is applied in its order, and its joints share the origin.
    let list = "joint = [\"tx\", \"rz\", \"ty\", \"rx\"]\ncoordinates = [\"a\", \"b\", \"c\", \"d\"]\n";
    let inner = sum([0.0, 0.3, 0.0], turned([0.4, 0.0, 0.0], PLACE));
    let due = placed(sum([0.1, 0.0, 0.0], turned([0.0, 0.0, 0.2], inner)));
    assert_near(&tip(&body(list, "{a = 0.1, b = 0.2, c = 0.3, d = 0.4}")), &due, 1e-14, "a list");
}

/// A fixed body is a part of its parent: it carries points, others and mass.
#[test]
fn fixed_bodies_are_parts_of_their_parents() {
    let text = "[[body]]\nname = \"A\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n\
                [[body]]\nname = \"F\"\nparent = \"A\"\njoint = \"fixed\"\nat = [1, 2, 3]\nturn = [0.4, -0.3, 0.9]\nmass = 2\n\
                [[body]]\nname = \"B\"\nparent = \"F\"\njoint = \"rx\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n\
                [initial]\nq = {A = 0.5, B = 0.7}\nv = {A = 2}\n";
    let due = turned([0.0, 0.0, 0.5], sum(AT, turned(TURN, turned([0.7, 0.0, 0.0], PLACE))));
    assert_near(&tip(&format!("{text}{POINT}")), &due, 1e-14, "on a fixed body");
    // About z: 0.1 of A, 3 kg at a distance of √5 (F and B, whose inertia is the same about any axis), 0.1 of B.
    let energy = run(text).energy()[0];
    assert!((energy - 0.5 * 4.0 * (0.2 + 3.0 * 5.0)).abs() < 1e-13, "{energy}");
}

/// T = ω·Iω/2 with I by its six entries, about the centre of mass; V = −m g·c with g of the time.
#[test]
fn energies_are_those_of_the_inertia_and_of_gravity() {
    let text = "[parameters]\nG = 3\n[mechanism]\ngravity = [0, \"-G\", \"2*G\"]\n\
                [[body]]\nname = \"B\"\njoint = \"ball\"\nmass = 2\ncom = [0.1, 0.2, 0.3]\n\
                inertia = [0.5, 0.6, 0.7, 0.01, 0.02, 0.03]\n[initial.q]\n[initial.v]\nB = {rate = [1, 2, 3]}\n";
    let turning = 0.5 * (0.5 + 4.0 * 0.6 + 9.0 * 0.7 + 2.0 * (2.0 * 0.01 + 3.0 * 0.02 + 6.0 * 0.03));
    // ω × com = (2·0.3 − 3·0.2, 3·0.1 − 1·0.3, 1·0.2 − 2·0.1) = 0.
    let weight = -2.0 * (-3.0 * 0.2 + 6.0 * 0.3);
    let energy = run(text).energy()[0];
    assert!((energy - (turning + weight)).abs() < 1e-14, "{energy}, not {}", turning + weight);
    // Gravity of the time: v = −G t²/2, exact by the midpoint rule.
    let falls = "[parameters]\nG = 3\n[mechanism]\ngravity = [0, 0, \"-G*t\"]\n[[body]]\nname = \"B\"\njoint = \"tz\"\nmass = 2\n[initial]\nq = {}\n";
    let v = *run(falls).v("B").expect("B").last().expect("a row");
    assert!((v + 1.5 * 0.003f64.powi(2)).abs() < 1e-18, "{v}");
}

/// `stiffness`, `rest`, `damping` of each coordinate, as a number or a list; `limits` with their names.
#[test]
fn springs_dampers_and_limits_belong_to_coordinates() {
    let text = "[[body]]\nname = \"B\"\njoint = [\"tx\", \"ty\"]\ncoordinates = [\"a\", \"b\"]\nmass = 1\nstiffness = 4\nrest = [0.5, 1]\n\
                damping = [3, 7]\nlimits = [[-1, 2], [-inf, 5]]\nrestitution = 0.25\n[initial]\nq = {a = 0.5, b = 0}\nv = {a = 1}\n";
    let model = model(text);
    let names: Vec<&str> = model.system.walls.iter().map(|wall| wall.name.as_str()).collect();
    assert_eq!(names, ["a low", "a high", "b high"]);
    let run = model.simulation().method("gauss6").step(0.01).until(0.5).run().expect("a run");
    assert!((run.energy()[0] - (0.5 + 2.0)).abs() < 1e-15);
    // ẍ + 3ẋ + 4x = 0 about 0.5: x = e^{−1.5t} sin(ωt)/ω, ω² = 4 − 2.25. b is overdamped.
    let (t, omega) = (0.5f64, 1.75f64.sqrt());
    let x = 0.5 + (-1.5 * t).exp() * (omega * t).sin() / omega;
    assert!((run.q("a").expect("a").last().expect("a row") - x).abs() < 1e-12);
    let root = (49.0f64 / 4.0 - 4.0).sqrt();
    let [slow, fast] = [-3.5 + root, -3.5 - root];
    let y = 1.0 - (fast * (slow * t).exp() - slow * (fast * t).exp()) / (fast - slow);
    assert!((run.q("b").expect("b").last().expect("a row") - y).abs() < 1e-12);
}

/// L is the sum, and the coordinates of `coordinates` come first; V alone is enough beside bodies.
#[test]
fn bodies_are_added_to_a_lagrangian() {
    let text = "coordinates = [\"s\"]\n[lagrangian]\nT = \"3*s'^2/2 + s'*B'\"\nV = \"5*s + 2*B\"\n\
                [[body]]\nname = \"B\"\nmass = 1\ninertia = [1, 1, 4]\n[initial]\nq = {s = 2, B = 1}\nv = [1, 3]\n";
    let both = run(&text.replace("inertia = [1, 1, 4]", "inertia = [2, 2, 4]"));
    assert!((both.energy()[0] - (1.5 + 3.0 + 0.5 * 4.0 * 9.0 + 10.0 + 2.0)).abs() < 1e-14);
    assert_eq!([both.p("s").expect("s")[0], both.p("B").expect("B")[0]], [6.0, 13.0]);
    let only =
        "[lagrangian]\nV = \"2*B\"\n[[body]]\nname = \"B\"\nmass = 1\ninertia = [2, 2, 4]\n[initial]\nq = {B = 1}\n";
    assert_eq!(run(only).energy()[0], 2.0);
}

const FREE: &str = "[[body]]\nname = \"B\"\njoint = \"free\"\nat = [1, 0, 0]\nturn = [0, 0, \"pi/2\"]\nmass = 2\ninertia = [1, 2, 2.5]\n";

/// `B.x = …`, `B = {x = …}`, `"B.x" = …` in every section with keys, and on the command line.
#[test]
fn components_are_keys_in_every_section() {
    let ways = |x: &str, y: &str| {
        [
            format!("B.x = {x}\nB.y = {y}\n"),
            format!("B = {{x = {x}, y = {y}}}\n"),
            format!("\"B.x\" = {x}\n\"B.y\" = {y}\n"),
        ]
    };
    for section in ["forces", "initial.q", "initial.v", "initial.p"] {
        for way in ways("0.5", "2") {
            let initial = if section.starts_with("initial.q") { "" } else { "[initial.q]\n" };
            let run = run(&format!("{FREE}{initial}[{section}]\n{way}"));
            let column = |letter: &str, name: &str| match letter {
                "q" => run.q(name).expect("q")[0],
                "v" => run.v(name).expect("v")[0],
                _ => run.p(name).expect("p")[if section == "forces" { 1 } else { 0 }],
            };
            let letter = section.strip_prefix("initial.").unwrap_or("p");
            // A force acts for a step of 0.001.
            let unit = if section == "forces" { 0.001 } else { 1.0 };
            let found = [column(letter, "B.x"), column(letter, "B.y")];
            assert_near(&found, &[0.5 * unit, 2.0 * unit], 1e-16, section);
        }
    }
    let slides = "[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 1\ninertia = [1, 1, 1]\n[initial.q]\n";
    for way in ways("\"B.y\"", "\"B.x\"") {
        assert_eq!(model(&format!("{slides}[periodic]\n{way}")).problem.periodic.len(), 2);
    }
    // Settings replace what the file says, by component or by pose.
    let start = |settings: &[&str]| {
        set(&format!("{FREE}[initial.q]\nB = {{rotation = [1, 0, 0]}}\n"), settings).start().expect("a start")
    };
    assert_eq!(start(&["initial.q.B.x=0.25"]).q[..2], [0.25, 0.0]);
    assert_eq!(start(&["initial.q.B={x=0.25, y=3}"]).q[..2], [0.25, 3.0]);
    assert_eq!(start(&["initial.q.B.rotation=[0, 0, 0]"]).q[3..], [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(start(&["initial.q.B={quaternion=[0.6, 0, 0.8, 0]}"]).q[3..], [0.6, 0.0, 0.8, 0.0]);
    let turning = start(&["initial.q.B.rotation=[0, 0, 0]", "initial.v.B={rate=[2, 4, 6], velocity=[0, 1, 0]}"]);
    assert_near(&turning.v, &[1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0], 1e-15, "a rate");
    assert_eq!(start(&["initial.q[2]=7"]).q[2], 7.0);
}

/// a ⊗ b.
fn times(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let ([aw, ax, ay, az], [bw, bx, by, bz]) = (a, b);
    [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
}

/// q̇ = q⊗(0, ω)/2, p = 2q⊗(0, μ); a start from p is the start from the v that it belongs to; the sign of q stays, also through a
/// restart, and there is no row for |q| = 1.
#[test]
fn quaternions_have_the_stated_layout() {
    let text = "[[body]]\nname = \"B\"\njoint = \"ball\"\nmass = 1\ncom = [0, 0.1, 0.2]\ninertia = [1, 2, 2.5]\n[initial.q]\nB = {rotation = [0.3, 1, -2]}\n\
                [initial.v]\nB = {rate = [0.2, 9, 0.1]}\n[outputs]\no1 = \"B.omega1\"\no2 = \"B.omega2\"\no3 = \"B.omega3\"\nm1 = \"B.mu1\"\nm2 = \"B.mu2\"\nm3 = \"B.mu3\"\n";
    let (simulation, whole) = (model(text).simulation().method("midpoint").step(0.01), 1.0);
    let run = simulation.clone().until(whole).run().expect("a run");
    let four = |of: &dyn Fn(&str) -> Vec<f64>, k: usize| ["qw", "qx", "qy", "qz"].map(|c| of(&format!("B.{c}"))[k]);
    let q_of = |k: usize| four(&|name| run.q(name).expect("q").to_vec(), k);
    for k in [0, 50, 100] {
        let [o, m] =
            ["o", "m"].map(|letter| [1, 2, 3].map(|i| run.output(&format!("{letter}{i}")).expect("an output")[k]));
        let v = times(q_of(k), [0.0, o[0], o[1], o[2]]).map(|x| x / 2.0);
        let p = times(q_of(k), [0.0, m[0], m[1], m[2]]).map(|x| 2.0 * x);
        assert_near(&four(&|name| run.v(name).expect("v").to_vec(), k), &v, 1e-12, "v");
        assert_near(&four(&|name| run.p(name).expect("p").to_vec(), k), &p, 1e-12, "p");
    }
    assert!(q_of(0)[0] > 0.0);
    let jump = |k: &usize| q_of(*k).iter().zip(q_of(k + 1)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!((0..100).all(|k| jump(&k) < 0.06), "the quaternion jumps");
    let turned = (0..=100).find(|&k| q_of(k)[0] < -0.1).expect("w becomes negative");
    assert!(run.outcome().violation.is_none() && run.lambda("unit quaternion of B").is_err());
    // A restart there.
    let part = simulation.clone().until(0.01 * turned as f64).run().expect("a run");
    let rest = simulation.clone().resume(part.state().clone()).until(whole).run().expect("a run");
    assert_near(&rest.outcome().last.q, &run.outcome().last.q, 1e-11, "after a restart");
    // The momenta of the start, instead of its velocities.
    let p = four(&|name| run.p(name).expect("p").to_vec(), 0);
    let by_p = text.replace(
        "[initial.v]\nB = {rate = [0.2, 9, 0.1]}\n",
        &format!("[initial.p]\nB = {{qw = {:?}, qx = {:?}, qy = {:?}, qz = {:?}}}\n", p[0], p[1], p[2], p[3]),
    );
    let (by_p, by_v) = (model(&by_p).start().expect("a start"), model(text).start().expect("a start"));
    assert_near(&by_p.v, &by_v.v, 1e-13, "v of p");
    let across = text
        .replace("[initial.v]\nB = {rate = [0.2, 9, 0.1]}\n", "[initial]\np = [1, 0, 0, 0]\n")
        .replace("[initial.q]\nB = {rotation = [0.3, 1, -2]}\n", "")
        .replace("[initial]\n", "[initial]\nq = [1, 0, 0, 0]\n");
    let refused = model(&across).start().expect_err("p along q").to_string();
    assert!(refused.contains("do not belong to a motion"), "{refused}");
}

/// `project` makes quaternions units and rates tangent, and leaves the attitude and the momenta as they are.
#[test]
fn projection_normalises_quaternions() {
    let text = "[[body]]\nname = \"B\"\njoint = \"ball\"\nmass = 1\ninertia = [1, 2, 2.5]\n[initial]\nq = [1.2, 0, 0, 1.6]\nv = [1, 3, 0, 0.5]\nproject = true\n";
    let start = model(text).start().expect("a start");
    assert_near(&start.q, &[0.6, 0.0, 0.0, 0.8], 1e-15, "q");
    // q·v = 0.6 + 0.4 = 1.
    assert_near(&start.v, &[0.4, 3.0, 0.0, -0.3], 1e-15, "v");
}

/// The position and the velocity of a free body are those of its origin, whatever its joint frame is.
#[test]
fn poses_of_free_bodies_are_in_the_frame_of_the_parent() {
    let text = format!(
        "{FREE}[points]\ntip = {{on = \"B\"}}\n[initial.q]\nB = {{position = [4, 5, 6]}}\n[initial.v]\nB = {{velocity = [1, 2, 3]}}\n\
                        [outputs]\nU = \"tip.x'\"\nV = \"tip.y'\"\nW = \"tip.z'\"\nX = \"tip.x\"\nY = \"tip.y\"\nZ = \"tip.z\"\n"
    );
    let run = run(&text);
    assert_near(
        &["X", "Y", "Z", "U", "V", "W"].map(|name| first(&run, name)),
        &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0],
        1e-14,
        "a free body",
    );
    let planar = "[mechanism]\ndimension = 2\n[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 1\ninertia = 1\n[initial.q]\nB = {position = [1, 2], rotation = 0.5}\n\
                  [initial.v]\nB = {velocity = [3, 4], rate = 5}\n";
    let start = model(planar).start().expect("a start");
    assert_eq!((start.q, start.v), (vec![1.0, 2.0, 0.5], vec![3.0, 4.0, 5.0]));
}

/// A weight that hangs from a string: λ of a step is tension·h/length. A joined point: the rows `loop x`, `loop y`, `loop z`.
#[test]
fn multipliers_are_tensions() {
    let free = "[mechanism]\ngravity = [0, 0, -10]\n[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 3\ninertia = [1, 1, 1]\n[points]\nA = {on = \"B\"}\n";
    let hung = run(&format!(
        "{free}P = {{on = \"ground\", at = [0, 0, 2]}}\n[[constraint]]\nname = \"string\"\ndistance = [\"A\", \"P\"]\nlength = 2\n[initial]\nq = {{}}\n"
    ));
    let lambda = hung.lambda("string").expect("a row")[1];
    assert!((lambda * 2.0 / 0.001 - 30.0).abs() < 1e-9, "{lambda}");
    let held = run(&format!(
        "{free}P = [0, 0, 0]\n[[constraint]]\nname = \"loop\"\njoin = [\"A\", \"P\"]\n[initial]\nq = {{}}\n"
    ));
    let rows = ["loop x", "loop y", "loop z"].map(|row| held.lambda(row).expect("a row")[1]);
    // D₂L_d + D₁L_d = λ Dg: the weight itself, downwards.
    assert_near(&rows, &[0.0, 0.0, -30.0 * 0.001], 1e-12, "the rows of a join");
}

/// A push at a point by name, a driven joint, and a force by name do the work of a force.
#[test]
fn pushes_and_drives_act_at_points() {
    let text = "[[body]]\nname = \"base\"\njoint = \"tx\"\n[[body]]\nname = \"B\"\nparent = \"base\"\nmass = 1\ncom = [1, 0, 0]\n[points]\ntip = {on = \"B\", at = [2, 0, 0]}\n\
                [prescribed]\nbase = \"3*t^2/2\"\n[[push]]\nat = \"tip\"\nforce = [0, 5, 0]\n[initial]\nq = {B = \"pi/2\"}\n";
    // At 90° the base, accelerated along x by 3, turns the bob by −3·(−1) = 3; the push along y has no arm there.
    let run = run(text);
    let rate = run.v("B").expect("B")[1] / 0.001;
    assert!((rate - 3.0).abs() < 1e-4, "{rate}");
    let pushed = text.replace("\"pi/2\"", "0");
    let rate = self::run(&pushed).v("B").expect("B")[1] / 0.001;
    assert!((rate - 10.0).abs() < 1e-4, "{rate}");
}

/// φ = n·(x − through) with n normalised; spheres keep points inside, or outside.
#[test]
fn planes_and_spheres_are_free_on_the_stated_side() {
    let free = "[[body]]\nname = \"B\"\njoint = \"free\"\nmass = 1\ninertia = [1, 1, 1]\n[points]\na = {on = \"B\", at = [1, 0, 0]}\ncentre = [0, 0, 4]\n";
    let cases = [
        ("plane = {through = [0, 0, 1], normal = [0, -3, -4]}\nname = \"floor\"", 0.8, "floor: a"),
        ("plane = {through = \"centre\", normal = [0, 0, -2]}\nradius = 0.5", 3.5, "contact 1: a"),
        ("sphere = {center = \"centre\", radius = 5}", (25.0 - 17.0) / 10.0, "contact 1: a"),
        (
            "sphere = {center = \"centre\", radius = 2}\nside = \"outside\"\nradius = 0.5",
            (17.0 - 6.25) / 5.0,
            "contact 1: a",
        ),
    ];
    for (shape, gap, name) in cases {
        let model = model(&format!("{free}[[contact]]\npoints = \"a\"\n{shape}\n[initial]\nq = {{}}\n"));
        let start = model.start().expect("a start");
        let values: Vec<_> = model.system.q().into_iter().zip(start.q).collect();
        let wall = &model.system.walls[0];
        assert_eq!(wall.name, name);
        let found = carom::lab::expr::eval(&[wall.phi], &values)[0];
        assert!((found - gap).abs() < 1e-14, "{shape}: {found}, not {gap}");
    }
}

/// Points of expressions are known to definitions unless they use definitions themselves.
#[test]
fn definitions_use_points_and_points_use_definitions() {
    let text = "[[body]]\nname = \"B\"\nmass = 1\ninertia = [1, 1, 1]\n[points]\nlater = [\"s\", 0, 0]\npeg = [\"B\", 2, 3]\n\
                [definitions]\ns = \"peg.x + peg.z\"\n[outputs]\na = \"later.x\"\nb = \"later.x'\"\n[initial]\nq = {B = 0.5}\nv = {B = 2}\n";
    let run = run(text);
    assert_eq!([first(&run, "a"), first(&run, "b")], [3.5, 2.0]);
    let names: Vec<String> = model(text).points.iter().map(|point| point.name.clone()).collect();
    assert_eq!(names, ["later", "peg"]);
}
