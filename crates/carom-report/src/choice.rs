//! The choice of panels and variables, `--show energy,theta1`.

use carom::lab::error::{Diagnostic, Result};
use carom::lab::model::{Model, suggestion};

/// A panel of the plots of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// The coordinates over the time.
    Coordinates,
    /// The velocities over the time.
    Velocities,
    /// Velocities over coordinates.
    Phase,
    /// The energies over the time.
    Energy,
    /// The gaps of the walls over the time.
    Gaps,
    /// The impulses of the impacts.
    Impulses,
    /// The impulses of the constraints.
    Constraints,
    /// The outputs of the model.
    Outputs,
    /// The paths of points in the plane.
    Paths,
}

impl Panel {
    /// All panels, with their names.
    const NAMES: [(&'static str, Panel); 9] = [
        ("coordinates", Panel::Coordinates),
        ("velocities", Panel::Velocities),
        ("phase", Panel::Phase),
        ("energy", Panel::Energy),
        ("gaps", Panel::Gaps),
        ("impulses", Panel::Impulses),
        ("constraints", Panel::Constraints),
        ("outputs", Panel::Outputs),
        ("paths", Panel::Paths),
    ];

    /// The panel with a name, in the plural or in the singular.
    fn named(word: &str) -> Option<Panel> {
        let is_it = |name: &str| {
            word == name || name.strip_suffix('s') == Some(word) || (word, name) == ("velocity", "velocities")
        };
        Panel::NAMES.iter().find(|(name, _)| is_it(name)).map(|(_, panel)| *panel)
    }

    /// What the panel needs and the model does not have.
    fn lacks(self, model: &Model) -> Option<&'static str> {
        let (is_empty, what) = match self {
            Panel::Gaps | Panel::Impulses => (model.system.walls.is_empty(), "walls"),
            Panel::Constraints => (model.system.stated_constraints().is_empty(), "constraints"),
            Panel::Outputs => (model.outputs.is_empty(), "outputs"),
            Panel::Paths => (model.points.is_empty(), "points"),
            _ => (false, ""),
        };
        is_empty.then_some(what)
    }
}

/// Panels, each with its variables by index; without any, those that the panel shows by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// In the order in which they are shown.
    pub panels: Vec<(Panel, Vec<usize>)>,
}

impl Choice {
    /// Reads a list of panels and variables, separated by commas.
    pub fn new(model: &Model, list: &str) -> Result<Choice> {
        let mut choice = Choice::default();
        // A name may contain a comma.
        let whole = [list.trim()];
        let words: Vec<&str> =
            if variable(model, whole[0]).is_some() { whole.to_vec() } else { list.split(',').map(str::trim).collect() };
        for word in words {
            let (panel, index) = match (Panel::named(word), variable(model, word)) {
                // A coordinate may be called `energy`.
                (_, Some((panel, index))) => (panel, Some(index)),
                (Some(panel), None) => (panel, None),
                (None, None) => return Err(unknown(model, word).into()),
            };
            if let (Some(what), None) = (panel.lacks(model), index) {
                let message = format!("`--show {word}`: the model has no {what}");
                return Err(Diagnostic::new(message).with_help("leave it out").into());
            }
            match choice.panels.iter_mut().find(|(other, _)| *other == panel) {
                Some((_, indices)) => indices.extend(index),
                None => choice.panels.push((panel, index.into_iter().collect())),
            }
        }
        Ok(choice)
    }
}

/// The panel and the index of a variable.
fn variable(model: &Model, word: &str) -> Option<(Panel, usize)> {
    let system = &model.system;
    let velocities: Vec<String> = system.coordinates.iter().map(|c| format!("{}'", c.name)).collect();
    let all: [(Panel, Vec<&str>); 6] = [
        (Panel::Coordinates, system.coordinates.iter().map(|c| c.name.as_str()).collect()),
        (Panel::Velocities, velocities.iter().map(String::as_str).collect()),
        (Panel::Outputs, model.outputs.iter().map(|output| output.name.as_str()).collect()),
        (Panel::Gaps, system.walls.iter().map(|wall| wall.name.as_str()).collect()),
        (Panel::Constraints, system.stated_constraints().iter().map(|constraint| constraint.name.as_str()).collect()),
        (Panel::Paths, model.points.iter().map(|point| point.name.as_str()).collect()),
    ];
    all.iter().find_map(|(panel, names)| Some((*panel, names.iter().position(|name| *name == word)?)))
}

fn unknown(model: &Model, word: &str) -> Diagnostic {
    let panels = Panel::NAMES.iter().map(|(name, _)| *name);
    let names = model.system.coordinates.iter().map(|c| c.name.as_str());
    let names = names.chain(model.outputs.iter().map(|output| output.name.as_str()));
    let names = names.chain(model.system.walls.iter().map(|wall| wall.name.as_str()));
    let names = names.chain(model.points.iter().map(|point| point.name.as_str()));
    let help = match suggestion(word, names.chain(panels)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let panels: Vec<&str> = Panel::NAMES.iter().map(|(name, _)| *name).collect();
            format!(
                "give panels ({}), or names of coordinates, outputs, walls, constraints and points",
                panels.join(", ")
            )
        }
    };
    Diagnostic::new(format!("`--show` knows no panel and no variable `{word}`")).with_help(help)
}
