//! Writing expressions down: Unicode text, LaTeX, HTML, and the source of a model.
//!
//! [`compose`] decides the shape of a formula once, in the order that a [`Notation`] gives; [`text`], [`latex`] and
//! [`html`] spell that shape. [`Expr::to_source`] is the odd one out: it keeps the operations as they were built, so
//! that what it writes parses back to the same value.
//!
//! ```
//! use carom::lab::expr::Expr;
//! let (m, v) = (Expr::symbol("m"), Expr::symbol("theta1'"));
//! assert_eq!((m * v.squared() / 2.0).to_string(), "½ m θ̇₁²");
//! ```

mod compose;
pub mod html;
pub mod latex;
pub mod layout;
pub mod name;
mod notation;
pub mod number;
mod source;
pub mod text;

use std::fmt;

pub(super) use compose::{DEEPEST, LARGEST, extent};
pub use compose::{compose, compose_within};
pub use layout::Layout;
pub use notation::{Class, Notation};

use super::Expr;

impl Expr {
    /// As a model writes it: ASCII operators, the names as they are. It parses back to the same value.
    pub fn to_source(self) -> String {
        source::source(self)
    }

    /// As Unicode text on one line, in the order of `notation`.
    pub fn to_text(self, notation: &Notation) -> String {
        text::render(&compose(self, notation))
    }

    /// For LaTeX's math mode.
    pub fn to_latex(self, notation: &Notation) -> String {
        latex::render(&compose(self, notation))
    }

    /// An HTML element, which needs the style [`html::STYLE`].
    pub fn to_html(self, notation: &Notation) -> String {
        html::formula(&compose(self, notation))
    }
}

/// As text. Like the operators, it asks for the table: inside [`with_arena`](super::with_arena) it would wait for itself.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_text(&Notation::default()))
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
