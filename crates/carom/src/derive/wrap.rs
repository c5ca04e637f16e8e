//! Breaking long formulas into lines: at the terms of a sum, and within a long fraction or product at the terms of the
//! sum that it contains.

use crate::expr::print::Layout;
use crate::expr::print::text::{render, width};

/// A term, with what stands before and after it if it is the first or last of a sum in parentheses.
pub struct Chunk<'a> {
    /// True if it is subtracted.
    pub negative: bool,
    /// The sum in parentheses that begins here.
    pub opens: Option<Frame<'a>>,
    /// True if the first term inside these parentheses is subtracted.
    pub negative_inside: bool,
    /// The term itself.
    pub body: &'a Layout,
    /// The sum in parentheses that ends here.
    pub closes: Option<Frame<'a>>,
}

/// What surrounds a sum in parentheses.
#[derive(Clone, Copy)]
pub enum Frame<'a> {
    /// It is above this denominator.
    Over(&'a Layout),
    /// It is multiplied by these factors, which stand before it.
    Times(&'a [Layout]),
}

impl Chunk<'_> {
    /// The columns that the term itself takes, with its sign.
    pub fn width(&self) -> usize {
        width(&render(self.body)) + 3
    }
}

/// The pieces between which a formula may be broken. One piece if it fits into `columns`.
pub fn chunks(layout: &Layout, columns: usize) -> Vec<Chunk<'_>> {
    let whole = |negative, body| Chunk { negative, opens: None, negative_inside: false, body, closes: None };
    if width(&render(layout)) <= columns {
        return vec![whole(false, layout)];
    }
    let Layout::Sum(terms) = layout else { return spread(false, layout) };
    let mut out = Vec::new();
    for (negative, term) in terms {
        if width(&render(term)) > columns {
            out.extend(spread(*negative, term));
        } else {
            out.push(whole(*negative, term));
        }
    }
    out
}

/// The terms of the sum within a long term, if it has one.
fn spread(negative: bool, term: &Layout) -> Vec<Chunk<'_>> {
    let (frame, inner) = match term {
        Layout::Fraction(above, below) => (Frame::Over(below), &**above),
        Layout::Product(factors) => match factors.split_last() {
            Some((Layout::Parentheses(inner), before)) => (Frame::Times(before), &**inner),
            _ => (Frame::Times(&[]), term),
        },
        other => (Frame::Times(&[]), other),
    };
    let Layout::Sum(terms) = inner else {
        return vec![Chunk { negative, opens: None, negative_inside: false, body: term, closes: None }];
    };
    let last = terms.len().saturating_sub(1);
    terms
        .iter()
        .enumerate()
        .map(|(i, (inside, body))| Chunk {
            negative: if i == 0 { negative } else { *inside },
            opens: (i == 0).then_some(frame),
            negative_inside: i == 0 && *inside,
            body,
            closes: (i == last).then_some(frame),
        })
        .collect()
}
