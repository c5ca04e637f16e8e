//! From an expression to its [`Layout`]: sums, products as fractions, powers, roots, functions, signs.

use std::cmp::{Ordering, Reverse};

use rustc_hash::FxHashMap;

use super::layout::{Call, Layout};
use super::notation::{Class, Notation};
use super::number::{self, Number};
use super::text;
use crate::expr::{Expr, ExprNode, Func, Op, with_arena};

/// Expressions with more nodes than this, written out, are abbreviated.
pub const LARGEST: f64 = 20_000.0;
/// So are those nested deeper than this; chains of sums and of products count once.
pub const DEEPEST: u32 = 250;

/// The number of nodes of e written out, without sharing, and its nesting depth; infinite if it is more than
/// [`LARGEST`] even with sharing.
pub fn extent(e: Expr) -> (f64, u32) {
    with_arena(|a| {
        let Some(nodes) = a.reachable_within(e, LARGEST as usize) else { return (f64::INFINITY, 0) };
        let mut extents: FxHashMap<Expr, (f64, u32)> = FxHashMap::default();
        for x in nodes {
            let node = a.node(x);
            let (mut size, mut depth) = (1.0, 0);
            for operand in node.operands() {
                let (s, d) = extents[&operand];
                size += s;
                depth = depth.max(d + u32::from(chain(node) == 0 || chain(node) != chain(a.node(operand))));
            }
            extents.insert(x, (size, depth));
        }
        extents[&e]
    })
}

/// 1 for what is flattened into a sum, 2 for a product, 0 for the rest.
fn chain(node: ExprNode) -> u8 {
    match node {
        ExprNode::Binary(Op::Add | Op::Sub, ..) => 1,
        ExprNode::Binary(Op::Mul | Op::Div, ..) => 2,
        _ => 0,
    }
}

/// The shape of e.
pub fn compose(e: Expr, notation: &Notation) -> Layout {
    compose_within(e, notation, LARGEST).0
}

/// The shape of e and its size, or its size in words if it is larger than `room`.
pub fn compose_within(e: Expr, notation: &Notation, room: f64) -> (Layout, f64) {
    let (size, depth) = extent(e);
    let words = if size.is_infinite() {
        format!("⟨expression of more than {LARGEST} terms⟩")
    } else if size > room.min(LARGEST) {
        format!("⟨expression of {size:.1e} terms⟩")
    } else if depth > DEEPEST {
        format!("⟨expression nested {depth} deep⟩")
    } else {
        return (Composer { ranks: ranks(e, notation), notation }.layout(e), size);
    };
    (Layout::Words(words), 0.0)
}

/// What decides where a part of an expression stands.
#[derive(Clone, Copy, Default)]
struct Rank {
    /// The highest class among its symbols.
    class: Class,
    /// The first place in that class.
    place: u32,
    /// The degree in the velocities.
    degree: usize,
}

/// The rank of each part of e.
fn ranks(e: Expr, notation: &Notation) -> FxHashMap<Expr, Rank> {
    with_arena(|a| {
        let mut ranks: FxHashMap<Expr, Rank> = FxHashMap::default();
        for x in a.reachable(&[e]) {
            let node = a.node(x);
            let rank = if let ExprNode::Symbol(s) = node {
                let (class, place) = notation.rank(&a.name(s));
                Rank { class, place, degree: usize::from(class == Class::Motion) }
            } else {
                let below: Vec<Rank> = node.operands().map(|y| ranks[&y]).collect();
                let highest = below.iter().max_by_key(|rank| (rank.class, Reverse(rank.place)));
                let degrees = below.iter().map(|rank| rank.degree);
                let degree = match node {
                    ExprNode::Binary(Op::Mul, ..) => degrees.sum(),
                    ExprNode::Binary(Op::Div, y, _) => ranks[&y].degree,
                    ExprNode::Binary(Op::Pow, y, n) => ranks[&y].degree * whole_power(a.as_const(n)),
                    _ => degrees.max().unwrap_or(0),
                };
                Rank { degree: degree.min(MOST), ..highest.copied().unwrap_or_default() }
            };
            ranks.insert(x, rank);
        }
        ranks
    })
}

/// Degrees beyond this are not told apart.
const MOST: usize = 9;

fn whole_power(n: Option<f64>) -> usize {
    n.unwrap_or(1.0).clamp(1.0, MOST as f64) as usize
}

/// A product taken apart: coefficient · numerator / denominator.
struct Factors {
    coefficient: f64,
    numerator: Vec<Expr>,
    denominator: Vec<Expr>,
}

impl Factors {
    fn of(e: Expr) -> Factors {
        let mut factors = Factors { coefficient: 1.0, numerator: Vec::new(), denominator: Vec::new() };
        let mut stack = vec![(e, true)];
        while let Some((x, above)) = stack.pop() {
            match x.node() {
                ExprNode::Const(c) if above => factors.coefficient *= c,
                ExprNode::Const(c) if c != 0.0 => factors.coefficient /= c,
                ExprNode::Unary(Func::Neg, y) => {
                    factors.coefficient = -factors.coefficient;
                    stack.push((y, above));
                }
                ExprNode::Binary(Op::Mul, y, z) => stack.extend([(z, above), (y, above)]),
                ExprNode::Binary(Op::Div, y, z) => stack.extend([(z, !above), (y, above)]),
                _ if above => factors.numerator.push(x),
                _ => factors.denominator.push(x),
            }
        }
        factors
    }
}

/// What decides the place of a term in a sum; the smallest stands first.
type TermKey = ((bool, Vec<u32>), (Reverse<usize>, Vec<u32>), (Reverse<usize>, Vec<u32>), u8, [Vec<u32>; 2]);

struct Composer<'a> {
    notation: &'a Notation,
    ranks: FxHashMap<Expr, Rank>,
}

impl Composer<'_> {
    fn layout(&self, e: Expr) -> Layout {
        match e.node() {
            ExprNode::Const(c) if c < 0.0 => Layout::Sum(vec![(true, Layout::Number(number::write(-c)))]),
            ExprNode::Const(c) => Layout::Number(number::write(c)),
            ExprNode::Pi => Layout::name("pi"),
            ExprNode::Symbol(s) => Layout::name(&with_arena(|a| a.name(s))),
            ExprNode::Unary(Func::Neg, _) | ExprNode::Binary(Op::Add | Op::Sub, ..) => self.sum(e),
            ExprNode::Binary(Op::Mul | Op::Div, ..) => {
                let (negative, product) = self.product(e);
                if negative { Layout::Sum(vec![(true, product)]) } else { product }
            }
            ExprNode::Unary(f, x) => self.function(f, x, None),
            ExprNode::Binary(Op::Pow, x, n) => self.power(x, n),
            ExprNode::Binary(op @ (Op::Atan2 | Op::Min | Op::Max | Op::Where), x, y) => Layout::Call(Call {
                function: op.name(),
                power: None,
                arguments: vec![self.layout(x), self.layout(y)],
                bare: false,
            }),
        }
    }

    fn function(&self, f: Func, x: Expr, power: Option<u32>) -> Layout {
        let argument = self.layout(x);
        match f {
            Func::Sqrt => return Layout::Root(Box::new(argument)),
            Func::Abs => return Layout::Abs(Box::new(argument)),
            _ => {}
        }
        let function = match f {
            Func::Asin => "arcsin",
            Func::Acos => "arccos",
            Func::Atan => "arctan",
            f => f.name(),
        };
        let simple = matches!(&argument, Layout::Name(name) if name.side.is_none());
        let bare = simple && !matches!(f, Func::Exp | Func::Log | Func::Sign | Func::Floor);
        Layout::Call(Call { function, power, arguments: vec![argument], bare })
    }

    fn power(&self, x: Expr, n: Expr) -> Layout {
        if let (ExprNode::Unary(f, y), Some(n)) = (x.node(), n.as_const()) {
            let written_inside = matches!(f, Func::Sin | Func::Cos | Func::Tan | Func::Sinh | Func::Cosh | Func::Tanh);
            if written_inside && n.fract() == 0.0 && (2.0..100.0).contains(&n) {
                return self.function(f, y, Some(n as u32));
            }
        }
        Layout::Power(Box::new(self.layout(x).as_base()), Box::new(self.layout(n)))
    }

    /// The terms of e, the sums in it flattened, a positive one first.
    fn sum(&self, e: Expr) -> Layout {
        let mut terms = Vec::new();
        let mut stack = vec![(e, false)];
        while let Some((x, negative)) = stack.pop() {
            match x.node() {
                ExprNode::Unary(Func::Neg, y) => stack.push((y, !negative)),
                ExprNode::Binary(Op::Add, y, z) => stack.extend([(z, negative), (y, negative)]),
                ExprNode::Binary(Op::Sub, y, z) => stack.extend([(z, !negative), (y, negative)]),
                _ => terms.push((x, negative)),
            }
        }
        let number_last = terms.iter().any(|(x, _)| self.is_scaled(*x));
        let mut keyed: Vec<(TermKey, bool, Layout)> = Vec::new();
        for (x, negative) in terms {
            let (sign, layout) = self.product(x);
            keyed.push((self.term_key(x, number_last), sign != negative, layout));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| by_text(&a.2, &b.2)));
        if let Some(first) = keyed.iter().position(|(_, negative, _)| !negative) {
            keyed[..=first].rotate_right(1);
        }
        Layout::Sum(keyed.into_iter().map(|(_, negative, layout)| (negative, layout)).collect())
    }

    /// True for a function of coordinates times a parameter: L sin θ + ¼, but 1 − cos θ and 1 + e.
    fn is_scaled(&self, e: Expr) -> bool {
        let factors = Factors::of(e);
        let has_parameter = factors.numerator.iter().any(|x| self.ranks[x].class == Class::Parameter);
        has_parameter && self.ranks[&e].class >= Class::Coordinate
    }

    fn term_key(&self, e: Expr, number_last: bool) -> TermKey {
        let factors = Factors::of(e);
        let (mut acceleration, mut motion, mut coordinates) = (vec![], vec![], vec![]);
        let (mut functions, mut parameters) = (vec![], vec![]);
        for &x in &factors.numerator {
            let (base, times) = match x.node() {
                ExprNode::Binary(Op::Pow, b, n) => (b, whole_power(n.as_const())),
                _ => (x, 1),
            };
            let Rank { class, place, .. } = self.ranks[&base];
            let is_symbol = matches!(base.node(), ExprNode::Symbol(_));
            match class {
                Class::Acceleration => acceleration.push(place),
                Class::Motion => motion.extend(std::iter::repeat_n(place, self.ranks[&x].degree)),
                Class::Coordinate if is_symbol => coordinates.extend(std::iter::repeat_n(place, times)),
                Class::Coordinate => functions.push(self.places(base)),
                Class::Parameter => parameters.push(place),
                Class::Number => {}
            }
        }
        let is_number = factors.numerator.is_empty() && factors.denominator.is_empty();
        let kind = if is_number && number_last { 2 } else { u8::from(!functions.is_empty()) };
        for places in [&mut acceleration, &mut motion, &mut coordinates, &mut parameters] {
            places.sort_unstable();
        }
        functions.sort_unstable();
        let by_degree = |places: Vec<u32>| (Reverse(places.len()), places);
        (
            (acceleration.is_empty(), acceleration),
            by_degree(motion),
            by_degree(coordinates),
            kind,
            [functions.concat(), parameters],
        )
    }

    /// The places of the coordinates in e.
    fn places(&self, e: Expr) -> Vec<u32> {
        let names = e.symbols().into_iter().map(|s| self.notation.rank(&s.to_source()));
        let mut places: Vec<u32> = names.filter(|(class, _)| *class == Class::Coordinate).map(|(_, n)| n).collect();
        places.sort_unstable();
        places
    }

    /// The sign and the shape of a product.
    fn product(&self, e: Expr) -> (bool, Layout) {
        let Factors { coefficient, numerator, denominator } = Factors::of(e);
        let negative = coefficient < 0.0;
        let number = number::write(coefficient.abs());
        if numerator.is_empty() && denominator.is_empty() {
            return (negative, Layout::Number(number));
        }
        let (above, below) = (self.factors(&numerator), self.factors(&denominator));
        if below.is_empty() {
            let factors = above.into_iter().map(|(_, layout)| layout).collect();
            return (negative, multiply(Some(number), factors));
        }
        let (p, q) = match number {
            Number::Ratio(p, q) => (Number::Ratio(p, 1), Some(Number::Ratio(q, 1))),
            decimal => (decimal, None),
        };
        let constant_below = below.iter().all(|(class, _)| *class <= Class::Parameter);
        let (mut front, mut rest): (Vec<_>, Vec<_>) = (above, Vec::new());
        if constant_below && front.iter().any(|(class, _)| *class == Class::Parameter) {
            (front, rest) = front.into_iter().partition(|(class, _)| *class <= Class::Parameter);
        }
        let strip = |pairs: Vec<(Class, Layout)>| pairs.into_iter().map(|(_, layout)| layout).collect::<Vec<_>>();
        let fraction = multiply(Some(p), strip(front)).unwrapped().over(multiply(q, strip(below)).unwrapped());
        let mut factors = vec![fraction];
        factors.extend(strip(rest));
        (negative, multiply(None, factors))
    }

    /// The factors, in the order in which they are written.
    fn factors(&self, factors: &[Expr]) -> Vec<(Class, Layout)> {
        let mut keyed: Vec<_> = factors
            .iter()
            .map(|&x| {
                let layout = self.layout(x).as_factor();
                let Rank { class, place, .. } = self.ranks[&x];
                // (m₁ + m₂) L², but g (1 − cos θ).
                let is_sum = |layout: &Layout| matches!(layout, Layout::Parentheses(_));
                let (kind, sum_last) = match &layout {
                    Layout::Name(_) => (0, true),
                    Layout::Power(base, _) if matches!(**base, Layout::Name(_)) => (0, true),
                    Layout::Power(base, _) if is_sum(base) => (2, class > Class::Parameter),
                    sum if is_sum(sum) => (2, class > Class::Parameter),
                    _ => (1, true),
                };
                let kind = if class <= Class::Parameter { 0 } else { kind };
                ((class, kind, place, sum_last), layout)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| by_text(&a.1, &b.1)));
        keyed.into_iter().map(|((class, ..), layout)| (class, layout)).collect()
    }
}

/// What decides where nothing else does.
fn by_text(a: &Layout, b: &Layout) -> Ordering {
    text::render(a).cmp(&text::render(b))
}

/// number · factors, without a 1 and with parentheses where a function is followed by something else.
fn multiply(number: Option<Number>, mut factors: Vec<Layout>) -> Layout {
    if let Some(number) = number
        && (number != Number::Ratio(1, 1) || factors.is_empty())
    {
        factors.insert(0, Layout::Number(number));
    }
    for i in 1..factors.len() {
        let next_is_call = matches!(factors[i], Layout::Call(_));
        if let Layout::Call(call) = &mut factors[i - 1]
            && !next_is_call
        {
            call.bare = false;
        }
    }
    if factors.len() == 1 { factors.remove(0) } else { Layout::Product(factors) }
}

impl Layout {
    /// Without its outer parentheses, for a place that has room of its own.
    fn unwrapped(self) -> Layout {
        match self {
            Layout::Parentheses(inner) => *inner,
            other => other,
        }
    }
}
