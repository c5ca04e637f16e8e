use super::measure::{model, parameters};
use super::{Drawing, Entry, Finding, Mark, Number, Table, Tell, Verdict};
use carom::lab::error::Result;
use carom::lab::expr::{eval, grad};
use carom::lab::mechanics::Mechanics;
use carom::lab::projection::{Map, NormalForm, Projector};

pub(crate) const ENTRY: Entry = Entry {
    id: "gp-fig1",
    document: "GP",
    title: "three projections of the particle over the wavy floor, sampled",
    claim: "The projection built on one impact configuration sends only a part of the infeasible configurations to feasible \
            ones, near the impact; that of the normal form sends all of them, in its own coordinates and in (x, y).",
    compute,
};

/// The number of sampled values of x and of y.
const COUNT: usize = 81;
const REACH: f64 = 4.0;
/// A value of k larger than k_c = 4.
const K: f64 = 5.0;
/// x of the impact configuration of the left plot, which the paper does not print: a point where the floor has a slope.
const IMPACT: f64 = 0.6;

/// The reflection about the tangent plane at an impact configuration z_i, which has P'(z_i) of (11):
///
/// ```text
/// P(z) = z − 2 M⁻¹∇φ ∇φ·(z − z_i) / (∇φᵀM⁻¹∇φ),   ∇φ = φ_u'(z_i)ᵀ
/// ```
///
/// DIFFERENCE: the paper refers to an earlier paper for the map of its left plot; this is the natural map of that kind.
struct Local {
    at: [f64; 2],
    normal: [f64; 2],
}

impl Local {
    /// M is a multiple of the identity here.
    fn project(&self, z: [f64; 2]) -> [f64; 2] {
        let size = self.normal[0] * self.normal[0] + self.normal[1] * self.normal[1];
        let depth = self.normal[0] * (z[0] - self.at[0]) + self.normal[1] * (z[1] - self.at[1]);
        [z[0] - 2.0 * depth * self.normal[0] / size, z[1] - 2.0 * depth * self.normal[1] / size]
    }
}

/// The counts of configurations.
#[derive(Default)]
struct Counts {
    infeasible: usize,
    /// The number left infeasible by the local map, and the distance of the nearest of them from the impact.
    missed: usize,
    nearest: f64,
    /// The number left infeasible by the global map.
    missed_globally: usize,
}

fn compute(tell: Tell) -> Result<Finding> {
    tell("sampling the three maps");
    let (counts, tables) = sample()?;
    let Counts { infeasible, missed, nearest, missed_globally } = counts;
    let finding = format!(
        "The local map is not defined in the text; ours is the reflection about the tangent plane at the impact \
         configuration (x = {IMPACT}). Of {infeasible} infeasible configurations it leaves {missed} infeasible ({:.0} %), \
         the nearest {nearest:.2} from the impact. The global map (k = {K} > k_c = 4) leaves {missed_globally}, in either \
         coordinates.",
        100.0 * missed as f64 / infeasible as f64
    );
    let numbers = vec![
        Number::new("infeasible configurations", infeasible as f64),
        Number::new("left infeasible by the local map", missed as f64),
        Number::new("distance of the nearest of them", nearest),
        Number::new("left infeasible by the global map", missed_globally as f64),
    ];
    let verdict = Verdict::of(&[missed > 0, nearest > 0.1, missed_globally == 0]);
    Ok(Finding { finding, verdict, numbers, tables })
}

/// The images of the infeasible configurations of a grid under the three maps.
fn sample() -> Result<(Counts, Vec<Table>)> {
    let model = model("wavy-floor", &[])?;
    let (mechanics, parameters) = (Mechanics::new(&model.system), parameters(&model));
    let map = Map::global(&NormalForm::new(&mechanics, 0), K);
    let map = map.ok_or_else(|| carom::Diagnostic::new("φ cannot be solved for y"))?;
    let mut global = Projector::new(&map, &mechanics, &parameters)?;
    let (phi, q) = (mechanics.walls[0], mechanics.q.clone());
    let at = [-2.0 * IMPACT.sin(), IMPACT];
    let slope = eval(&grad(phi, &q), &[(q[0], at[0]), (q[1], at[1])]);
    let local = Local { at, normal: [slope[0], slope[1]] };
    let (mut left, mut middle, mut right) = (Plot::new("left"), Plot::new("middle"), Plot::new("right"));
    let mut counts = Counts { nearest: f64::INFINITY, ..Counts::default() };
    for z in grid().filter(|z| global.phi(z) < 0.0).collect::<Vec<_>>() {
        let (gap, image) = (global.phi(&z), local.project(z));
        let inside = global.phi(&image) >= 0.0;
        left.push([z[1], z[0]], [image[1], image[0]], inside);
        let image = global.project(&z);
        let image_gap = global.phi(&image);
        middle.push([z[1], gap], [image[1], image_gap], image_gap > 0.0);
        right.push([z[1], z[0]], [image[1], image[0]], image_gap > 0.0);
        counts.infeasible += 1;
        counts.missed_globally += if image_gap > 0.0 { 0 } else { 1 };
        if !inside {
            counts.missed += 1;
            counts.nearest = counts.nearest.min((z[0] - at[0]).hypot(z[1] - at[1]));
        }
    }
    let titles = [
        "left: the local map, in (x, y)",
        "middle: the global map, in normal form",
        "right: the global map, in (x, y)",
    ];
    let at = Some([IMPACT, at[0]]);
    let floor = |x: f64| -2.0 * x.sin();
    let tables = [
        left.tables(titles[0], "y", floor, at),
        middle.tables(titles[1], "φ", |_| 0.0, None),
        right.tables(titles[2], "y", floor, None),
    ];
    Ok((counts, tables.into_iter().flatten().collect()))
}

/// One of the three plots: infeasible configurations, those whose image is also infeasible, and the feasible images in the same
/// order.
struct Plot {
    name: &'static str,
    sent: Table,
    missed: Table,
    images: Table,
}

impl Plot {
    fn new(name: &'static str) -> Plot {
        let table = |part: &str| Table::new(format!("{name}{part}"), &["x", "y"]);
        Plot { name, sent: table(""), missed: table("-missed"), images: table("-images") }
    }

    fn push(&mut self, z: [f64; 2], image: [f64; 2], is_feasible: bool) {
        if is_feasible {
            self.sent.push(z.to_vec());
            self.images.push(image.to_vec());
        } else {
            self.missed.push(z.to_vec());
        }
    }

    /// The tables with their drawings: the configurations, the wall and, if given, the impact configuration.
    fn tables(self, panel: &str, up: &str, wall: fn(f64) -> f64, impact: Option<[f64; 2]>) -> Vec<Table> {
        let drawn = |table: Table, label: &str, mark: Mark| {
            let plane = Drawing { equal: true, ..Drawing::new(panel, "x", ["x", up]) };
            let count = if mark == Mark::Dots && table.rows.len() != 1 {
                format!(": {}", table.rows.len())
            } else {
                String::new()
            };
            table.drawn(plane.curve("y", format!("{label}{count}"), mark))
        };
        let mut floor = Table::new(format!("{}-wall", self.name), &["x", "y"]);
        (0..COUNT).map(along_the_grid).for_each(|x| floor.push(vec![x, wall(x)]));
        let mut tables = vec![
            drawn(self.sent, "projected", Mark::Dots),
            drawn(self.missed, "not projected", Mark::Dots),
            drawn(self.images, "images", Mark::Dots),
            drawn(floor, "wall", Mark::Line),
        ];
        if let Some(at) = impact {
            let mut table = Table::new(format!("{}-impact", self.name), &["x", "y"]);
            table.push(at.to_vec());
            tables.push(drawn(table, "impact", Mark::Dots));
        }
        tables
    }
}

fn grid() -> impl Iterator<Item = [f64; 2]> {
    (0..COUNT * COUNT).map(|k| [along_the_grid(k / COUNT), along_the_grid(k % COUNT)])
}

fn along_the_grid(i: usize) -> f64 {
    REACH * (2.0 * i as f64 / (COUNT - 1) as f64 - 1.0)
}
