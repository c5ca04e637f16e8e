//! Indices, ranges and sums: `x[i+1]`, `x[1..n]`, `i in 1..n`, `sum(i, 1, n, …)`.

use std::ops::RangeInclusive;

use super::token::Token;
use super::{Complaint, Expr, ParseError, Parser, Scope, is_reserved};

/// The largest number of values of a range, and of names that the ranges of a model make.
pub const MAX_NAMES: usize = 10_000;
/// The largest number of bytes of an expression, and of a model, that repetition reads again.
pub const MAX_REPEATED: usize = 4 << 20;
/// The largest number of variables in one `for`.
const MAX_VARIABLES: usize = 8;

/// A loop variable and its value.
pub type Loop = (String, i64);

/// One name or several: `x`, `x[3]`, `x[1..n]`, `x[i in 1..n]`.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRange {
    /// The name without its index.
    pub base: String,
    /// The loop variable, if it has a name.
    pub variable: Option<String>,
    /// The indices; none for a plain name.
    pub indices: Option<RangeInclusive<i64>>,
    /// What follows the index, as `.x`; usually nothing.
    pub member: String,
}

impl NameRange {
    /// The name with this index.
    pub fn name(&self, index: i64) -> String {
        format!("{}[{index}]{}", self.base, self.member)
    }
}

/// Reads a name or a range of names.
pub fn parse_names(text: &str, scope: &dyn Scope, loops: &[Loop]) -> Result<NameRange, ParseError> {
    let mut parser = Parser::new(text, scope, loops)?;
    let Token::Name { name, primes: 0 } = parser.now.token else {
        return Err(not_a_name(text).at(0..text.len()));
    };
    parser.advance()?;
    let mut names = NameRange { base: name.into(), variable: None, indices: None, member: String::new() };
    if parser.is_at("[") {
        parser.advance()?;
        names.variable = parser.variable_in()?;
        let from = parser.index()?;
        let to = if parser.is_at("..") { parser.range_end(from)? } else { from };
        names.indices = Some(from..=to);
        if parser.is_at("]") {
            names.member = parser.now.member(text).into();
        }
        parser.expect("]", "the index is never closed")?;
    }
    match parser.now.token {
        Token::End => Ok(names),
        _ => Err(not_a_name(text).at(parser.now.span)),
    }
}

fn not_a_name(text: &str) -> Complaint {
    let label = "a name is a letter, then letters, digits and `_`; an index may follow, as in `x[1]` or `x[1..3]`";
    Complaint::new(format!("`{}` is not a name", text.escape_debug()), label)
}

/// Reads `i in 1..n, j in i+1..n`: the values of all variables, for each round.
pub fn parse_loops(text: &str, scope: &dyn Scope, outer: &[Loop]) -> Result<Vec<Vec<Loop>>, ParseError> {
    let mut parser = Parser::new(text, scope, outer)?;
    let mut rounds = Vec::new();
    parser.rounds(outer.len(), &mut rounds)?;
    Ok(rounds)
}

impl Parser<'_> {
    /// The loops from here on, each bound of the values of those before it. `outer` variables were there before the text.
    fn rounds(&mut self, outer: usize, rounds: &mut Vec<Vec<Loop>>) -> Result<(), ParseError> {
        let span = self.now.span.clone();
        let Some(variable) = self.variable_in()? else {
            return Err(Complaint::new("not a range", "write `i in 1..n`").at(span));
        };
        if self.loops.len() >= outer + MAX_VARIABLES {
            return Err(Complaint::new(format!("more than {MAX_VARIABLES} loop variables"), "").at(span));
        }
        let from = self.index()?;
        let to = self.range_end(from)?;
        let next = self.now.clone();
        for value in from..=to {
            self.now = next.clone();
            self.loops.push((variable.clone(), value));
            match self.now.token {
                Token::End => rounds.push(self.loops[outer..].to_vec()),
                Token::Symbol(",") => {
                    self.advance()?;
                    self.repeat(self.text.len() - self.now.span.start)?;
                    self.rounds(outer, rounds)?;
                }
                _ => return Err(Complaint::new("not a range", "write `i in 1..n`").at(self.now.span.clone())),
            }
            self.loops.pop();
            if rounds.len() > MAX_NAMES {
                return Err(too_many().at(span));
            }
        }
        Ok(())
    }

    /// `i in`, if that stands here.
    fn variable_in(&mut self) -> Result<Option<String>, ParseError> {
        let start = self.now.clone();
        let Token::Name { name, primes: 0 } = start.token else { return Ok(None) };
        self.advance()?;
        if self.now.token != (Token::Name { name: "in", primes: 0 }) {
            self.now = start;
            return Ok(None);
        }
        self.advance()?;
        self.new_variable(name).map_err(|complaint| complaint.at(start.span))?;
        Ok(Some(name.into()))
    }

    /// A loop variable must not hide another name.
    fn new_variable(&self, name: &str) -> Result<(), Complaint> {
        let taken = if is_reserved(name) {
            "it is reserved"
        } else if self.scope.declares(name) {
            "it already has a meaning in the model"
        } else if self.loops.iter().any(|(other, _)| other == name) {
            "it is already a loop variable"
        } else {
            return Ok(());
        };
        Err(Complaint::new(format!("`{name}` cannot be a loop variable"), taken))
    }

    /// Steps over `..` and reads the end of the range.
    fn range_end(&mut self, from: i64) -> Result<i64, ParseError> {
        self.expect("..", "write a range, as in `1..n`")?;
        let start = self.now.span.start;
        let to = self.index()?;
        self.bounded(from, to).map_err(|complaint| complaint.at(start..self.previous_end()))?;
        Ok(to)
    }

    fn bounded(&self, from: i64, to: i64) -> Result<(), Complaint> {
        if to - from < MAX_NAMES as i64 { Ok(()) } else { Err(too_many()) }
    }

    /// A whole number: an expression of numbers, parameters and loop variables.
    pub(super) fn index(&mut self) -> Result<i64, ParseError> {
        let start = self.now.span.start;
        let outer = std::mem::replace(&mut self.in_index, true);
        let e = self.expression(0);
        self.in_index = outer;
        let e = e?;
        let value = e.as_const().unwrap_or_else(|| self.scope.value(e));
        if value.fract() == 0.0 && value.abs() <= 1e9 {
            return Ok(value as i64);
        }
        let label = if value.is_nan() {
            "it may contain numbers, parameters and loop variables".to_string()
        } else {
            format!("this is {value}")
        };
        Err(Complaint::new("an index or a bound must be a whole number", label).at(start..self.previous_end()))
    }

    /// `x[…]'`: the name has been read, the bracket has not.
    pub(super) fn indexed(&mut self, name: &str, primes: usize, start: usize) -> Result<Expr, ParseError> {
        if primes > 0 {
            let label = format!("write `{name}[…]'`");
            return Err(Complaint::new("the `'` comes after the index", label).at(start..self.now.span.end));
        }
        self.advance()?;
        let index = self.index()?;
        if !self.is_at("]") {
            return Err(Complaint::new("the index is never closed", "write `]` after it").at(self.now.span.clone()));
        }
        let member = self.now.member(self.text);
        let primes = self.now.primes(self.text);
        let span = start..self.now.span.end;
        self.advance()?;
        let meaning = self.scope.resolve(&format!("{name}[{index}]{member}"), primes);
        self.not_called(&format!("{name}[…]{member}"), meaning, span)
    }

    /// `sum(i, from, to, term)`: the name has been read, the parenthesis has not.
    pub(super) fn sum(&mut self, start: usize) -> Result<Expr, ParseError> {
        let form = || Complaint::new("not a sum", "write `sum(i, 1, n, x[i]^2)`");
        self.enter(self.now.span.start)?;
        let Token::Name { name: variable, primes: 0 } = self.now.token else {
            return Err(form().at(start..self.now.span.end));
        };
        self.new_variable(variable).map_err(|complaint| complaint.at(self.now.span.clone()))?;
        self.advance()?;
        let mut bounds = [0; 2];
        for bound in &mut bounds {
            if !self.is_at(",") {
                return Err(form().at(start..self.now.span.end));
            }
            self.advance()?;
            *bound = self.index()?;
        }
        let [from, to] = bounds;
        self.bounded(from, to).map_err(|complaint| complaint.at(start..self.previous_end()))?;
        if !self.is_at(",") {
            return Err(form().at(start..self.now.span.end));
        }
        self.advance()?;
        let term = self.now.clone();
        let mut sum = Expr::constant(0.0);
        for value in from..=to {
            self.now = term.clone();
            self.loops.push((variable.into(), value));
            let round = [(variable.to_string(), value)];
            let known = self.unknown.len();
            let read = self.expression(0);
            for found in &mut self.unknown[known..] {
                found.complaint = found.complaint.clone().in_round(&round);
            }
            sum = sum + read.map_err(|e| e.complaint.in_round(&round).at(e.span))?;
            self.loops.pop();
            self.repeat(self.now.span.start - term.span.start)?;
        }
        if from > to {
            self.skip_term()?;
        }
        self.leave()?;
        Ok(sum)
    }

    /// Steps over a term that is never read.
    fn skip_term(&mut self) -> Result<(), ParseError> {
        let mut open = 0usize;
        loop {
            match self.now.token {
                Token::Symbol("(") => open += 1,
                Token::Symbol(")") if open == 0 => return Ok(()),
                Token::Symbol(")") => open -= 1,
                Token::End => return Err(self.ends_early(self.now.span.clone())),
                _ => {}
            }
            self.advance()?;
        }
    }

    /// Counts text that is read again.
    fn repeat(&mut self, bytes: usize) -> Result<(), ParseError> {
        self.repeated += bytes;
        let too_long = if self.repeated > MAX_REPEATED { Err(too_long()) } else { Ok(()) };
        self.scope.repeat(bytes).and(too_long).map_err(|complaint| complaint.at(self.now.span.clone()))
    }

    fn expect(&mut self, symbol: &'static str, label: &str) -> Result<(), ParseError> {
        if self.is_at(symbol) {
            return self.advance();
        }
        Err(Complaint::new(format!("expected `{symbol}`"), label).at(self.now.span.clone()))
    }
}

fn too_many() -> Complaint {
    Complaint::new(format!("a range of more than {MAX_NAMES} values"), "")
}

/// The complaint of a model that repetition makes too long.
pub fn too_long() -> Complaint {
    let message = format!("repetition makes the model longer than {} MB", MAX_REPEATED >> 20);
    Complaint::new(message, "use fewer terms, or name sums in [definitions]")
}

impl Complaint {
    /// Says for which values of the loop variables it arose.
    pub fn in_round(mut self, loops: &[Loop]) -> Complaint {
        if !loops.is_empty() && !self.message.is_empty() {
            let round: Vec<String> = loops.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let round = format!("for {}", round.join(", "));
            self.label = if self.label.is_empty() { round } else { format!("{} ({round})", self.label) };
        }
        self
    }
}
