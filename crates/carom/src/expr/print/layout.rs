//! The shape of a formula, before it is written in any language.
//!
//! What is a fraction, where parentheses go, which sign a term has, in which order factors stand: all that is decided
//! once, in [`super::compose`]; the backends only spell it.

use super::name::Name;
use super::number::Number;

/// A formula's shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// A nonnegative number.
    Number(Number),
    /// A symbol.
    Name(Name),
    /// A sign such as ∇ or d, upright.
    Sign(&'static str),
    /// Words in place of a formula.
    Words(String),
    /// Terms; true for a term that is subtracted.
    Sum(Vec<(bool, Layout)>),
    /// Factors; sums among them are already in parentheses.
    Product(Vec<Layout>),
    /// A numerator over a denominator.
    Fraction(Box<Layout>, Box<Layout>),
    /// A base, in parentheses where it needs them, and an exponent.
    Power(Box<Layout>, Box<Layout>),
    /// A square root.
    Root(Box<Layout>),
    /// |x|.
    Abs(Box<Layout>),
    /// A function's value.
    Call(Call),
    /// (x).
    Parentheses(Box<Layout>),
    /// A matrix, by rows.
    Matrix(Vec<Vec<Layout>>),
    /// Pieces that stand side by side without a space.
    Row(Vec<Layout>),
}

/// A function applied to its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// As it is written: `sin`, `arctan`.
    pub function: &'static str,
    /// 2 in sin² θ.
    pub power: Option<u32>,
    /// The arguments.
    pub arguments: Vec<Layout>,
    /// True if it can do without parentheses: cos θ.
    pub bare: bool,
}

impl Layout {
    /// A symbol by its name in a model.
    pub fn name(text: &str) -> Layout {
        Layout::Name(Name::parse(text))
    }

    /// A whole number.
    pub fn whole(n: u64) -> Layout {
        Layout::Number(Number::Ratio(n, 1))
    }

    /// a/b.
    pub fn over(self, denominator: Layout) -> Layout {
        Layout::Fraction(Box::new(self), Box::new(denominator))
    }

    /// (self).
    pub fn parenthesized(self) -> Layout {
        Layout::Parentheses(Box::new(self))
    }

    /// True for a whole number.
    pub fn is_whole(&self) -> bool {
        matches!(self, Layout::Number(Number::Ratio(_, 1)))
    }

    /// As a factor of a product or a base of a power: in parentheses if it is a sum.
    pub fn as_factor(self) -> Layout {
        match self {
            Layout::Sum(_) => self.parenthesized(),
            other => other,
        }
    }

    /// As the base of a power.
    pub fn as_base(self) -> Layout {
        let simple = match &self {
            Layout::Name(name) => name.side.is_none(),
            Layout::Parentheses(_) | Layout::Abs(_) => true,
            number => number.is_whole(),
        };
        if simple { self } else { self.parenthesized() }
    }
}
