//! Reading XML: where something stands, numbers and lists of numbers.

use carom::lab::error::{Error, Result};
use carom::lab::expr::parse::Complaint;
use carom::lab::model::Source;
use roxmltree::{Document, Node};

use super::turn::Vector;

/// The text of a file as XML.
pub fn parse(source: &Source) -> Result<Document<'_>> {
    Document::parse(source.text()).map_err(|e| {
        let place = e.pos();
        let lines = source.text().split_inclusive('\n');
        let start: usize = lines.take(place.row.saturating_sub(1) as usize).map(str::len).sum();
        source.error(start..start + 1, Complaint::new(format!("not XML: {e}"), ""))
    })
}

/// An error that shows a node.
pub fn error(source: &Source, node: &Node, message: impl Into<String>, label: impl Into<String>) -> Error {
    source.error(node.range(), Complaint::new(message, label))
}

/// The children with a name.
pub fn children<'n, 'a: 'n, 'i: 'n>(node: &'n Node<'a, 'i>, name: &'n str) -> impl Iterator<Item = Node<'a, 'i>> + 'n {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// All elements inside.
pub fn elements<'n, 'a: 'n, 'i: 'n>(node: &'n Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> + 'n {
    node.children().filter(Node::is_element)
}

/// The numbers of a text, all finite.
pub fn numbers(source: &Source, node: &Node, key: &str, text: &str) -> Result<Vec<f64>> {
    let parsed: Option<Vec<f64>> =
        text.split_whitespace().map(|word| word.parse::<f64>().ok().filter(|x| x.is_finite())).collect();
    parsed.ok_or_else(|| error(source, node, format!("`{key}` is not a list of numbers: `{text}`"), ""))
}

/// One number.
pub fn number(source: &Source, node: &Node, key: &str, text: &str) -> Result<f64> {
    match numbers(source, node, key, text) {
        Ok(numbers) if numbers.len() == 1 => Ok(numbers[0]),
        _ => Err(error(source, node, format!("`{key}` is not a number: `{text}`"), "")),
    }
}

/// Three numbers.
pub fn three(source: &Source, node: &Node, key: &str, text: &str) -> Result<Vector> {
    match numbers(source, node, key, text).as_deref() {
        Ok(&[x, y, z]) => Ok([x, y, z]),
        _ => Err(error(source, node, format!("`{key}` is not three numbers: `{text}`"), "")),
    }
}
