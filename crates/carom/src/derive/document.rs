//! A derivation as a document: sections of prose and equations, whatever they are written in.

use crate::expr::Expr;
use crate::expr::print::{Layout, text};

/// The mechanics of a system, derived.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The system's title.
    pub title: String,
    /// In the order of the derivation.
    pub sections: Vec<Chapter>,
}

/// A part of a derivation.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// Its heading.
    pub title: String,
    /// What it says, in order.
    pub blocks: Vec<Block>,
}

/// A paragraph or a display.
#[derive(Clone, Debug)]
pub enum Block {
    /// Words, with formulas among them.
    Prose(Vec<Span>),
    /// Equations under each other, aligned at their relation.
    Equations(Vec<Equation>),
}

/// A piece of a paragraph.
#[derive(Clone, Debug)]
pub enum Span {
    /// Words.
    Text(String),
    /// A formula.
    Math(Layout),
}

/// A paragraph in a notation, which writes words and formulas in its own way.
pub(super) fn paragraph(spans: &[Span], words: impl Fn(&str) -> String, math: impl Fn(&Layout) -> String) -> String {
    let span = |span: &Span| match span {
        Span::Text(text) | Span::Math(Layout::Words(text)) => words(text),
        Span::Math(layout) => math(layout),
    };
    spans.iter().map(span).collect()
}

/// left = right.
#[derive(Clone, Debug)]
pub struct Equation {
    /// What is defined or asserted.
    pub left: Layout,
    /// What it is.
    pub right: Layout,
    /// The right side as an expression, where it is one.
    pub value: Option<Expr>,
    /// The entries of a matrix one by one, for a page that is too narrow for it.
    pub entries: Vec<Equation>,
}

impl Equation {
    /// left = right, between formulas that are not expressions.
    pub fn between(left: Layout, right: Layout) -> Equation {
        Equation { left, right, value: None, entries: Vec::new() }
    }

    /// The equations, with matrices that do not fit entry by entry.
    pub(super) fn entry_by_entry(equations: &[Equation], fits: impl Fn(&Equation) -> bool) -> Vec<&Equation> {
        let apart = |e: &Equation| !e.entries.is_empty() && !fits(e);
        equations.iter().flat_map(|e| if apart(e) { e.entries.iter().collect() } else { vec![e] }).collect()
    }
}

impl Chapter {
    /// A section without content.
    pub fn new(title: impl Into<String>) -> Chapter {
        Chapter { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph; each `{}` in it is the next formula.
    pub fn say(&mut self, text: &str, formulas: impl IntoIterator<Item = Layout>) {
        let mut formulas = formulas.into_iter();
        let mut spans = Vec::new();
        for (i, piece) in text.split("{}").enumerate() {
            if i > 0 {
                spans.extend(formulas.next().map(Span::Math));
            }
            if !piece.is_empty() {
                spans.push(Span::Text(piece.to_owned()));
            }
        }
        self.blocks.push(Block::Prose(spans));
    }

    /// Adds a display.
    pub fn show(&mut self, equations: Vec<Equation>) {
        if !equations.is_empty() {
            self.blocks.push(Block::Equations(equations));
        }
    }
}

impl Derivation {
    /// The values of the equations whose left side reads so, as text: `θ̈₁`, `λ`.
    pub fn find_all(&self, left: &str) -> Vec<Expr> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let equations = blocks.flat_map(|block| match block {
            Block::Equations(equations) => equations.as_slice(),
            Block::Prose(_) => &[],
        });
        equations.filter(|e| text::render(&e.left) == left).filter_map(|e| e.value).collect()
    }

    /// The first of them.
    pub fn find(&self, left: &str) -> Option<Expr> {
        self.find_all(left).first().copied()
    }
}
