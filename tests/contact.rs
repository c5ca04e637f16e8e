//! `[[contact]]` expands into the walls that one would write by hand.

use carom::lab::expr::{Expr, eval, grad};
use carom::lab::mechanics::Node;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Impact, Status, Watcher};
use carom::lab::simulation::Simulation;
use carom_tests::Random;

/// A jack: a rigid cross in the plane, shaken in a box, whose two tips hit.
const JACK: &str = r#"
    coordinates = ["x", "y", "theta"]
    [parameters]
    W = 1.0
    a = 0.1
    [definitions]
    shake = "a*sin(5*t)"
    [lagrangian]
    T = "(x'^2 + y'^2)/2 + theta'^2/20"
    V = "9.81*y"
    [initial]
    q = [0.2, 0.3, 0.4]
    v = [0.7, 0, 2]
    [points]
    tip1 = ["x + 0.3*sin(theta)", "y - 0.3*cos(theta)"]
    tip2 = ["x - 0.3*sin(theta)", "y + 0.3*cos(theta)"]
    corner = ["shake - W", "0"]
"#;

const CONTACT: &str = r#"
    [[contact]]
    name = "box"
    points = ["tip1", "tip2"]
    box = [["shake - W", "-W"], ["shake + W", "W"]]
    restitution = "1 - a"
"#;

/// The walls of the jack's contacts, written by hand.
fn by_hand() -> String {
    let mut text = String::new();
    for (tip, sign) in [("tip1", "+"), ("tip2", "-")] {
        let (x, y) = (format!("x {sign} 0.3*sin(theta)"), format!("y - ({sign}0.3)*cos(theta)").replace("(+", "("));
        let gaps = [
            ("left", format!("{x} - (shake - W)")),
            ("right", format!("shake + W - ({x})")),
            ("bottom", format!("{y} + W")),
            ("top", format!("W - ({y})")),
        ];
        for (side, phi) in gaps {
            let name = format!("box {side}: {tip}");
            text += &format!("[[wall]]\nname = \"{name}\"\nphi = \"{phi}\"\nrestitution = \"1 - a\"\n");
        }
    }
    text
}

fn model(contact: &str) -> Model {
    Model::from_text("jack.toml", &format!("{JACK}{contact}"), &[]).expect("the model is right")
}

#[derive(Default)]
struct Record(Vec<(usize, Node)>);

impl Watcher for Record {
    fn impact(&mut self, impact: Impact) {
        self.0.push((impact.wall, impact.plus));
    }
}

fn run(model: &Model) -> (Vec<(usize, Node)>, Node) {
    let method = Method::named("gauss4+ctec", None).expect("it is registered");
    let mut record = Record::default();
    let simulation = Simulation::new(model, &method, 0.01, 2.0).expect("it compiles");
    let outcome = simulation.watch(&mut record).expect("it runs");
    assert_eq!(outcome.status, Status::Completed);
    (record.0, outcome.last)
}

#[test]
fn a_box_is_the_walls_that_one_would_write() {
    let (contact, hand) = (model(CONTACT), model(&by_hand()));
    let names = |model: &Model| model.system.walls.iter().map(|wall| wall.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&contact), names(&hand));
    let symbols = ["x", "y", "theta", "t", "W", "a"].map(Expr::symbol);
    let mut random = Random::new(7);
    for _ in 0..100 {
        let values: Vec<(Expr, f64)> = symbols.map(|symbol| (symbol, random.between(-2.0, 2.0))).to_vec();
        for (a, b) in contact.system.walls.iter().zip(&hand.system.walls) {
            let [a_phi, b_phi] = [a, b].map(|wall| eval(&[wall.phi, wall.restitution], &values));
            let off = (a_phi[0] - b_phi[0]).abs().max((a_phi[1] - b_phi[1]).abs());
            assert!(off < 1e-14, "{}: {off:e} at {values:?}", a.name);
        }
    }
}

#[test]
fn a_box_runs_as_the_walls_that_one_would_write() {
    let ((impacts, last), (by_hand, last_by_hand)) = (run(&model(CONTACT)), run(&model(&by_hand())));
    assert!(impacts.len() >= 5, "only {} impacts", impacts.len());
    assert_eq!(impacts.len(), by_hand.len());
    for ((wall, node), (wall_by_hand, node_by_hand)) in impacts.iter().zip(&by_hand) {
        assert_eq!(wall, wall_by_hand, "at t = {}", node.t);
        assert!((node.t - node_by_hand.t).abs() < 1e-9, "{} and {}", node.t, node_by_hand.t);
    }
    for (a, b) in last.q.iter().zip(&last_by_hand.q) {
        assert!((a - b).abs() < 1e-8, "{a} and {b}");
    }
}

/// A ball is its centre, kept away by the radius.
#[test]
fn a_radius_moves_the_wall_in() {
    let shapes = [
        ("line = [[3, 0], [1, 4]]", 0.2),
        ("box = [[-1, -1], [1, 1]]", 0.2),
        ("circle = {center = [0.1, 0], radius = 0.7}", 0.2),
        ("circle = {center = [0.1, 0], radius = 0.7}\nside = \"outside\"", 0.2),
    ];
    let mut random = Random::new(11);
    for (shape, r) in shapes {
        let walls = |radius: &str| {
            let text = format!(
                "coordinates = [\"x\", \"y\"]\n[parameters]\nr = {r}\n[lagrangian]\nT = \"(x'^2 + y'^2)/2\"\n\
                 [points]\np = [\"x\", \"y\"]\n[[contact]]\npoints = \"p\"\n{shape}\n{radius}\n"
            );
            Model::from_text("ball.toml", &text, &[]).expect("the model is right").system.walls
        };
        for (point, ball) in walls("").iter().zip(&walls("radius = \"r\"")) {
            assert_eq!(point.name, ball.name);
            for _ in 0..20 {
                let place = ["x", "y", "r"].map(Expr::symbol).into_iter().zip([
                    random.between(-2.0, 2.0),
                    random.between(-2.0, 2.0),
                    r,
                ]);
                let [gap, less] = [point, ball].map(|wall| eval(&[wall.phi], &place.clone().collect::<Vec<_>>())[0]);
                // ±(R² − d²)/(2R) is a distance at the wall only: solved for the distance.
                let distance = |gap: f64, radius: f64| match shape.contains("outside") {
                    true => (radius * radius + 2.0 * radius * gap).sqrt() - radius,
                    false => radius - (radius * radius - 2.0 * radius * gap).sqrt(),
                };
                let (full, rest) = match (shape.contains("circle"), shape.contains("outside")) {
                    (false, _) => (gap, less),
                    (true, outside) => (distance(gap, 0.7), distance(less, if outside { 0.7 + r } else { 0.7 - r })),
                };
                assert!((full - r - rest).abs() < 1e-13, "{}: {full} less {r} is not {rest}", ball.name);
            }
        }
    }
}

/// λ is an impulse because φ grows as fast as the distance: everywhere for lines and boxes, at the wall for circles.
#[test]
fn gaps_are_distances() {
    let shapes = r#"
        coordinates = ["x", "y"]
        [parameters]
        R = 0.7
        alpha = 0.3
        [lagrangian]
        T = "(x'^2 + y'^2)/2"
        [points]
        p = ["x", "y"]
        peg = [0, 0]
        [[contact]]
        name = "slope"
        points = "all"
        line = [[0, -2], ["cos(alpha)", "sin(alpha) - 2"]]
        [[contact]]
        name = "other slope"
        points = "p"
        line = [[3, 0], [1, 4]]
        [[contact]]
        name = "box"
        points = "all"
        box = [[-1, -1], [1, 1]]
        [[contact]]
        name = "cup"
        points = "all"
        circle = {center = [0.1, 0], radius = "R"}
        [[contact]]
        name = "peg"
        points = "all"
        circle = {center = [0.1, 0], radius = "R"}
        side = "outside"
    "#;
    let model = Model::from_text("shapes.toml", shapes, &[]).expect("the model is right");
    assert_eq!(model.system.walls.len(), 8, "pegs cannot touch");
    let q = model.system.q();
    let mut random = Random::new(3);
    for _ in 0..100 {
        let angle = random.between(0.0, 6.3);
        for wall in &model.system.walls {
            let round = wall.name.starts_with("cup") || wall.name.starts_with("peg");
            let r = if round { 0.7 } else { random.between(0.0, 3.0) };
            let mut values = model.parameter_values();
            values.extend([(q[0], 0.1 + r * angle.cos()), (q[1], r * angle.sin())]);
            let slope = eval(&grad(wall.phi, &q), &values);
            let size = slope[0].hypot(slope[1]);
            assert!((size - 1.0).abs() < 1e-14, "{}: |∇φ| = {size} at {values:?}", wall.name);
        }
    }
    let at = |name: &str, x: f64, y: f64| {
        let wall = model.system.walls.iter().find(|wall| wall.name == name).expect("it is there");
        let values = [model.parameter_values(), vec![(q[0], x), (q[1], y)]].concat();
        eval(&[wall.phi], &values).into_iter().chain(eval(&grad(wall.phi, &q), &values)).collect::<Vec<f64>>()
    };
    assert!((at("slope: p", 0.0, -1.0)[0] - 0.3f64.cos()).abs() < 1e-15, "free on the left");
    assert!((at("other slope: p", 0.0, 0.0)[0] - 6.0 / 5f64.sqrt()).abs() < 1e-15);
    assert_eq!(at("cup: p", 0.1, 0.0), [0.35, 0.0, 0.0], "smooth at the centre");
    assert!(at("peg: p", 2.0, 0.0)[0] > 0.0 && at("peg: p", 0.2, 0.0)[0] < 0.0);
}

/// A line between two parameters: its direction is a sign, and not a quotient of a length by itself.
#[test]
fn a_line_from_minus_w_to_w_derives_without_roots() {
    let text = r#"
        coordinates = ["x", "y"]
        [parameters]
        W = 2.0
        [lagrangian]
        T = "(x'^2 + y'^2)/2"
        [points]
        p = ["x", "y"]
        [[contact]]
        points = "p"
        line = [["-W", 0], ["W", 0]]
    "#;
    let model = Model::from_text("line.toml", text, &[]).expect("the model is right");
    let derivation = carom::lab::derive::derive(&model.system, "").to_text();
    assert!(derivation.contains("sgn(W) y") && !derivation.contains('√'), "{derivation}");
    // Free on the left: above for W > 0, below for W < 0.
    let (phi, q, w) = (model.system.walls[0].phi, model.system.q(), model.system.parameters[0].symbol);
    for (width, gap) in [(2.0, 0.5), (-2.0, -0.5)] {
        assert_eq!(eval(&[phi], &[(w, width), (q[0], 9.0), (q[1], 0.5)]), [gap], "W = {width}");
    }
}
