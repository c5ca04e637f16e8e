//! `[outputs]`, `[[section]]`, `[points]`, `[[draw]]`.

use super::super::document::{Entry, Fields, Item, array};
use super::super::names::Use;
use super::super::{Direction, Drawing, Output, Point, Section};
use super::Reader;
use crate::error::Result;

impl Reader<'_> {
    pub(super) fn outputs(&self, top: &Fields) -> Result<Vec<Output>> {
        let Some(item) = top.get("outputs") else { return Ok(Vec::new()) };
        let entries = Fields::new(self.source, item, "outputs", &[])?.entries();
        let output = |entry: &Entry| {
            let value = self.expr(&entry.item, Use::Motion)?;
            Ok(Output { name: entry.key.clone(), value })
        };
        entries.iter().map(output).collect()
    }

    pub(super) fn sections(&self, top: &Fields) -> Result<Vec<Section>> {
        let mut sections = Vec::new();
        for (number, item) in top.list("section")?.iter().enumerate() {
            let fields = Fields::new(self.source, item, "section", &["name", "g", "direction", "stop"])?;
            let name = fields.text("name")?.map_or_else(|| format!("section {}", number + 1), str::to_string);
            let g = self.expr(fields.required("g")?, Use::Motion)?;
            let direction = match fields.choice("direction", &["rising", "falling", "both"])? {
                Some("rising") => Direction::Rising,
                Some("falling") => Direction::Falling,
                _ => Direction::Both,
            };
            sections.push(Section { name, g, direction, stop: fields.flag("stop")?.unwrap_or(false) });
        }
        Ok(sections)
    }

    pub(super) fn points(&self, top: &Fields) -> Result<Vec<Point>> {
        let Some(item) = top.get("points") else { return Ok(Vec::new()) };
        let entries = Fields::new(self.source, item, "points", &[])?.entries();
        let point = |entry: &Entry| Ok(Point { name: entry.key.clone(), at: self.pair(&entry.item, Use::Position)? });
        entries.iter().map(point).collect()
    }

    pub(super) fn drawings(&self, top: &Fields, points: &[Point]) -> Result<Vec<Drawing>> {
        let mut drawings = Vec::new();
        for item in top.list("draw")? {
            let fields = Fields::new(self.source, item, "draw", &["link", "disk", "radius", "segment"])?;
            let drawing = match (fields.get("link"), fields.get("disk"), fields.get("segment")) {
                (Some(link), None, None) => {
                    let names = array(self.source, link)?;
                    let numbers: Result<Vec<usize>> = names.iter().map(|name| self.point(name, points)).collect();
                    Drawing::Link(numbers?)
                }
                (None, Some(disk), None) => {
                    let radius = self.expr(fields.required("radius")?, Use::Parameters)?;
                    Drawing::Disk { center: self.point(disk, points)?, radius }
                }
                (None, None, Some(segment)) => self.segment(segment)?,
                _ => return Err(self.error(&item.span, "draw one of `link`, `disk`, `segment`", "")),
            };
            drawings.push(drawing);
        }
        Ok(drawings)
    }

    fn segment(&self, item: &Item) -> Result<Drawing> {
        self.two_places(item, "a segment has two ends, [[x, y], [x, y]]").map(Drawing::Segment)
    }
}
