//! A derivation as a document of prose and equations, independent of the output format.

use crate::expr::Expr;
use crate::expr::print::{Layout, text};

/// The derived mechanics of a system.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The system's title.
    pub title: String,
    /// The sections, in the order of the derivation.
    pub sections: Vec<Chapter>,
}

/// A section of a derivation.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// Its heading.
    pub title: String,
    /// Its paragraphs and displays, in order.
    pub blocks: Vec<Block>,
}

/// A paragraph or a display.
#[derive(Clone, Debug)]
pub enum Block {
    /// Text with inline formulas.
    Prose(Vec<Inline>),
    /// Equations below each other, aligned at their relation signs.
    Equations(Vec<Equation>),
}

/// A piece of a paragraph.
#[derive(Clone, Debug)]
pub enum Inline {
    /// Words.
    Text(String),
    /// A formula.
    Math(Layout),
}

/// Formats a paragraph, with functions that format words and formulas.
pub(super) fn paragraph(spans: &[Inline], words: impl Fn(&str) -> String, math: impl Fn(&Layout) -> String) -> String {
    let span = |span: &Inline| match span {
        Inline::Text(text) | Inline::Math(Layout::Words(text)) => words(text),
        Inline::Math(layout) => math(layout),
    };
    spans.iter().map(span).collect()
}

/// left = right.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The left-hand side.
    pub left: Layout,
    /// The right-hand side.
    pub right: Layout,
    /// The right-hand side as an expression, if it is one.
    pub value: Option<Expr>,
    /// The entries of a matrix one by one, for pages that are too narrow for the matrix.
    pub entries: Vec<Equation>,
}

impl Equation {
    /// left = right, for formulas that are not expressions.
    pub fn between(left: Layout, right: Layout) -> Equation {
        Equation { left, right, value: None, entries: Vec::new() }
    }

    /// The equations, with matrices that do not fit replaced by their entries.
    pub(super) fn entry_by_entry(equations: &[Equation], fits: impl Fn(&Equation) -> bool) -> Vec<&Equation> {
        let apart = |e: &Equation| !e.entries.is_empty() && !fits(e);
        equations.iter().flat_map(|e| if apart(e) { e.entries.iter().collect() } else { vec![e] }).collect()
    }
}

impl Chapter {
    /// An empty section.
    pub fn new(title: impl Into<String>) -> Chapter {
        Chapter { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph; the n-th `{}` is replaced by the n-th formula.
    pub fn say(&mut self, text: &str, formulas: impl IntoIterator<Item = Layout>) {
        let mut formulas = formulas.into_iter();
        let mut spans = Vec::new();
        for (i, piece) in text.split("{}").enumerate() {
            if i > 0 {
                spans.extend(formulas.next().map(Inline::Math));
            }
            if !piece.is_empty() {
                spans.push(Inline::Text(piece.to_owned()));
            }
        }
        self.blocks.push(Block::Prose(spans));
    }

    /// Adds a display of equations.
    pub fn show(&mut self, equations: Vec<Equation>) {
        if !equations.is_empty() {
            self.blocks.push(Block::Equations(equations));
        }
    }
}

impl Derivation {
    /// The values of all equations with this left-hand side, given as text: `θ̈₁`, `λ`.
    pub fn find_all(&self, left: &str) -> Vec<Expr> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let equations = blocks.flat_map(|block| match block {
            Block::Equations(equations) => equations.as_slice(),
            Block::Prose(_) => &[],
        });
        equations.filter(|e| text::render(&e.left) == left).filter_map(|e| e.value).collect()
    }

    /// The value of the first equation with this left-hand side.
    pub fn find(&self, left: &str) -> Option<Expr> {
        self.find_all(left).first().copied()
    }
}
