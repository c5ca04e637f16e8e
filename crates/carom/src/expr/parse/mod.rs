//! Text to expression: a Pratt parser with byte spans.
//!
//! ```text
//! expr    = term  (("+" | "-") term)*            left-associative
//! term    = unary (("*" | "/") unary)*           left-associative
//! unary   = "-" unary | power
//! power   = atom ("^" unary)?                    right-associative, binds tighter than the minus before it
//! atom    = number | name ("." name)? "'"* | name "[" expr "]" ("." name)? "'"* | "(" expr ")"
//!         | function "(" expr ("," expr)* ")" | "sum" "(" name "," expr "," expr "," expr ")"
//!         | "force" "(" quoted text ")"
//!         | "if" "(" expr ("<" | ">" | "<=" | ">=" | "==" | "!=") expr "," expr "," expr ")"
//! ```

mod call;
mod hint;
mod repeat;
mod token;

use std::ops::Range;

pub use repeat::{Loop, MAX_NAMES, MAX_REPEATED, NameRange, parse_loops, parse_names, too_long};
pub use token::is_name;
use token::{Cursor, Token};

use super::{Expr, Func, eval};

/// Deeper nesting than this is an error.
pub const MAX_NESTING: usize = 1000;

/// What names mean.
pub trait Scope {
    /// The meaning of `name`, which may end with an index, followed by `primes` apostrophes; or why there is none.
    fn resolve(&self, name: &str, primes: usize) -> Result<Expr, Complaint>;

    /// True if the model gives `name` a meaning: then it is no function, unless it is reserved.
    fn declares(&self, _name: &str) -> bool {
        false
    }

    /// True if `name` is a point or a body: `name.x` may mean something.
    fn has_members(&self, _name: &str) -> bool {
        false
    }

    /// True if functions that jump may be used.
    fn allows_jumps(&self) -> bool {
        true
    }

    /// The normal force of a wall or a contact, by its name.
    fn force(&self, _wall: &str) -> Result<Expr, Complaint> {
        Err(Complaint::new("`force` can be used in `[outputs]` only", "no wall is known here"))
    }

    /// The value of a bound or an index; NaN where it has none.
    fn value(&self, e: Expr) -> f64 {
        eval(&[e], &[])[0]
    }

    /// Takes note of where a part of an expression stands; the parts of a part come before it.
    fn note(&self, _part: Expr, _span: Range<usize>) {}

    /// Counts bytes that a repetition reads again.
    fn repeat(&self, _bytes: usize) -> Result<(), Complaint> {
        Ok(())
    }
}

/// What is wrong with a piece of text, and what to write instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    /// What is wrong.
    pub message: String,
    /// What to say beside the place.
    pub label: String,
}

/// A complaint and the bytes of the text that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// The bytes.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub complaint: Complaint,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.complaint.message)
    }
}

impl std::error::Error for ParseError {}

/// What is wrong with an expression: all names without a meaning, and what ended the reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistakes {
    /// The first.
    pub first: ParseError,
    /// The others, in order.
    pub others: Vec<ParseError>,
}

impl From<ParseError> for Mistakes {
    fn from(first: ParseError) -> Mistakes {
        Mistakes { first, others: Vec::new() }
    }
}

impl Complaint {
    /// A complaint, with what to say beside the place.
    pub fn new(message: impl Into<String>, label: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), label: label.into() }
    }

    /// No complaint of its own: something that this uses was complained about.
    pub fn consequence() -> Complaint {
        Complaint::new("", "")
    }

    fn at(self, span: Range<usize>) -> ParseError {
        ParseError { span, complaint: self }
    }
}

/// Reads an expression.
pub fn parse(text: &str, scope: &dyn Scope) -> Result<Expr, ParseError> {
    parse_in(text, scope, &[]).map_err(|mistakes| mistakes.first)
}

/// Reads an expression within loops.
pub fn parse_in(text: &str, scope: &dyn Scope, loops: &[Loop]) -> Result<Expr, Mistakes> {
    let mut parser = Parser::new(text, scope, loops)?;
    let read = parser.whole();
    let mut mistakes = parser.unknown.into_iter().chain(read.as_ref().err().cloned());
    match mistakes.next() {
        Some(first) => Err(Mistakes { first, others: mistakes.collect() }),
        None => read.map_err(Mistakes::from),
    }
}

/// True if a name means something in every model: `t`, `pi` and the functions.
pub fn is_reserved(name: &str) -> bool {
    name == "t" || name == "pi" || is_function(name)
}

/// True if it is the name of a function.
pub fn is_function(name: &str) -> bool {
    name == "atan2" || Func::NAMED.iter().any(|f| f.name() == name)
}

struct Parser<'a> {
    text: &'a str,
    now: Cursor<'a>,
    depth: usize,
    /// Where the parentheses that are still open stand.
    open: Vec<usize>,
    /// The loop variables, the innermost last.
    loops: Vec<Loop>,
    /// The bytes that were read again.
    repeated: usize,
    /// Names without a meaning, each where it stands first. Reading goes on after them.
    unknown: Vec<ParseError>,
    /// True in a bound or an index, whose value is needed at once.
    in_index: bool,
    scope: &'a dyn Scope,
}

// Binding powers: a left operand binds to the operator whose left power is larger than what was asked for.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const MINUS: u8 = 3;
const POWER: u8 = 4;

impl<'a> Parser<'a> {
    fn new(text: &'a str, scope: &'a dyn Scope, loops: &[Loop]) -> Result<Parser<'a>, ParseError> {
        let (now, open, loops) = (Cursor::new(), Vec::new(), loops.to_vec());
        let mut parser =
            Parser { text, now, depth: 0, open, loops, repeated: 0, unknown: Vec::new(), in_index: false, scope };
        parser.advance()?;
        Ok(parser)
    }

    /// The whole text as an expression.
    fn whole(&mut self) -> Result<Expr, ParseError> {
        if self.now.token == Token::End {
            return Err(Complaint::new("the expression is empty", "write a formula here").at(0..self.text.len()));
        }
        let e = self.expression(0)?;
        match self.now.token {
            Token::End => Ok(e),
            Token::Symbol(")") => {
                Err(Complaint::new("unbalanced parenthesis", "nothing to close here").at(self.now.span.clone()))
            }
            _ => Err(self.expected_operator()),
        }
    }

    fn expression(&mut self, minimum: u8) -> Result<Expr, ParseError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let complaint = Complaint::new(
                format!("an expression nested more than {MAX_NESTING} deep"),
                "use [definitions] to name its parts",
            );
            return Err(complaint.at(self.now.span.clone()));
        }
        let start = self.now.span.start;
        let mut left = self.atom()?;
        self.scope.note(left, start..self.previous_end());
        while let Token::Symbol(operator) = self.now.token {
            let power = match operator {
                "+" | "-" => SUM,
                "*" | "/" => PRODUCT,
                "^" => POWER,
                "**" => {
                    let complaint = Complaint::new("`**` is not an operator", "write `^` for a power");
                    return Err(complaint.at(self.now.span.clone()));
                }
                _ => break,
            };
            if power <= minimum {
                break;
            }
            self.advance()?;
            let from = self.now.span.start;
            // The exponent may begin with a minus and takes everything that binds as tightly as one.
            let right = self.expression(if operator == "^" { MINUS } else { power })?;
            left = combine(operator, left, right).map_err(|complaint| complaint.at(from..self.previous_end()))?;
            self.scope.note(left, start..self.previous_end());
        }
        self.depth -= 1;
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expr, ParseError> {
        let span = self.now.span.clone();
        match self.now.token {
            Token::Number(value) => {
                self.advance()?;
                Ok(Expr::constant(value))
            }
            Token::Name { name, primes } => {
                self.advance()?;
                self.name(name, primes, span)
            }
            Token::Symbol("-") => {
                self.advance()?;
                Ok(-self.expression(MINUS)?)
            }
            Token::Symbol("(") => {
                self.enter(span.start)?;
                let inner = self.expression(0)?;
                self.leave()?;
                Ok(inner)
            }
            Token::Symbol(")") if self.open.is_empty() => {
                Err(Complaint::new("unbalanced parenthesis", "nothing to close here").at(span))
            }
            Token::Symbol(c) => {
                let label = if c == "[" { "use round parentheses" } else { "a number or a name is missing" };
                Err(Complaint::new(format!("unexpected `{c}`"), label).at(span))
            }
            Token::End => Err(self.ends_early(span)),
        }
    }

    fn ends_early(&self, span: Range<usize>) -> ParseError {
        match self.open.last() {
            Some(&open) => Complaint::new("unbalanced parenthesis", "this is never closed").at(open..open + 1),
            None => Complaint::new("the expression ends too early", "a number or a name is missing").at(span),
        }
    }

    fn expected_operator(&self) -> ParseError {
        if let Token::Symbol(sign @ ("<" | ">" | "<=" | ">=" | "==" | "!=")) = self.now.token {
            let label = hint::comparison(sign, &self.text[self.now.span.end..]);
            return Complaint::new(format!("`{sign}` cannot be used here"), label).at(self.now.span.clone());
        }
        let label = match &self.now.token {
            Token::Symbol(",") => "only functions of several arguments take a comma".into(),
            Token::Symbol(c) => format!("`{c}` cannot stand here"),
            _ => "an operator is missing before this: write `*` to multiply".to_string(),
        };
        Complaint::new("expected an operator", label).at(self.now.span.clone())
    }

    /// Steps over `(`, which stands at `open`.
    fn enter(&mut self, open: usize) -> Result<(), ParseError> {
        self.open.push(open);
        self.advance()
    }

    /// Steps over the `)` that is due.
    fn leave(&mut self) -> Result<(), ParseError> {
        match self.now.token {
            Token::Symbol(")") => {
                self.open.pop();
                self.advance()
            }
            Token::End => Err(self.ends_early(self.now.span.clone())),
            _ => Err(self.expected_operator()),
        }
    }

    fn previous_end(&self) -> usize {
        self.text[..self.now.span.start].trim_end().len()
    }

    fn advance(&mut self) -> Result<(), ParseError> {
        self.now.advance(self.text)
    }

    fn is_at(&self, symbol: &'static str) -> bool {
        self.now.token == Token::Symbol(symbol)
    }
}

fn combine(operator: &str, left: Expr, right: Expr) -> Result<Expr, Complaint> {
    match operator {
        "+" => Ok(left + right),
        "-" => Ok(left - right),
        "*" => Ok(left * right),
        "/" if right.is_zero() => Err(Complaint::new("division by zero", "this is zero")),
        "/" => Ok(left / right),
        _ if left.is_zero() && right.as_const().is_some_and(|n| n < 0.0) => {
            Err(Complaint::new("division by zero", "zero to a negative power"))
        }
        _ => Ok(left.pow(right)),
    }
}
