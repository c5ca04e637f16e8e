//! A derivation as one web page that needs nothing else: MathML, light and dark, wide equations scroll.

use super::document::{Block, Derivation, Equation, Section, paragraph};
use crate::expr::print::Layout;
use crate::expr::print::mathml::{escape, render};
use crate::expr::print::text::{self, width};

/// What fits on a line, in columns of the text form.
const PAGE: usize = 80;

const STYLE: &str = include_str!("page.css");

impl Derivation {
    /// As a self-contained web page.
    pub fn to_html(&self) -> String {
        let (title, body) = (escape(&self.title), self.to_html_sections("h2"));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
        )
    }

    /// Its sections as part of a page, with headings of a level such as `h2`.
    pub fn to_html_sections(&self, heading: &str) -> String {
        let section = |section: &Section| {
            let blocks: String = section.blocks.iter().map(block).collect();
            let title = escape(&section.title);
            format!("<section>\n<{heading}>{title}</{heading}>\n{blocks}</section>\n")
        };
        self.sections.iter().map(section).collect()
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(spans) => {
            let math = |layout: &Layout| format!("<math>{}</math>", render(layout));
            format!("<p>{}</p>\n", paragraph(spans, escape, math))
        }
        Block::Equations(equations) => {
            let rows: String = equations.iter().map(equation).collect();
            format!(
                "<div class=\"display\" tabindex=\"0\"><math display=\"block\"><mtable>{rows}</mtable></math></div>\n"
            )
        }
    }
}

/// One row, or several for a long sum.
fn equation(equation: &Equation) -> String {
    let row = |left: &str, sign: &str, right: &Layout| {
        let right = format!("<mrow><mo>{sign}</mo>{}</mrow>", render(right));
        format!("<mtr><mtd class=\"left\">{left}</mtd><mtd class=\"right\">{right}</mtd></mtr>\n")
    };
    let mut lines = lines(&equation.right).into_iter();
    let first = lines.next().unwrap_or(Layout::Sum(Vec::new()));
    let mut rows = row(&render(&equation.left), "=", &first);
    for line in lines {
        // A line that begins with a minus has its sign already.
        let is_negative = matches!(&line, Layout::Sum(terms) if terms.first().is_some_and(|(negative, _)| *negative));
        rows += &row("", if is_negative { "" } else { "+" }, &line);
    }
    rows
}

/// A sum cut between its terms into lines that fit on a page; anything else is one line.
fn lines(layout: &Layout) -> Vec<Layout> {
    let Layout::Sum(terms) = layout else { return vec![layout.clone()] };
    let mut lines: Vec<Vec<(bool, Layout)>> = Vec::new();
    let mut columns = usize::MAX;
    for term in terms {
        let term_columns = width(&text::render(&term.1)) + 3;
        match lines.last_mut() {
            Some(line) if columns + term_columns <= PAGE => {
                columns += term_columns;
                line.push(term.clone());
            }
            _ => {
                columns = term_columns;
                lines.push(vec![term.clone()]);
            }
        }
    }
    lines.into_iter().map(Layout::Sum).collect()
}
