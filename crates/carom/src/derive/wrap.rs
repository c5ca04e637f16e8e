//! Breaks long formulas into lines: between the terms of a sum (also in parentheses, in a numerator or denominator, or in a
//! function argument), or as a last resort between the factors of a product.

use crate::expr::print::layout::{Call, Layout};
use crate::expr::print::number::Number;

/// How an output format writes the parts of a formula that is broken into lines.
pub trait Script {
    /// The width of a formula in columns.
    fn columns(&self, layout: &Layout) -> usize;
    /// A formula that is not broken.
    fn formula(&self, layout: &Layout) -> String;
    /// The sign of the first term or of a later term of a sum.
    fn sign(&self, first: bool, negative: bool) -> &'static str;
    /// The opening parenthesis around a formula on several lines.
    fn open(&self, inside: &Layout) -> &'static str;
    /// The closing parenthesis, with the exponent of its content.
    fn close(&self, inside: &Layout, exponent: Option<&Layout>) -> String;
    /// A function without its argument.
    fn function(&self, call: &Call) -> String;
    /// The separator of two pieces on one line.
    fn space(&self) -> &'static str;
    /// The division sign before a denominator in parentheses.
    fn division(&self) -> &'static str;
    /// A division by a denominator on one line.
    fn divided_by(&self, below: &Layout) -> String;
    /// 1/below as a factor, if the format writes long fractions this way.
    fn inverse(&self, below: &Layout) -> Option<String>;
}

/// A part of a formula that stays on one line.
struct Piece {
    text: String,
    columns: usize,
    /// The separator between this piece and the piece before if they are on one line.
    joint: &'static str,
    /// True if it always begins a line.
    apart: bool,
}

/// Breaks a formula into lines, at most `room` wide if possible.
pub fn lines(layout: &Layout, script: &impl Script, room: usize) -> Vec<String> {
    let mut pieces = Pieces { script, room, open: 0, done: Vec::new() };
    pieces.cut("");
    pieces.formula(layout);
    fill(pieces.done, room)
}

/// Fills each line with as many pieces as fit.
fn fill(pieces: Vec<Piece>, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for piece in pieces {
        let columns = piece.columns + usize::from(!piece.joint.is_empty());
        match lines.last_mut() {
            Some(line) if used + columns <= room && !piece.apart => {
                *line += piece.joint;
                *line += &piece.text;
                used += columns;
            }
            _ => {
                used = piece.columns;
                lines.push(piece.text);
            }
        }
    }
    lines
}

struct Pieces<'a, S: Script> {
    script: &'a S,
    room: usize,
    /// The number of open parentheses.
    open: usize,
    done: Vec<Piece>,
}

impl<S: Script> Pieces<'_, S> {
    /// Allows a line break here.
    fn cut(&mut self, joint: &'static str) {
        self.done.push(Piece { text: String::new(), columns: 0, joint, apart: false });
    }

    fn put(&mut self, text: &str, columns: usize) {
        if let Some(piece) = self.done.last_mut() {
            piece.text += text;
            piece.columns += columns;
        }
    }

    fn whole(&mut self, layout: &Layout) {
        self.put(&self.script.formula(layout), self.script.columns(layout));
    }

    /// The width of the last piece so far.
    fn used(&self) -> usize {
        self.done.last().map_or(0, |piece| piece.columns)
    }

    fn formula(&mut self, layout: &Layout) {
        if self.used() + self.script.columns(layout) + self.open <= self.room {
            self.whole(layout);
        } else {
            self.spread(layout);
        }
    }

    /// Splits a formula into pieces between which it can be broken.
    fn spread(&mut self, layout: &Layout) {
        match layout {
            Layout::Sum(terms) => self.sum(terms),
            Layout::Product(factors) => self.product(factors),
            Layout::Fraction(above, below) => self.fraction(above, below),
            Layout::Parentheses(inside) => self.enclosed(inside, None),
            Layout::Power(base, exponent) => match &**base {
                Layout::Parentheses(inside) => self.enclosed(inside, Some(exponent)),
                _ => self.whole(layout),
            },
            Layout::Root(inside) => self.enclosed(inside, Some(&Layout::Number(Number::Ratio(1, 2)))),
            Layout::Row(pieces) => pieces.iter().for_each(|piece| self.formula(piece)),
            Layout::Call(call) if call.arguments.len() == 1 => {
                self.put(&self.script.function(call), call.function.len());
                self.enclosed(&call.arguments[0], None);
            }
            other => self.whole(other),
        }
    }

    fn sum(&mut self, terms: &[(bool, Layout)]) {
        for (i, (negative, term)) in terms.iter().enumerate() {
            if i > 0 {
                self.cut(self.script.space());
            }
            let sign = self.script.sign(i == 0, *negative);
            self.put(sign, if i == 0 { usize::from(*negative) } else { 2 });
            self.formula(term);
        }
    }

    /// Breaks a product inside its widest factor that can be broken; between factors if there is none, and before that factor if
    /// what stands before it, with all parentheses that are open, fills half of a line.
    fn product(&mut self, factors: &[Layout]) {
        let space = self.script.space();
        let breakable = (0..factors.len()).filter(|&i| can_break(&factors[i]));
        let Some(widest) = breakable.max_by_key(|&i| self.script.columns(&factors[i])) else {
            for (i, factor) in factors.iter().enumerate() {
                if i > 0 {
                    self.cut(space);
                }
                self.whole(factor);
            }
            return;
        };
        let group = |factors: &[Layout]| Layout::Product(factors.to_vec());
        if widest > 0 {
            self.formula(&group(&factors[..widest]));
            match self.used() > self.room / 2 {
                true => self.cut(space),
                false => self.put(space, 1),
            }
        }
        self.spread(&factors[widest]);
        if widest + 1 < factors.len() {
            self.put(space, 1);
            self.formula(&group(&factors[widest + 1..]));
        }
    }

    fn fraction(&mut self, above: &Layout, below: &Layout) {
        let columns = self.script.columns(below) + 3;
        let inverse = self.script.inverse(below).filter(|_| columns <= self.room / 2);
        if let Some(inverse) = &inverse {
            self.put(inverse, columns);
        }
        match above {
            Layout::Sum(_) => self.enclosed(above, None),
            other => self.formula(&before_division(other)),
        }
        if inverse.is_none() {
            self.cut("");
            if columns <= self.room {
                self.put(&self.script.divided_by(below), columns);
                return;
            }
            if let Some(piece) = self.done.last_mut() {
                piece.apart = true;
            }
            self.put(self.script.division(), 1);
            self.enclosed(below, None);
        }
    }

    /// Breaks the sum inside parentheses between its terms, even if it would fit on a line of its own.
    fn enclosed(&mut self, inside: &Layout, exponent: Option<&Layout>) {
        self.put(self.script.open(inside), 1);
        self.open += 1;
        self.spread(inside);
        self.open -= 1;
        let columns = 1 + exponent.map_or(0, |n| self.script.columns(n));
        self.put(&self.script.close(inside, exponent), columns);
    }
}

/// True if a formula can be broken between the terms of a sum.
pub fn can_break(layout: &Layout) -> bool {
    match layout {
        Layout::Sum(_) => true,
        Layout::Parentheses(x) | Layout::Power(x, _) | Layout::Root(x) => can_break(x),
        Layout::Fraction(above, below) => can_break(above) || can_break(below),
        Layout::Product(pieces) | Layout::Row(pieces) => pieces.iter().any(can_break),
        Layout::Call(call) => call.arguments.len() == 1 && can_break(&call.arguments[0]),
        _ => false,
    }
}

/// Adds parentheses to a function argument before a division: sin(θ)/x, not sin θ/x.
fn before_division(layout: &Layout) -> Layout {
    match layout {
        Layout::Call(call) => Layout::Call(Call { bare: false, ..call.clone() }),
        Layout::Product(factors) => match factors.split_last() {
            Some((last, rest)) => Layout::Product([rest, &[before_division(last)]].concat()),
            None => layout.clone(),
        },
        other => other.clone(),
    }
}
