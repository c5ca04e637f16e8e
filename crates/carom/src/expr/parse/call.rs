//! Names and functions.

use std::ops::Range;

use super::token::Token;
use super::{Complaint, Expr, Func, ParseError, Parser, hint, is_function};

/// Reading ends after this number of names without a meaning.
const MOST_UNKNOWN: usize = 20;

impl Parser<'_> {
    /// The meaning of a name that has been read.
    pub(super) fn name(&mut self, name: &str, primes: usize, span: Range<usize>) -> Result<Expr, ParseError> {
        let called = self.is_at("(");
        if is_function(name) {
            let complaint = |label: String| Complaint::new(format!("`{name}` is a function"), label);
            return match (primes, called) {
                (0, true) => self.function(name, span),
                (0, false) => Err(complaint(format!("write `{name}(…)`")).at(span)),
                _ => Err(complaint("it has no time derivative".into()).at(span)),
            };
        }
        if let Some(&(_, value)) = self.loops.iter().rev().find(|(variable, _)| variable == name) {
            let value = match primes {
                0 => Ok(Expr::constant(value as f64)),
                _ => Err(Complaint::new(format!("the loop variable `{name}` has no `'`"), "remove the `'`")),
            };
            return self.not_called(name, value, span);
        }
        if self.is_at("[") {
            return self.indexed(name, primes, span.start);
        }
        if let Some((stem, member)) = name.split_once('.') {
            let is_foreign = called && matches!(member, "diff" | "dot" | "derivative");
            if !self.scope.has_members(stem) || is_foreign {
                return Err(hint::member(stem, member).at(span.start..span.start + name.len()));
            }
            let meaning = self.scope.resolve(name, primes);
            return self.not_called(name, meaning, span);
        }
        if !self.scope.declares(name) && primes == 0 {
            match name {
                "deg" if !called => return Ok(Expr::pi() / 180.0),
                "sum" if called => return self.sum(span.start),
                "force" if called => return self.force(span),
                "min" | "max" | "hypot" | "sign" | "floor" | "if" if called => return self.function(name, span),
                _ => {}
            }
        }
        match name {
            "pi" if primes == 0 => return Ok(Expr::pi()),
            "t" | "pi" if primes > 0 => {
                return Err(Complaint::new(format!("`{name}` has no `'`"), "remove the `'`").at(span));
            }
            _ => {}
        }
        let meaning = self.scope.resolve(name, primes);
        self.not_called(name, meaning, span)
    }

    /// The meaning of a name that is no function; a parenthesis must not follow.
    pub(super) fn not_called(
        &mut self,
        name: &str,
        meaning: Result<Expr, Complaint>,
        span: Range<usize>,
    ) -> Result<Expr, ParseError> {
        if !self.is_at("(") {
            return match meaning {
                Err(complaint) if !self.in_index && self.unknown.len() < MOST_UNKNOWN => {
                    let is_new =
                        |known: &ParseError| known.span != span && known.complaint.message != complaint.message;
                    if self.unknown.iter().all(is_new) {
                        self.unknown.push(complaint.at(span));
                    }
                    Ok(Expr::symbol(name))
                }
                meaning => meaning.map_err(|complaint| complaint.at(span)),
            };
        }
        self.advance()?;
        let argument = match self.now.token {
            Token::Name { name, .. } => Some(name),
            _ => None,
        };
        let label = match (meaning, argument) {
            (Ok(_), Some("t")) => format!("write `{name}` alone: it need not say that it depends on t"),
            (Ok(_), _) => format!("to multiply, write `{name}*(…)`"),
            (Err(_), argument) => hint::function(name, argument).unwrap_or_else(known_functions),
        };
        Err(Complaint::new(format!("`{name}` is not a function"), label).at(span))
    }

    /// A function's value: its name has been read, the parenthesis has not.
    fn function(&mut self, name: &str, span: Range<usize>) -> Result<Expr, ParseError> {
        if matches!(name, "sign" | "floor" | "if") && !self.scope.allows_jumps() {
            let label = "it is discontinuous, and carom does not locate discontinuities of the equations of motion";
            return Err(Complaint::new(format!("`{name}` can be used in `[outputs]` only"), label).at(span));
        }
        self.enter(self.now.span.start)?;
        let mut arguments = vec![if name == "if" { self.condition()? } else { self.expression(0)? }];
        while self.is_at(",") {
            self.advance()?;
            arguments.push(self.expression(0)?);
        }
        self.leave()?;
        let plain = Func::NAMED.into_iter().find(|f| f.name() == name);
        let (value, form) = match (name, arguments.as_slice()) {
            ("atan2", &[y, x]) => (Some(y.atan2(x)), ""),
            ("min", &[first, ref rest @ ..]) => (rest.iter().copied().reduce(Expr::min).map(|x| first.min(x)), "x, y"),
            ("max", &[first, ref rest @ ..]) => (rest.iter().copied().reduce(Expr::max).map(|x| first.max(x)), "x, y"),
            ("hypot", all @ [_, _, ..]) => (Some(all.iter().map(|x| x.squared()).sum::<Expr>().sqrt()), ""),
            ("sign", &[x]) => (Some(x.sign()), ""),
            ("floor", &[x]) => (Some(x.floor()), ""),
            ("if", &[condition, yes, no]) => (Some(condition.choose(yes, no)), ""),
            (_, &[x]) if plain.is_some() => (plain.map(|f| x.apply(f)), ""),
            ("atan2", _) => (None, "y, x"),
            ("hypot", _) => (None, "x, y"),
            ("if", _) => (None, "x > 0, a, b"),
            _ => (None, "x"),
        };
        value.ok_or_else(|| {
            let count = match arguments.len() {
                1 => "one argument".into(),
                n => format!("{n} arguments"),
            };
            let complaint =
                Complaint::new(format!("`{name}` does not take {count}"), format!("write `{name}({form})`"));
            complaint.at(span.start..self.previous_end())
        })
    }

    /// `force("floor")`: the only function of a name in quotes, so that quotes are no tokens. The parenthesis has not been read.
    fn force(&mut self, span: Range<usize>) -> Result<Expr, ParseError> {
        let open = self.now.span.start;
        let rest = self.text[self.now.span.end..].trim_start();
        let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c));
        let Some((wall, _)) = quote.and_then(|quote| rest[1..].split_once(quote)) else {
            let label = "write `force('floor')` with the name of a wall or a contact";
            return Err(Complaint::new("`force` takes a name in quotes", label).at(span));
        };
        let start = self.text.len() - rest.len() + 1;
        let whole = start..start + wall.len();
        let force = self.scope.force(wall).map_err(|complaint| complaint.at(whole.clone()))?;
        self.now.at = whole.end + 1;
        self.enter(open)?;
        self.leave()?;
        Ok(force)
    }

    /// A comparison: 1 where it holds, 0 where it does not.
    fn condition(&mut self) -> Result<Expr, ParseError> {
        let start = self.now.span.start;
        let left = self.expression(0)?;
        let Token::Symbol(sign @ ("<" | ">" | "<=" | ">=" | "==" | "!=")) = self.now.token else {
            let complaint = Complaint::new("`if` needs a comparison", "write `if(x > 0, a, b)`");
            return Err(complaint.at(start..self.previous_end()));
        };
        self.advance()?;
        let right = self.expression(0)?;
        let above = |x: Expr, y: Expr| (x - y).sign().max(0.0);
        Ok(match sign {
            ">" => above(left, right),
            "<" => above(right, left),
            ">=" => 1.0 - above(right, left),
            "<=" => 1.0 - above(left, right),
            "!=" => (left - right).sign().abs(),
            _ => 1.0 - (left - right).sign().abs(),
        })
    }
}

fn known_functions() -> String {
    let names: Vec<&str> = Func::NAMED.iter().map(|f| f.name()).collect();
    format!(
        "the functions are {}, atan2, min, max, hypot, sum, and in [outputs] sign, floor, if, force",
        names.join(", ")
    )
}
