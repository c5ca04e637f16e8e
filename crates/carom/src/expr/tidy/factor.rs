//! Pulling common factors out of sums: ½ (m₁ + m₂) L₁² θ̇₁² rather than two terms.

use std::collections::BTreeMap;

use super::poly::ONE;
use super::write::{Writer, product, sum};
use crate::expr::print::Class;
use crate::expr::print::number::as_ratio;
use crate::expr::{Expr, ExprNode, Func};

/// Powers of atoms, sorted by atom.
pub type Powers = Vec<(Expr, i32)>;
/// A coefficient and powers.
pub type Term = (f64, Powers);

/// Longer sums are not searched for atoms that some terms share.
const LARGEST_SPLIT: usize = 8;
/// Denominators up to this one are pulled out of a sum.
const LARGEST_DENOMINATOR: u64 = 144;

/// The work of writing a sum in all its forms, for each power in it.
const FORMS: usize = 40;

/// The sum over a denominator, with its common factors pulled out, in the form that is cheapest to read.
pub fn factored(writer: &Writer, terms: &[Term], below: Expr) -> Option<Expr> {
    writer.budget.spend(FORMS * terms.iter().map(|(_, powers)| 1 + powers.len()).sum::<usize>())?;
    if terms.len() < 2 {
        return Some(sum(terms) / below);
    }
    let content = common(terms);
    let number = numeric_content(terms);
    let scaled: Vec<Term> = terms.iter().map(|(c, powers)| (c / number, powers.clone())).collect();
    let inside: Vec<Term> = scaled.iter().map(|term| without(term, &content)).collect();
    let outside = product(number, &content);
    let mut forms = Vec::new();
    for level in [Class::Motion, Class::Coordinate] {
        for gather in [by_power, by_shape] {
            forms.push(gather(writer, terms, level));
            forms.push(outside * gather(writer, &inside, level));
        }
    }
    forms.extend([sum(terms), pulled(writer, terms)]);
    Some(writer.cheapest(forms.into_iter().map(|form| form / below)))
}

/// The powers in a term of atoms at or above a class, and those below it.
fn parted(writer: &Writer, term: &Term, level: Class) -> (Powers, Powers) {
    term.1.iter().partition(|(x, _)| writer.key(*x).0 >= level)
}

/// Σ C·μ: the terms gathered by their powers of velocities, or of coordinates and their functions.
fn by_power(writer: &Writer, terms: &[Term], level: Class) -> Expr {
    let mut groups: BTreeMap<Powers, Vec<Term>> = BTreeMap::new();
    for term in terms {
        groups.entry(parted(writer, term, level).0).or_default().push(term.clone());
    }
    groups.values().map(|group| pulled(writer, group)).sum()
}

/// Σ C·P: terms with one coefficient are gathered to a polynomial P, and coefficients of one polynomial to C, as in
/// ½ m₂ L₂² (θ̇₁ + θ̇₂)².
fn by_shape(writer: &Writer, terms: &[Term], level: Class) -> Expr {
    let mut shapes: BTreeMap<Powers, Vec<Term>> = BTreeMap::new();
    for term in terms {
        let (above, below) = parted(writer, term, level);
        shapes.entry(below).or_default().push((term.0, above));
    }
    let mut gathered: Vec<(Vec<Term>, Vec<Term>)> = Vec::new();
    for (coefficient, mut shape) in shapes {
        let first = shape[0].0;
        shape.iter_mut().for_each(|term| term.0 /= first);
        let same = |other: &Vec<Term>| {
            other.len() == shape.len()
                && other.iter().zip(&shape).all(|(a, b)| a.1 == b.1 && (a.0 - b.0).abs() <= 1e-13 * a.0.abs())
        };
        match gathered.iter_mut().find(|(other, _)| same(other)) {
            Some((_, coefficients)) => coefficients.push((first, coefficient)),
            None => gathered.push((shape, vec![(first, coefficient)])),
        }
    }
    let written = gathered.into_iter().map(|(shape, coefficients)| {
        let negative = shape.iter().filter(|(c, _)| *c < 0.0).count();
        let sign = if 2 * negative > shape.len() { -1.0 } else { 1.0 };
        let c = sign * numeric_content(&shape).abs();
        let scale = |terms: Vec<Term>, c: f64| terms.into_iter().map(|(a, x)| (a * c, x)).collect::<Vec<_>>();
        pulled(writer, &scale(coefficients, c)) * pulled(writer, &scale(shape, 1.0 / c))
    });
    written.sum()
}

/// The content of the terms, number and powers, times the rest. The same terms come up in many forms of one formula.
fn pulled(writer: &Writer, terms: &[Term]) -> Expr {
    if terms.len() < 2 {
        return sum(terms);
    }
    let key: Vec<(u64, Powers)> = terms.iter().map(|(c, powers)| (c.to_bits(), powers.clone())).collect();
    if let Some(&known) = writer.pulled.borrow().get(&key) {
        return known;
    }
    let form = pull(writer, terms);
    writer.pulled.borrow_mut().insert(key, form);
    form
}

fn pull(writer: &Writer, terms: &[Term]) -> Expr {
    let content = common(terms);
    let number = numeric_content(terms);
    let forms = [number, number.signum()].map(|c| {
        let inside: Vec<Term> = terms.iter().map(|(a, powers)| (a / c, powers.clone())).collect();
        let inside: Vec<Term> = inside.iter().map(|term| without(term, &content)).collect();
        product(c, &content) * split(writer, &inside)
    });
    // Parentheses are free here: in most places the sum would need them anyway.
    if writer.cost(forms[0]) <= writer.cost(forms[1]) + 1.75 { forms[0] } else { forms[1] }
}

/// The terms that share their most frequent atom apart from the others, if that is cheaper.
fn split(writer: &Writer, terms: &[Term]) -> Expr {
    let flat = square(writer, terms).or_else(|| angle_sum(writer, terms)).unwrap_or_else(|| sum(terms));
    if terms.len() > LARGEST_SPLIT {
        return flat;
    }
    let Some((atom, above)) = most_frequent(writer, terms) else { return flat };
    let shares = |term: &&Term| term.1.iter().any(|&(x, n)| x == atom && (n > 0) == above);
    let (with, rest): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(shares);
    let owned = |terms: Vec<&Term>| terms.into_iter().cloned().collect::<Vec<_>>();
    let apart = pulled(writer, &owned(with)) + split(writer, &owned(rest));
    writer.cheapest([flat, apart])
}

/// (a + b + …)², if the terms are one.
fn square(writer: &Writer, terms: &[Term]) -> Option<Expr> {
    let is_square = |(c, powers): &&Term| *c > 0.0 && powers.iter().all(|(_, n)| n % (2 * ONE) == 0);
    let root = |(c, powers): &Term| -> Option<Term> {
        let c = c.sqrt();
        as_ratio(c)?;
        Some((c, powers.iter().map(|&(x, n)| (x, n / 2)).collect()))
    };
    let mut roots: Vec<Term> = terms.iter().filter(is_square).map(root).collect::<Option<_>>()?;
    let n = roots.len();
    if n < 2 || n * (n + 1) / 2 != terms.len() {
        return None;
    }
    // The term that is written first is positive, whichever was made first.
    roots.sort_by_cached_key(|(_, powers)| {
        let mut keys: Vec<_> = powers.iter().map(|&(x, n)| (writer.key(x), n)).collect();
        keys.sort();
        keys
    });
    let cross = |a: &Term, b: &Term| {
        let mut powers = [a.1.as_slice(), b.1.as_slice()].concat();
        powers.sort_unstable();
        terms.iter().find(|term| term.1 == powers).map(|term| term.0 / (2.0 * a.0 * b.0))
    };
    for i in 1..n {
        roots[i].0 *= cross(&roots[0], &roots[i])?.signum();
    }
    let holds = |i: usize, j: usize| cross(&roots[i], &roots[j]).is_some_and(|c| (c - 1.0).abs() < 1e-13);
    (1..n).all(|j| (0..j).all(|i| holds(i, j))).then(|| sum(&roots).squared())
}

/// cos a cos b ∓ sin a sin b and sin a cos b ± cos a sin b, as one function of the sum or difference.
fn angle_sum(writer: &Writer, terms: &[Term]) -> Option<Expr> {
    let [(c, first), (d, second)] = terms else { return None };
    if (c.abs() - d.abs()).abs() > 1e-13 * c.abs() {
        return None;
    }
    let waves = |powers: &Powers| -> Option<Vec<(Func, Expr)>> {
        let wave = |&(x, n): &(Expr, i32)| match x.node() {
            ExprNode::Unary(f @ (Func::Sin | Func::Cos), angle) if n == ONE => Some((f, angle)),
            _ => None,
        };
        powers.iter().map(wave).collect()
    };
    let (first, second) = (waves(first)?, waves(second)?);
    let [(f, a), (g, b)] = first[..] else { return None };
    let has = |f: Func, x: Expr| second.contains(&(f, x));
    let flip = |f: Func| if f == Func::Sin { Func::Cos } else { Func::Sin };
    if a == b || second.len() != 2 || !has(flip(f), a) || !has(flip(g), b) {
        return None;
    }
    let same = c * d > 0.0;
    // The angle that is written first stands first in the difference, whichever was made first.
    let (first, second, sign) = if writer.key(a) <= writer.key(b) { (a, b, 1.0) } else { (b, a, -1.0) };
    let (wave, c) = match (f, g) {
        (Func::Cos, Func::Cos) => (if same { (first - second).cos() } else { (a + b).cos() }, *c),
        (Func::Sin, Func::Sin) => (if same { (first - second).cos() } else { (a + b).cos() }, *d),
        _ if same => ((a + b).sin(), *c),
        (Func::Sin, _) => ((first - second).sin(), sign * *c),
        _ => ((first - second).sin(), -sign * *c),
    };
    Some(product(c, &[(wave, ONE)]))
}

/// The atom that most terms share, above or below, if at least two but not all do.
fn most_frequent(writer: &Writer, terms: &[Term]) -> Option<(Expr, bool)> {
    let mut counts: BTreeMap<(Expr, bool), usize> = BTreeMap::new();
    let slow = |x: Expr| writer.key(x).0 < Class::Motion;
    for &(x, n) in terms.iter().flat_map(|term| &term.1).filter(|(x, _)| slow(*x)) {
        *counts.entry((x, n > 0)).or_default() += 1;
    }
    let best = counts.iter().filter(|&(_, &n)| n > 1 && n < terms.len()).max_by(|a, b| {
        let by_name = || (writer.key(b.0.0), b.0.1).cmp(&(writer.key(a.0.0), a.0.1));
        a.1.cmp(b.1).then_with(by_name)
    });
    best.map(|(&atom, _)| atom)
}

/// The powers that every term has, above or below.
fn common(terms: &[Term]) -> Powers {
    let mut content = terms.first().map(|term| term.1.clone()).unwrap_or_default();
    for (_, powers) in &terms[1.min(terms.len())..] {
        for (x, n) in &mut content {
            let other = powers.iter().find(|(y, _)| y == x).map_or(0, |(_, n)| *n);
            *n = if *n > 0 { (*n).min(other).max(0) } else { (*n).max(other).min(0) };
        }
        content.retain(|(_, n)| *n != 0);
    }
    content
}

fn without(term: &Term, content: &[(Expr, i32)]) -> Term {
    let mut powers = term.1.clone();
    for (x, n) in &mut powers {
        *n -= content.iter().find(|(y, _)| y == x).map_or(0, |(_, n)| *n);
    }
    powers.retain(|(_, n)| *n != 0);
    (term.0, powers)
}

/// The number that divides all coefficients, negative if all are: ½ for ½ and 3/2.
fn numeric_content(terms: &[Term]) -> f64 {
    let sign = if terms.iter().all(|(c, _)| *c < 0.0) { -1.0 } else { 1.0 };
    let first = terms.first().map_or(1.0, |(c, _)| c.abs());
    if terms.iter().all(|(c, _)| (c.abs() - first).abs() <= 1e-14 * first) {
        return sign * first;
    }
    let (mut p, mut q) = (0, 1);
    for (c, _) in terms {
        let Some((a, b)) = as_ratio(c.abs()).filter(|&(a, b)| a < 10_000 && b <= LARGEST_DENOMINATOR) else {
            return sign;
        };
        if b.is_multiple_of(5) {
            return sign;
        }
        (p, q) = (gcd(p, a), q / gcd(q, b) * b);
    }
    sign * p as f64 / q as f64
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
