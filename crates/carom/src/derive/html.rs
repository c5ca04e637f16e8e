//! A derivation as one web page that needs nothing else: MathML, light and dark, wide equations scroll.

use super::document::{Block, Derivation, Equation, Span};
use crate::expr::print::Layout;
use crate::expr::print::mathml::{escape, render};

const STYLE: &str = include_str!("page.css");

impl Derivation {
    /// As a self-contained web page.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut body = String::new();
        for section in &self.sections {
            let blocks: String = section.blocks.iter().map(block).collect();
            body += &format!("<section>\n<h2>{}</h2>\n{blocks}</section>\n", escape(&section.title));
        }
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
        )
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(spans) => {
            let words: String = spans
                .iter()
                .map(|span| match span {
                    Span::Text(text) => escape(text),
                    Span::Math(Layout::Words(words)) => escape(words),
                    Span::Math(layout) => format!("<math>{}</math>", render(layout)),
                })
                .collect();
            format!("<p>{words}</p>\n")
        }
        Block::Equations(equations) => {
            let rows: String = equations.iter().map(equation).collect();
            format!(
                "<div class=\"display\" tabindex=\"0\"><math display=\"block\"><mtable>{rows}</mtable></math></div>\n"
            )
        }
    }
}

fn equation(equation: &Equation) -> String {
    format!(
        "<mtr><mtd class=\"left\">{}</mtd><mtd class=\"right\"><mrow><mo>=</mo>{}</mrow></mtd></mtr>\n",
        render(&equation.left),
        render(&equation.right)
    )
}
