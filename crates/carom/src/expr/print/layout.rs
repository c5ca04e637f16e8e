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

    /// True if it is higher than a line: it contains a fraction, a root or a matrix, other than in an exponent.
    pub fn is_tall(&self) -> bool {
        match self {
            Layout::Fraction(..) | Layout::Matrix(_) | Layout::Number(Number::Ratio(_, 2..)) => true,
            Layout::Number(_) | Layout::Name(_) | Layout::Sign(_) | Layout::Words(_) => false,
            Layout::Sum(terms) => terms.iter().any(|(_, term)| term.is_tall()),
            Layout::Product(pieces) | Layout::Row(pieces) => pieces.iter().any(Layout::is_tall),
            Layout::Power(x, _) | Layout::Root(x) | Layout::Abs(x) | Layout::Parentheses(x) => x.is_tall(),
            Layout::Call(call) => call.arguments.iter().any(Layout::is_tall),
        }
    }

    /// About how wide it is in print, in letters, where fractions and matrices are set in two dimensions.
    pub fn breadth(&self) -> f64 {
        let total = |pieces: &[Layout]| pieces.iter().map(Layout::breadth).sum::<f64>();
        match self {
            Layout::Number(Number::Ratio(p, 1)) => digits(*p),
            Layout::Number(Number::Ratio(p, q)) => digits(*p).max(digits(*q)) + 0.4,
            Layout::Number(Number::Decimal(text, n)) => text.len() as f64 + if *n == 0 { 0.0 } else { 4.0 },
            Layout::Name(name) => {
                let below: f64 = name.subscripts.iter().map(|part| 0.7 * letters(part)).sum();
                letters(&name.base) + below + if name.side.is_some() { 1.0 } else { 0.0 }
            }
            Layout::Sign(sign) => sign.chars().count() as f64,
            Layout::Words(words) => words.chars().count() as f64,
            Layout::Sum(terms) => terms.iter().map(|(_, term)| term.breadth() + 2.4).sum(),
            Layout::Product(factors) => total(factors) + 0.4 * factors.len() as f64,
            Layout::Fraction(above, below) => above.breadth().max(below.breadth()) + 0.4,
            Layout::Power(base, exponent) => base.breadth() + 0.7 * exponent.breadth(),
            Layout::Root(x) | Layout::Abs(x) | Layout::Parentheses(x) => x.breadth() + 1.6,
            Layout::Call(call) => letters(call.function) + total(&call.arguments) + 1.6,
            Layout::Matrix(rows) => {
                let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
                let widest = |j| rows.iter().filter_map(|row| row.get(j)).map(Layout::breadth).fold(0.0, f64::max);
                (0..columns).map(|j| widest(j) + 2.0).sum::<f64>() + 1.0
            }
            Layout::Row(pieces) => total(pieces),
        }
    }
}

fn digits(n: u64) -> f64 {
    n.to_string().len() as f64
}

fn letters(text: &str) -> f64 {
    let letter = |c: char| match c {
        'm' | 'w' | 'M' | 'W' => 1.6,
        c if c.is_uppercase() => 1.35,
        _ => 1.0,
    };
    text.chars().map(letter).sum()
}
