//! The names of what is differentiated, and of what it is differentiated by.

use crate::error::{Diagnostic, Result};
use crate::model::control::Signal;
use crate::model::{InitialMotion, Model, suggestion};

/// A quantity that is differentiated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of {
    /// A coordinate, a velocity or a momentum at the end.
    Final(Component, usize),
    /// The time of an impact.
    ImpactTime(usize),
    /// The impulse of an impact.
    ImpactLambda(usize),
    /// A coordinate at an impact.
    ImpactQ(usize, usize),
    /// The time at which a wall begins or ceases to hold.
    Rest(usize),
    /// An output at the end.
    Output(usize),
    /// The objective of the control problem, along the run.
    Objective,
}

/// What `--of` asks for, before the number of impacts is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    One(Of),
    /// The times and impulses of all impacts.
    Impacts,
}

/// A variable by which is differentiated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum By {
    /// A parameter.
    Parameter(usize),
    /// A component of the start.
    Initial(Component, usize),
    /// A control on one of its intervals.
    Control(usize, usize),
}

/// What `--by` asks for, before the number of steps is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Asked {
    One(By),
    /// A control on all intervals.
    Control(usize),
}

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Q,
    V,
    P,
}

impl Component {
    fn letter(self) -> char {
        match self {
            Component::Q => 'q',
            Component::V => 'v',
            Component::P => 'p',
        }
    }
}

impl Of {
    pub(super) fn name(self, model: &Model) -> String {
        match self {
            Of::Final(component, i) => format!("final.{}[{i}]", component.letter()),
            Of::ImpactTime(k) => format!("impacts[{k}].t"),
            Of::ImpactLambda(k) => format!("impacts[{k}].lambda"),
            Of::ImpactQ(k, i) => format!("impacts[{k}].q[{i}]"),
            Of::Rest(k) => format!("rest[{k}].t"),
            Of::Output(i) => format!("outputs.{}", model.outputs[i].name),
            Of::Objective => "objective".into(),
        }
    }
}

impl By {
    pub(super) fn name(self, model: &Model) -> String {
        match self {
            By::Parameter(k) => model.system.parameters[k].name.clone(),
            By::Initial(component, i) => format!("initial.{}[{i}]", component.letter()),
            By::Control(c, k) => format!("{}[{k}]", model.problem.controls[c].name),
        }
    }
}

/// Reads one name of `--of`.
pub(super) fn read_of(name: &str, model: &Model) -> Result<Vec<Wanted>> {
    let n = model.system.coordinates.len();
    let all = |component| (0..n).map(move |i| Wanted::One(Of::Final(component, i)));
    if name == "final" {
        return Ok([Component::Q, Component::V, Component::P].into_iter().flat_map(all).collect());
    }
    if name == "impacts" {
        return Ok(vec![Wanted::Impacts]);
    }
    if name == "objective" {
        if model.problem.objective.is_empty() {
            let help = "add `[objective]` with `running = \"u^2\"`, or `final`";
            return Err(Diagnostic::new("the model has no [objective]").with_help(help).into());
        }
        return Ok(vec![Wanted::One(Of::Objective)]);
    }
    if let Some(output) = name.strip_prefix("outputs.") {
        let names = || model.outputs.iter().map(|output| output.name.as_str());
        let Some(number) = names().position(|known| known == output) else {
            return Err(unknown("output", output, names()));
        };
        return Ok(vec![Wanted::One(Of::Output(number))]);
    }
    let parts: Vec<&str> = name.split('.').collect();
    let of = match parts[..] {
        ["final", part] => {
            if let Some(component) = component(part) {
                return Ok(all(component).collect());
            }
            indexed(part).and_then(|(part, i)| Some(Of::Final(component(part)?, in_range(i, n)?)))
        }
        [list, part] => match indexed(list) {
            Some(("impacts", k)) => match part {
                "t" => Some(Of::ImpactTime(k)),
                "lambda" => Some(Of::ImpactLambda(k)),
                _ => indexed(part).and_then(|(part, i)| (part == "q").then_some(Of::ImpactQ(k, in_range(i, n)?))),
            },
            Some(("rest", k)) if part == "t" => Some(Of::Rest(k)),
            _ => None,
        },
        _ => None,
    };
    let wrong = || {
        let known = "`final.q[0]`, `final.v[0]`, `final.p[0]`, `impacts[0].t`, `impacts[0].lambda`, `impacts[0].q[0]`, \
                     `rest[0].t`, `outputs.name`, `objective`, `final` or `impacts`";
        let range =
            if n == 1 { "there is one coordinate".into() } else { format!("coordinates count from 0 to {}", n - 1) };
        Diagnostic::new(format!("cannot differentiate `{name}`")).with_help(format!("give {known}; {range}"))
    };
    Ok(vec![Wanted::One(of.ok_or_else(wrong)?)])
}

/// Reads one name of `--by`. `view` says whether the start is regarded as (q, v) or (q, p).
pub(super) fn read_by(name: &str, model: &Model, view: Component) -> Result<Vec<Asked>> {
    let system = &model.system;
    let free = system.free();
    let all = |component| free.iter().map(move |&i| Asked::One(By::Initial(component, i)));
    match name {
        "initial" => return Ok([Component::Q, view].into_iter().flat_map(all).collect()),
        "parameters" => {
            let is_number = |k: &usize| !model.structural.contains(&system.parameters[*k].name);
            let numbers = (0..model.plain_parameters().len()).filter(is_number);
            return Ok(numbers.map(|k| Asked::One(By::Parameter(k))).collect());
        }
        _ => {}
    }
    if let Some(control) = read_control(name, model)? {
        return Ok(vec![control]);
    }
    if let Some(part) = name.strip_prefix("initial.") {
        if let Some(component) = component(part) {
            return Ok(all(component).collect());
        }
        let found =
            indexed(part).and_then(|(part, i)| Some((component(part)?, in_range(i, system.coordinates.len())?)));
        let Some((component, i)) = found else {
            let help = format!(
                "give `initial.q[0]` … `initial.q[{}]`, `initial.v[0]` … or `initial.p[0]` …",
                free.len().max(1) - 1
            );
            return Err(Diagnostic::new(format!("the start has no `{name}`")).with_help(help).into());
        };
        if !free.contains(&i) {
            let message = format!("`{}` is driven, so its start cannot be varied", system.coordinates[i].name);
            return Err(Diagnostic::new(message).with_help("differentiate by a parameter of its motion").into());
        }
        return Ok(vec![Asked::One(By::Initial(component, i))]);
    }
    let names = || system.parameters.iter().map(|parameter| parameter.name.as_str());
    let Some(number) = names().position(|known| known == name) else {
        let what = if model.problem.controls.is_empty() { "parameter" } else { "parameter or control" };
        return Err(unknown(what, name, names()));
    };
    if model.structural.iter().any(|structural| structural == name) {
        let message = format!("`{name}` is the bound of a repetition, so there is no derivative by it");
        return Err(Diagnostic::new(message).with_help("give another parameter").into());
    }
    Ok(vec![Asked::One(By::Parameter(number))])
}

/// A control, `u` on all intervals or `u[3]` on one; none if there is no such control.
fn read_control(name: &str, model: &Model) -> Result<Option<Asked>> {
    let problem = &model.problem;
    let number = |name: &str| problem.controls.iter().position(|control| control.name == name);
    let one = || {
        let (control, rest) = name.rsplit_once('[')?;
        Some((number(control)?, Some(rest.strip_suffix(']')?.parse::<usize>().ok()?)))
    };
    let Some((control, interval)) = number(name).map(|control| (control, None)).or_else(one) else { return Ok(None) };
    if problem.phases.is_empty() && matches!(problem.controls[control].value, Signal::Function(_)) {
        let name = &problem.controls[control].name;
        let message = format!("the control `{name}` is a function of time, so it has no steps");
        return Err(Diagnostic::new(message).with_help("give its `value` as a list, or add `[[phase]]`").into());
    }
    Ok(Some(interval.map_or(Asked::Control(control), |k| Asked::One(By::Control(control, k)))))
}

/// The variables of a run whose controls have this number of intervals.
pub(super) fn expand_by(asked: &[Asked], model: &Model, intervals: usize) -> Result<Vec<By>> {
    let mut all: Vec<By> = Vec::new();
    for asked in asked {
        let more: Vec<By> = match *asked {
            Asked::Control(c) => (0..intervals).map(|k| By::Control(c, k)).collect(),
            Asked::One(by @ By::Control(_, k)) if k >= intervals => {
                let message = format!("there is no `{}`", by.name(model));
                let help = format!("the controls have {intervals} steps, which count from 0 to {}", intervals - 1);
                return Err(Diagnostic::new(message).with_help(help).into());
            }
            Asked::One(by) => vec![by],
        };
        more.into_iter().for_each(|by| {
            if !all.contains(&by) {
                all.push(by);
            }
        });
    }
    Ok(all)
}

/// Whether `[initial]` gives velocities or momenta.
pub(super) fn view_of(model: &Model) -> Component {
    match model.initial.as_ref().map(|initial| &initial.motion) {
        Some(InitialMotion::Momentum(_)) => Component::P,
        _ => Component::V,
    }
}

fn component(part: &str) -> Option<Component> {
    match part {
        "q" => Some(Component::Q),
        "v" => Some(Component::V),
        "p" => Some(Component::P),
        _ => None,
    }
}

/// `name[3]` as its name and index.
fn indexed(part: &str) -> Option<(&str, usize)> {
    let (name, rest) = part.split_once('[')?;
    Some((name, rest.strip_suffix(']')?.parse().ok()?))
}

fn in_range(i: usize, n: usize) -> Option<usize> {
    (i < n).then_some(i)
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> crate::error::Error {
    let names: Vec<&str> = known.clone().collect();
    let help = match suggestion(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => format!("the model has no {what}s"),
        None => format!("the {what}s are {}", names.join(", ")),
    };
    Diagnostic::new(format!("the model has no {what} `{name}`")).with_help(help).into()
}
