//! Text to expression: a Pratt parser with byte spans.
//!
//! ```text
//! expr    = term  (("+" | "-") term)*            left-associative
//! term    = unary (("*" | "/") unary)*           left-associative
//! unary   = "-" unary | power
//! power   = atom ("^" unary)?                    right-associative, binds tighter than the minus before it
//! atom    = number | name "'"* | function "(" expr ("," expr)* ")" | "(" expr ")"
//! ```

use std::ops::Range;

use super::{Expr, Func};

/// Deeper nesting than this is an error.
pub const MAX_NESTING: usize = 1000;

/// What names mean.
pub trait Scope {
    /// The meaning of `name` followed by `primes` apostrophes, or why there is none.
    fn resolve(&self, name: &str, primes: usize) -> Result<Expr, Complaint>;
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

impl Complaint {
    /// A complaint, with what to say beside the place.
    pub fn new(message: impl Into<String>, label: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), label: label.into() }
    }

    fn at(self, span: Range<usize>) -> ParseError {
        ParseError { span, complaint: self }
    }
}

/// Reads an expression.
pub fn parse(text: &str, scope: &dyn Scope) -> Result<Expr, ParseError> {
    let mut parser = Parser { text, at: 0, token: Token::End, span: 0..0, depth: 0, open: Vec::new(), scope };
    parser.advance()?;
    if parser.token == Token::End {
        return Err(Complaint::new("an empty expression", "write a formula here").at(0..text.len()));
    }
    let e = parser.expression(0)?;
    match parser.token {
        Token::End => Ok(e),
        Token::Symbol(')') => Err(Complaint::new("unbalanced parenthesis", "nothing to close here").at(parser.span)),
        _ => Err(parser.expected_operator()),
    }
}

/// True if `name` can be written in an expression: a letter or `_`, then letters, digits, `_`.
pub fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

/// True if a name means something in every model: `t`, `pi` and the functions.
pub fn is_reserved(name: &str) -> bool {
    name == "t" || name == "pi" || is_function(name)
}

/// True if it is the name of a function.
pub fn is_function(name: &str) -> bool {
    name == "atan2" || Func::NAMED.iter().any(|f| f.name() == name)
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Number(f64),
    Name { name: String, primes: usize },
    Symbol(char),
    End,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    token: Token,
    span: Range<usize>,
    depth: usize,
    /// Where the parentheses that are still open stand.
    open: Vec<usize>,
    scope: &'a dyn Scope,
}

// Binding powers: a left operand binds to the operator whose left power is larger than what was asked for.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const MINUS: u8 = 3;
const POWER: u8 = 4;

impl Parser<'_> {
    fn expression(&mut self, minimum: u8) -> Result<Expr, ParseError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let complaint = Complaint::new(
                format!("an expression nested more than {MAX_NESTING} deep"),
                "use [definitions] to name its parts",
            );
            return Err(complaint.at(self.span.clone()));
        }
        let mut left = self.atom()?;
        while let Token::Symbol(operator) = self.token {
            let power = match operator {
                '+' | '-' => SUM,
                '*' | '/' => PRODUCT,
                '^' => POWER,
                _ => break,
            };
            if power <= minimum {
                break;
            }
            self.advance()?;
            let from = self.span.start;
            // The exponent may begin with a minus and takes everything that binds as tightly as one.
            let right = self.expression(if operator == '^' { MINUS } else { power })?;
            left = combine(operator, left, right).map_err(|complaint| complaint.at(from..self.previous_end()))?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expr, ParseError> {
        let span = self.span.clone();
        match std::mem::replace(&mut self.token, Token::End) {
            Token::Number(value) => {
                self.advance()?;
                Ok(Expr::constant(value))
            }
            Token::Name { name, primes } => {
                self.advance()?;
                self.name(&name, primes, span)
            }
            Token::Symbol('-') => {
                self.advance()?;
                Ok(-self.expression(MINUS)?)
            }
            Token::Symbol('(') => {
                self.enter(span.start)?;
                let inner = self.expression(0)?;
                self.leave()?;
                Ok(inner)
            }
            Token::Symbol(')') if self.open.is_empty() => {
                Err(Complaint::new("unbalanced parenthesis", "nothing to close here").at(span))
            }
            Token::Symbol(c) => {
                Err(Complaint::new(format!("unexpected `{c}`"), "a number or a name is missing").at(span))
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
        let label = match &self.token {
            Token::Symbol(',') => "only functions of two arguments take a comma".into(),
            Token::Symbol(c) => format!("`{c}` cannot stand here"),
            _ => "an operator is missing before this: write `*` to multiply".to_string(),
        };
        Complaint::new("expected an operator", label).at(self.span.clone())
    }

    fn name(&mut self, name: &str, primes: usize, span: Range<usize>) -> Result<Expr, ParseError> {
        let called = self.token == Token::Symbol('(');
        if is_function(name) {
            if primes > 0 {
                return Err(Complaint::new(format!("`{name}` is a function"), "it has no time derivative").at(span));
            }
            if !called {
                return Err(Complaint::new(format!("`{name}` is a function"), format!("write `{name}(…)`")).at(span));
            }
            return self.call(name, span);
        }
        match name {
            "pi" if primes == 0 => return Ok(Expr::pi()),
            "t" | "pi" if primes > 0 => {
                return Err(Complaint::new(format!("`{name}` has no `'`"), "remove the `'`").at(span));
            }
            _ => {}
        }
        let meaning = self.scope.resolve(name, primes);
        if called {
            let known = meaning.is_ok();
            let label = if known { format!("to multiply, write `{name}*(…)`") } else { known_functions() };
            return Err(Complaint::new(format!("`{name}` is not a function"), label).at(span));
        }
        meaning.map_err(|complaint| complaint.at(span))
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<Expr, ParseError> {
        self.enter(self.span.start)?;
        let mut arguments = vec![self.expression(0)?];
        while self.token == Token::Symbol(',') {
            self.advance()?;
            arguments.push(self.expression(0)?);
        }
        self.leave()?;
        let function = Func::NAMED.into_iter().find(|f| f.name() == name);
        match (function, arguments.as_slice()) {
            (Some(f), &[x]) => Ok(x.apply(f)),
            (None, &[y, x]) => Ok(y.atan2(x)),
            _ => {
                let form = if function.is_some() { format!("{name}(x)") } else { format!("{name}(y, x)") };
                let count =
                    if arguments.len() == 1 { "one argument".into() } else { format!("{} arguments", arguments.len()) };
                let message = format!("`{name}` does not take {count}");
                Err(Complaint::new(message, format!("write `{form}`")).at(span.start..self.previous_end()))
            }
        }
    }

    /// Steps over `(`, which stands at `open`.
    fn enter(&mut self, open: usize) -> Result<(), ParseError> {
        self.open.push(open);
        self.advance()
    }

    /// Steps over the `)` that is due.
    fn leave(&mut self) -> Result<(), ParseError> {
        match self.token {
            Token::Symbol(')') => {
                self.open.pop();
                self.advance()
            }
            Token::End => Err(self.ends_early(self.span.clone())),
            _ => Err(self.expected_operator()),
        }
    }

    fn previous_end(&self) -> usize {
        self.text[..self.span.start].trim_end().len()
    }

    /// Reads the next token.
    fn advance(&mut self) -> Result<(), ParseError> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let (token, length) = match rest.chars().next() {
            None => (Token::End, 0),
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let length = number_length(rest);
                let literal = &rest[..length];
                match literal.parse::<f64>() {
                    Ok(value) if value.is_finite() => (Token::Number(value), length),
                    Ok(_) => {
                        let complaint = Complaint::new("a number too large", "the largest is about 1.8e308");
                        return Err(complaint.at(start..start + length));
                    }
                    Err(_) => {
                        let complaint = Complaint::new(format!("`{literal}` is not a number"), "");
                        return Err(complaint.at(start..start + length));
                    }
                }
            }
            Some(c) if starts_name(c) => {
                let name: String = rest.chars().take_while(|&c| continues_name(c)).collect();
                let primes = rest[name.len()..].chars().take_while(|&c| c == '\'').count();
                let length = name.len() + primes;
                (Token::Name { name, primes }, length)
            }
            Some(c) if "+-*/^(),".contains(c) => (Token::Symbol(c), 1),
            Some(c) => return Err(unknown_character(c).at(start..start + c.len_utf8())),
        };
        self.token = token;
        self.span = start..start + length;
        self.at = start + length;
        Ok(())
    }
}

/// The length of the number that `text` begins with: digits, a point, an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

fn unknown_character(c: char) -> Complaint {
    let label = match c {
        '\'' | '’' | '′' => "a `'` follows a name directly, as in `x'`",
        '×' | '·' | '∙' | '⋅' => "write `*` to multiply",
        '−' | '–' => "write `-` for a minus",
        '÷' | ':' => "write `/` to divide",
        '=' => "an expression has no `=`",
        '[' | ']' | '{' | '}' => "use round parentheses",
        _ => "",
    };
    Complaint::new(format!("unexpected character `{}`", c.escape_debug()), label)
}

fn known_functions() -> String {
    let names: Vec<&str> = Func::NAMED.iter().map(|f| f.name()).collect();
    format!("the functions are {}, atan2", names.join(", "))
}

fn combine(operator: char, left: Expr, right: Expr) -> Result<Expr, Complaint> {
    match operator {
        '+' => Ok(left + right),
        '-' => Ok(left - right),
        '*' => Ok(left * right),
        '/' if right.is_zero() => Err(Complaint::new("division by zero", "this is zero")),
        '/' => Ok(left / right),
        _ if left.is_zero() && right.as_const().is_some_and(|n| n < 0.0) => {
            Err(Complaint::new("division by zero", "zero to a negative power"))
        }
        _ => Ok(left.pow(right)),
    }
}
