//! A derivation as a self-contained web page, light and dark, with long equations on several lines.

use super::document::{Block, Chapter, Derivation, Equation, paragraph};
use crate::expr::print::html::{STYLE, escape, formula, render};
use crate::expr::print::text;

/// The number of letters that fit on a line.
const PAGE: f64 = 90.0;

const PAGE_STYLE: &str = include_str!("page.css");

impl Derivation {
    /// The derivation as a self-contained web page.
    pub fn to_html(&self) -> String {
        let (title, body) = (escape(&self.title), self.to_html_sections("h2"));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{PAGE_STYLE}{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
        )
    }

    /// The sections as part of a page, with headings of this level, such as `h2`.
    pub fn to_html_sections(&self, heading: &str) -> String {
        let section = |section: &Chapter| {
            let blocks: String = section.blocks.iter().map(block).collect();
            let title = escape(&section.title);
            format!("<section>\n<{heading}>{title}</{heading}>\n{blocks}</section>\n")
        };
        self.sections.iter().map(section).collect()
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(spans) => format!("<p>{}</p>\n", paragraph(spans, escape, formula)),
        Block::Equations(equations) => {
            let fits = |e: &Equation| e.left.breadth() + e.right.breadth() <= PAGE;
            let equations = Equation::entry_by_entry(equations, fits);
            let aligned = equations.iter().all(|e| e.left.breadth() <= PAGE / 3.0);
            let rows: String = equations.iter().map(|e| equation(e, aligned)).collect();
            format!("<div class=\"display\" tabindex=\"0\"><div class=\"equations\">\n{rows}</div></div>\n")
        }
    }
}

/// A row of two cells, or of one cell if the left-hand sides are long.
fn equation(equation: &Equation, aligned: bool) -> String {
    let (left, right) = (render(&equation.left), render(&equation.right));
    let label = escape(&format!("{} = {}", text::render(&equation.left), text::render(&equation.right)));
    let cells = if aligned {
        format!("<span class=\"left\">{left}</span><span class=\"right\">=\u{a0}{right}</span>")
    } else {
        format!("<span class=\"right\">{left} =\u{a0}{right}</span>")
    };
    format!("<div role=\"math\" aria-label=\"{label}\">{cells}</div>\n")
}
