//! Models whose start has parameters of its own, for sweeps.

use super::document::Which;
use super::set::entry_of_start;
use super::suggest::suggestion;
use super::{InitialMotion, Model};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, eval};
use crate::system::Parameter;

impl Model {
    /// A copy in which each of these names is a parameter, and the numbers of these parameters. An entry of the start, such as
    /// `initial.q[0]` or `initial.v.theta`, becomes a parameter with this name.
    pub(crate) fn varying(&self, names: &[&str]) -> Result<(Model, Vec<usize>)> {
        let mut model = self.clone();
        let numbers = names.iter().map(|name| model.parameter_for(name)).collect::<Result<_>>()?;
        Ok((model, numbers))
    }

    fn parameter_for(&mut self, name: &str) -> Result<usize> {
        let known = self.system.parameters.iter().position(|parameter| parameter.name == name);
        if self.structural.iter().any(|structural| structural == name) {
            let error = Diagnostic::new(format!("`{name}` is the bound of a repetition and cannot be varied"));
            return Err(error.with_help("make one sweep for each value").into());
        }
        match (known, entry_of_start(name)) {
            (Some(number), _) => Ok(number),
            (None, Some((key, entry))) => self.parameter_for_start(name, key, &entry),
            (None, None) => {
                let names = self.system.parameters.iter().map(|parameter| parameter.name.as_str());
                let error = Diagnostic::new(format!("`{name}` is neither a parameter nor an entry of the start"));
                let help = match suggestion(name, names.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "write `initial.q[0]`, `initial.v.x`, or a parameter: {}",
                        names.collect::<Vec<_>>().join(", ")
                    ),
                };
                Err(error.with_help(help).into())
            }
        }
    }

    fn parameter_for_start(&mut self, name: &str, key: &str, entry: &Which) -> Result<usize> {
        let count = self.system.coordinates.len();
        let place = match entry {
            Which::Place(place) => Some(*place).filter(|place| *place < count),
            Which::Name(name) => self.system.coordinates.iter().position(|coordinate| coordinate.name == *name),
        };
        let no_coordinate = || Diagnostic::new(format!("`{name}`: the model has no such coordinate, but {count}"));
        let place = place.ok_or_else(no_coordinate)?;
        let values = self.parameter_values();
        let no_start = || Diagnostic::new("the model has no [initial]").with_help("add `[initial]` with `q` and `v`");
        let initial = self.initial.as_mut().ok_or_else(no_start)?;
        let (list, missing) = match (key, &mut initial.motion) {
            ("q", _) => (&mut initial.q, 0),
            ("v", InitialMotion::Velocity(list)) | ("p", InitialMotion::Momentum(list)) => (list, 1),
            (_, motion) => {
                let given = match motion {
                    InitialMotion::Velocity(_) => "v",
                    InitialMotion::Momentum(_) => "p",
                    InitialMotion::Next(_) => "q1",
                };
                let error = Diagnostic::new(format!("`{name}` cannot be varied: the model starts from `{given}`"));
                return Err(error.with_help(format!("vary `initial.q` or `initial.{given}`")).into());
            }
        };
        let value = eval(&[list[place]], &values)[0];
        let symbol = Expr::symbol(name);
        list[place] = symbol;
        initial.missing[missing].retain(|i| *i != place);
        self.system.parameters.push(Parameter { name: name.into(), symbol, value });
        Ok(self.system.parameters.len() - 1)
    }
}
