//! Names: repetition equals the model written out, starts by name equal those by position, and new functions reserve no names.

use carom::lab::error::{Error, Result};
use carom::lab::expr::{Expr, substitute};
use carom::lab::model::{Model, Shape, Start};

/// Functions and constants that a model may use as names of its own.
const SOFT: [&str; 9] = ["min", "max", "hypot", "sum", "sign", "floor", "if", "deg", "force"];

fn read(text: &str) -> Model {
    with_settings(text, &[]).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

fn with_settings(text: &str, settings: &[&str]) -> Result<Model> {
    let settings: Vec<String> = settings.iter().map(|setting| setting.to_string()).collect();
    Model::from_text("model.toml", text, &settings)
}

fn start(text: &str, settings: &[&str]) -> Start {
    let model = with_settings(text, settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
    model.start().unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

#[test]
fn a_word_that_is_not_reserved_is_the_models_own() {
    for word in SOFT {
        let parameter =
            read(&format!("coordinates = [\"x\"]\n[parameters]\n{word} = 2\n[lagrangian]\nL = \"{word}*x'^2\"\n"));
        assert_eq!(parameter.system.lagrangian.l, Expr::symbol(word) * Expr::symbol("x'").squared(), "{word}");
        let coordinate = read(&format!("coordinates = [\"{word}\"]\n[lagrangian]\nL = \"{word}'^2 - {word}^2\"\n"));
        let [q, v] = [word.to_string(), format!("{word}'")].map(|name| Expr::symbol(&name));
        assert_eq!(coordinate.system.lagrangian.l, v.squared() - q.squared(), "{word}");
        let text =
            format!("coordinates = [\"x\"]\n[definitions]\n{word} = \"x^3\"\n[lagrangian]\nL = \"x'^2 - {word}\"\n");
        let x = Expr::symbol("x");
        assert_eq!(read(&text).system.lagrangian.l, Expr::symbol("x'").squared() - x.pow(3), "{word}");
        let called = text.replace("- {word}", "").replace(&format!("- {word}"), &format!("- {word}(x, 1)"));
        let error = with_settings(&called, &[]).expect_err("a definition is no function").to_string();
        assert!(error.starts_with(&format!("error: `{word}` is not a function")), "{error}");
    }
}

/// A name that is declared later does not have its built-in meaning before.
#[test]
fn a_word_declared_later_is_not_a_function_before() {
    let text = "coordinates = [\"x\"]\n[parameters]\na = \"2*deg\"\ndeg = 1\n[lagrangian]\nL = \"a*x'^2\"\n";
    let error = with_settings(text, &[]).expect_err("`deg` comes later").to_string();
    assert!(error.starts_with("error: unknown name `deg`"), "{error}");
}

const CHAIN: &str = r#"
coordinates = ["theta[1..n]"]
[parameters]
n = 3
L = 0.5
[definitions]
"x[0]" = 0
"x[i in 1..n]" = "x[i-1] + L*sin(theta[i])"
"y[i in 1..n]" = "sum(j, 1, i, -L*cos(theta[j]))"
[lagrangian]
T = "sum(i, 1, n, i*(x[i]'^2 + y[i]'^2)/2)"
V = "9.81*sum(i, 1, n, i*y[i])"
[[wall]]
name = "left"
for = "i in 1..n"
phi = "x[i] + 2"
[[constraint]]
for = "i in 2..n"
g = "theta[i] - theta[i-1] - i/10"
[forces]
"theta[i in 1..n]" = "-0.1*i*theta[i]'"
[points]
"bob[i in 0..n-1]" = ["x[i]", 0]
[[draw]]
link = ["bob[0..n-1]"]
[initial]
q = {"theta[1]" = 0.1, "theta[2]" = 0.3, "theta[n]" = "3*0.2"}
v = {}
"#;

const WRITTEN_OUT: &str = r#"
coordinates = ["a", "b", "c"]
[parameters]
n = 3
L = 0.5
[definitions]
x1 = "L*sin(a)"
x2 = "x1 + L*sin(b)"
x3 = "x2 + L*sin(c)"
y1 = "-L*cos(a)"
y2 = "-L*cos(a) - L*cos(b)"
y3 = "-L*cos(a) - L*cos(b) - L*cos(c)"
[lagrangian]
T = "(x1'^2 + y1'^2)/2 + 2*(x2'^2 + y2'^2)/2 + 3*(x3'^2 + y3'^2)/2"
V = "9.81*(y1 + 2*y2 + 3*y3)"
[[wall]]
name = "left[1]"
phi = "x1 + 2"
[[wall]]
name = "left[2]"
phi = "x2 + 2"
[[wall]]
name = "left[3]"
phi = "x3 + 2"
[[constraint]]
name = "constraint 1[2]"
g = "b - a - 2/10"
[[constraint]]
name = "constraint 1[3]"
g = "c - b - 3/10"
[forces]
a = "-0.1*1*a'"
b = "-0.1*2*b'"
c = "-0.1*3*c'"
[points]
"bob[0]" = [0, 0]
"bob[1]" = ["x1", 0]
"bob[2]" = ["x2", 0]
[[draw]]
link = ["bob[0]", "bob[1]", "bob[2]"]
[initial]
q = [0.1, 0.3, 0.6]
v = [0, 0, 0]
"#;

/// Repetition gives the same nodes of the expression graph as the model written out.
#[test]
fn repetition_is_what_one_would_write_out() {
    let (short, long) = (read(CHAIN), read(WRITTEN_OUT));
    let from: Vec<Expr> = long.system.q().into_iter().chain(long.system.v()).collect();
    let to: Vec<Expr> = short.system.q().into_iter().chain(short.system.v()).collect();
    let same = |what: &str, short: &[Expr], long: &[Expr]| {
        assert_eq!(short, substitute(long, &from, &to), "{what}");
    };
    let all = |model: &Model| {
        let walls = model.system.walls.iter().map(|wall| wall.phi);
        let constraints = model.system.constraints.iter().map(|constraint| constraint.g);
        let points = model.points.iter().flat_map(|point| point.at);
        let links = model.drawings.iter().flat_map(|drawing| match &drawing.shape {
            Shape::Link(places) => places.concat(),
            other => panic!("{other:?} is no link"),
        });
        let forces = model.system.forces.iter().copied();
        walls.chain(constraints).chain(points).chain(links).chain(forces).collect::<Vec<Expr>>()
    };
    same("walls, constraints, points, links, forces", &all(&short), &all(&long));
    let names = |model: &Model| {
        let walls = model.system.walls.iter().map(|wall| wall.name.clone());
        let constraints = model.system.constraints.iter().map(|constraint| constraint.name.clone());
        walls.chain(constraints).chain(model.points.iter().map(|point| point.name.clone())).collect::<Vec<String>>()
    };
    assert_eq!(names(&short), names(&long));
    let energies = |model: &Model| model.system.lagrangian.parts.map(|(t, v)| [t, v]).expect("T and V are given");
    let (short_energies, long_energies) = (energies(&short), substitute(&energies(&long), &from, &to));
    let values: Vec<(Expr, f64)> = to.iter().enumerate().map(|(i, &x)| (x, 0.3 + 0.7 * i as f64)).collect();
    let values: Vec<(Expr, f64)> = values.into_iter().chain(short.parameter_values()).collect();
    let (a, b) = (carom::lab::expr::eval(&short_energies, &values), carom::lab::expr::eval(&long_energies, &values));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= 1e-14 * a.abs(), "{a} {b}");
    }
    assert_eq!(short.structural, ["n"]);
    assert_eq!(short.system.coordinates[2].name, "theta[3]");
}

/// The command line can set a parameter that is a bound.
#[test]
fn another_bound_makes_another_system() {
    let model = with_settings(CHAIN, &["n=7"]).expect("seven links are as good as three");
    assert_eq!((model.system.coordinates.len(), model.system.walls.len()), (7, 7));
    let none = with_settings(&CHAIN.replace("theta[n]", "theta[1]").replace("\"theta[1]\" = 0.1, ", ""), &["n=1"]);
    assert!(none.is_err_and(|error| error.to_string().contains("theta[2]")), "the start names a second link");
}

const DRIVEN: &str = r#"
coordinates = ["a", "b", "c"]
[parameters]
w = 2
[lagrangian]
T = "(a'^2 + b'^2 + c'^2)/2 + a'*b'"
[prescribed]
b = "1 + sin(w*t)"
"#;

#[test]
fn a_start_by_name_is_that_by_place() {
    let by_place = start(&format!("{DRIVEN}[initial]\nq = [0.5, 1, 0]\nv = [0, 2, 0.25]\n"), &[]);
    let named = start(&format!("{DRIVEN}[initial]\nq = {{a = \"1/w\"}}\nv = {{c = 0.25}}\n"), &[]);
    assert_eq!((&by_place.q, &by_place.v, &by_place.p), (&named.q, &named.v, &named.p));
    assert!(by_place.notes.is_empty());
    let missing = ["`initial.q` has no c: it is 0", "`initial.q` has no b: it is as prescribed"];
    let missing_v = ["`initial.v` has no a: it is 0", "`initial.v` has no b: it is as prescribed"];
    assert_eq!(named.notes, [missing, missing_v].concat());
    let momenta = start(&format!("{DRIVEN}[initial]\nq = {{a = 0.5}}\np = {{a = 2, c = 0.25}}\n"), &[]);
    assert_eq!((momenta.q, momenta.v), (by_place.q, by_place.v));
    let text = format!("{DRIVEN}[initial]\nq = {{a = 0.5}}\nq1 = {{a = 0.6}}\n[run]\nstep = 0.125\n");
    let next = start(&text, &[]).next.expect("the second configuration");
    assert_eq!(next, [0.6, 1.0 + (2.0f64 * 0.125).sin(), 0.0]);
}

/// `--set initial.q[0]` and `--set initial.q.a` work with either form, and without any.
#[test]
fn one_entry_of_a_start_can_be_set_by_place_and_by_name() {
    let by_place = format!("{DRIVEN}[initial]\nq = [0.5, 1, 0]\nv = [0, 2, 0.25]\n");
    let by_name = format!("{DRIVEN}[initial]\nq = {{a = 0.5}}\nv = {{c = 0.25}}\n");
    for text in [&by_place, &by_name] {
        for settings in [["initial.q[0]=3", "initial.v[2]=-1"], ["initial.q.a=3", "initial.v.c=-1"]] {
            let start = start(text, &settings);
            assert_eq!((start.q[0], start.v[2]), (3.0, -1.0), "{settings:?}");
        }
        let start = start(text, &["initial.q.a=3", "initial.q=[7, 1, 8]", "initial.q.c=9"]);
        assert_eq!(start.q, [7.0, 1.0, 9.0]);
    }
    let start = start(DRIVEN, &["initial.q.a=3", "initial.v={}"]);
    assert_eq!(start.q, [3.0, 1.0, 0.0]);
}

#[test]
fn indexed_parameters_can_be_set() {
    let text = "coordinates = [\"x\"]\n[parameters]\nn = 3\n\"m[i in 1..n]\" = \"i^2\"\n[lagrangian]\nL = \"sum(i, 1, n, m[i])*x'^2\"\n";
    let values = |settings: &[&str]| {
        let model = with_settings(text, settings).expect("it is a model");
        model.system.parameters.iter().map(|p| p.value).collect::<Vec<f64>>()
    };
    assert_eq!(values(&[]), [3.0, 1.0, 4.0, 9.0]);
    assert_eq!(values(&["m[2]=7", "parameters.m[3]=8"]), [3.0, 1.0, 7.0, 8.0]);
}

#[test]
fn a_model_has_at_most_four_megabytes() {
    let text = format!("coordinates = [\"x\"]\n[lagrangian]\nL = \"x'^2{}\"\n", " + x".repeat(1 << 20));
    let error = with_settings(&text, &[]).expect_err("it is too large").to_string();
    assert_eq!(error, "error: `model.toml` is too large for a model: more than 4 MB");
}

/// Unused declarations, and angles that are probably meant in degrees.
#[test]
fn warnings_name_what_is_seldom_meant() {
    let text = "coordinates = [\"x\", \"a\"]\n[parameters]\nm = 1\nc = 2\n\"k[1..3]\" = 1\n\"u[1..3]\" = 1\n[definitions]\ny = \"x\"\n\
                [lagrangian]\nT = \"m*(x'^2 + a'^2)/2\"\nV = \"-k[2]*cos(a)*x^2\"\n[initial]\nq = [60, 60]\nv = [0, 0]\n";
    let model = read(text);
    let warnings: Vec<&str> = model.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let unused =
        ["the parameter `c` is not used", "the parameter `u[1..3]` is not used", "the definition `y` is not used"];
    assert_eq!(warnings, unused);
    let warnings: Vec<String> = start(text, &[]).warnings.iter().map(|warning| warning.message.clone()).collect();
    assert_eq!(warnings, ["the angle `a` starts at 60 rad, more than a full turn"]);
    assert!(start(text, &["initial.q.a=60*deg"]).warnings.is_empty());
    assert!(start(&text.replace("cos(a)", "cos(a)*a"), &[]).warnings.is_empty());
}

#[test]
fn shipped_models_have_no_warnings() {
    for example in carom::lab::catalogue::EXAMPLES {
        let model = Model::from_text(example.name, example.text, &[]).expect("a shipped model");
        let start = model.start().expect("a shipped model starts");
        let warnings: Vec<String> = model.warnings.iter().chain(&start.warnings).map(|w| w.body()).collect();
        assert!(warnings.is_empty(), "{}:\n{}", example.name, warnings.join("\n"));
    }
}

/// A mistake that only follows from another is not reported.
#[test]
fn each_mistake_is_told_once() {
    let text = CHAIN.replace("n = 3\n", "n = 2.5\n");
    let Err(Error::Model(mistake)) = with_settings(&text, &[]) else { panic!("2.5 is no bound") };
    assert!(mistake.others.is_empty(), "{}", mistake.others[0]);
    let text = CHAIN.replace("x[i-1] + L", "x[i-1] + M");
    let Err(Error::Model(mistake)) = with_settings(&text, &[]) else { panic!("M is not declared") };
    assert!(mistake.others.is_empty(), "{}", mistake.others[0]);
}
