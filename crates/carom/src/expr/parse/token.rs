//! Text to tokens.

use std::ops::Range;

use super::{Complaint, ParseError, hint};

/// The smallest piece that means something.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'a> {
    Number(f64),
    Name { name: &'a str, primes: usize },
    Symbol(&'static str),
    End,
}

/// Longer ones first.
const SYMBOLS: [&str; 18] =
    ["..", "**", "<=", ">=", "==", "!=", "+", "-", "*", "/", "^", "(", ")", ",", "[", "]", "<", ">"];

/// A token, where it stands, and where the next one may begin.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub token: Token<'a>,
    pub span: Range<usize>,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// Before the first token.
    pub fn new() -> Cursor<'a> {
        Cursor { token: Token::End, span: 0..0, at: 0 }
    }

    /// Reads the next token of `text`.
    pub fn advance(&mut self, text: &'a str) -> Result<(), ParseError> {
        let rest = text[self.at..].trim_start();
        let start = text.len() - rest.len();
        let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
        let (token, length) = match (rest.chars().next(), symbol) {
            (None, _) => (Token::End, 0),
            (_, Some(symbol)) => (Token::Symbol(symbol), symbol.len()),
            (Some(c), _) if starts_name(c) => name(rest, start)?,
            (Some(c), _) if c.is_ascii_digit() || c == '.' => number(rest, start)?,
            (Some(c), _) => return Err(unknown_character(c).at(start..start + c.len_utf8())),
        };
        *self = Cursor { token, span: start..start + length, at: start + length };
        Ok(())
    }

    /// Steps over the `.x` right after the token, and returns it.
    pub fn member(&mut self, text: &'a str) -> &'a str {
        let member = &text[self.at..self.at + member_length(&text[self.at..])];
        self.at += member.len();
        self.span.end += member.len();
        member
    }

    /// Steps over the apostrophes right after the token.
    pub fn primes(&mut self, text: &str) -> usize {
        let primes = text[self.at..].bytes().take_while(|&c| c == b'\'').count();
        self.at += primes;
        self.span.end += primes;
        primes
    }
}

/// True if `name` can be written in an expression: a letter or `_`, then letters, digits, `_`.
pub fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name at the beginning of `text`, which is not empty.
fn name_length(text: &str) -> usize {
    text.find(|c| !continues_name(c)).unwrap_or(text.len())
}

fn name(rest: &str, start: usize) -> Result<(Token<'_>, usize), ParseError> {
    let stem = name_length(rest);
    let whole = stem + member_length(&rest[stem..]);
    let (name, after) = rest.split_at(whole);
    if whole > stem && member_length(after) > 0 {
        return Err(hint::member(&name[..stem], &name[stem + 1..]).at(start..start + whole));
    }
    let primes = after.bytes().take_while(|&c| c == b'\'').count();
    Ok((Token::Name { name, primes }, whole + primes))
}

/// The length of `.x` at the beginning of `text`; 0 if there is no such thing.
fn member_length(text: &str) -> usize {
    match text.strip_prefix('.') {
        Some(member) if member.starts_with(starts_name) => 1 + name_length(member),
        _ => 0,
    }
}

fn number(rest: &str, start: usize) -> Result<(Token<'_>, usize), ParseError> {
    let length = number_length(rest);
    let literal = &rest[..length];
    let complaint = match literal.parse::<f64>() {
        Ok(value) if value.is_finite() => return Ok((Token::Number(value), length)),
        Ok(_) => Complaint::new("the number is too large", "the largest is about 1.8e308"),
        Err(_) => Complaint::new(format!("`{literal}` is not a number"), ""),
    };
    Err(complaint.at(start..start + length))
}

/// The length of the number that `text` begins with: digits, a point, an exponent. The points of `1..3` are not its own.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
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
        '{' | '}' => "use round parentheses",
        '≥' | '≤' => "write `>=` or `<=`",
        '\u{307}' | '\u{308}' => "write `'` for the time derivative, as in `x'`",
        _ => "",
    };
    Complaint::new(format!("unexpected character `{}`", c.escape_debug()), label)
}
