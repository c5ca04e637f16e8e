//! The order in which symbols are written: numbers, parameters, coordinates and the time, velocities, accelerations.

use rustc_hash::FxHashMap;

/// What a symbol stands for, in the order in which factors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// No symbol at all.
    #[default]
    Number,
    /// A constant of the model.
    Parameter,
    /// A coordinate, or the time.
    Coordinate,
    /// A velocity or a momentum.
    Motion,
    /// An acceleration.
    Acceleration,
}

/// Ranks symbols. Those that it does not know follow the known ones of their class, by name.
#[derive(Clone, Debug, Default)]
pub struct Notation {
    ranks: FxHashMap<String, (Class, u32)>,
}

impl Notation {
    /// The order of a model: its parameters and coordinates as it lists them.
    pub fn new<'a>(
        parameters: impl IntoIterator<Item = &'a str>,
        coordinates: impl IntoIterator<Item = &'a str>,
    ) -> Notation {
        let mut notation = Notation::default();
        for name in parameters {
            notation.declare(name, Class::Parameter);
        }
        for name in coordinates {
            notation.declare(name, Class::Coordinate);
            notation.declare(&format!("{name}'"), Class::Motion);
            notation.declare(&format!("{name}''"), Class::Acceleration);
        }
        notation.declare("t", Class::Coordinate);
        notation
    }

    /// Adds a symbol after those declared before.
    pub fn declare(&mut self, name: &str, class: Class) {
        let rank = self.ranks.len() as u32;
        self.ranks.entry(name.to_owned()).or_insert((class, rank));
    }

    /// The class of a symbol and its place in it.
    pub fn rank(&self, name: &str) -> (Class, u32) {
        let plain = name.trim_end_matches(['+', '-']);
        let known = self.ranks.get(plain).copied();
        known.unwrap_or_else(|| {
            let class = match plain.len() - plain.trim_end_matches('\'').len() {
                0 => Class::Parameter,
                1 => Class::Motion,
                _ => Class::Acceleration,
            };
            (class, u32::MAX)
        })
    }
}
