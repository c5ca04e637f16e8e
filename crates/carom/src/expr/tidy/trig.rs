//! The ways to write a polynomial with phases in sines and cosines.

use std::collections::BTreeMap;

use super::factor::{Powers, Term};
use super::poly::{Base, Complex, Monomial, ONE, Poly};
use super::write::{Writer, sum};
use crate::expr::Expr;

/// How the double angle is written.
#[derive(Clone, Copy, PartialEq)]
enum Double {
    /// cos 2x.
    Keep,
    /// 1 − 2 sin² x.
    Sine,
    /// 2 cos² x − 1.
    Cosine,
}

const DOUBLES: [Double; 3] = [Double::Keep, Double::Sine, Double::Cosine];

/// The coefficients of cos α and sin α, by powers of atoms and angle α.
type Waves = BTreeMap<(Powers, Powers), (f64, f64)>;

/// Double angles times terms beyond which each is not chosen by itself.
const LARGEST_CHOICE: usize = 200;
/// With more terms than this, products of sines and cosines are not tried.
const LARGEST_EXPANSION: usize = 150;

/// A real sum, by powers.
#[derive(Default)]
struct Real(BTreeMap<Powers, f64>);

impl Real {
    fn add(&mut self, mut powers: Powers, c: f64) {
        powers.sort_unstable();
        let entry = self.0.entry(powers).or_insert(0.0);
        let sum = *entry + c;
        *entry = if sum.abs() <= 1e-13 * c.abs().max(entry.abs()) { 0.0 } else { sum };
    }

    fn terms(self) -> Vec<Term> {
        self.0.into_iter().filter(|(_, c)| *c != 0.0).map(|(powers, c)| (c, powers)).collect()
    }
}

/// All forms of a real polynomial; none if it is not real.
pub fn forms(writer: &Writer, poly: &Poly) -> Option<Vec<Vec<Term>>> {
    let has_phases = poly.0.keys().any(|m| m.0.iter().any(|(base, _)| matches!(base, Base::Phase(_))));
    writer.budget.spend(4 * poly.size())?;
    let waves = waves(writer, poly);
    if !has_phases {
        return Some(vec![fourier(&waves, &|_| Double::Keep)]);
    }
    writer.budget.spend(12 * poly.size())?;
    let mut forms: Vec<_> = DOUBLES.into_iter().map(|double| fourier(&waves, &|_| double)).collect();
    forms.extend(mixed(writer, &waves));
    forms.extend(choices(writer, poly).iter().filter_map(|sines| expanded(writer, poly, sines)));
    Some(forms)
}

/// Powers of atoms, and the angle of the phase.
fn split(monomial: &Monomial) -> (Powers, Powers) {
    let (mut atoms, mut phases) = (Vec::new(), Vec::new());
    for &(base, n) in &monomial.0 {
        match base {
            Base::Atom(x) => atoms.push((x, n)),
            Base::Phase(x) => phases.push((x, n)),
        }
    }
    (atoms, phases)
}

/// The coefficients of cos α and sin α, by powers of atoms and angle α: c e^{isα} = c cos α + i s c sin α.
fn waves(writer: &Writer, poly: &Poly) -> Waves {
    let mut waves = Waves::new();
    for (monomial, c) in &poly.0 {
        let (atoms, mut angle) = split(monomial);
        angle.sort_by_cached_key(|&(x, _)| writer.key(x));
        let sign = if angle.first().is_some_and(|&(_, n)| n < 0) { -1 } else { 1 };
        for (_, n) in &mut angle {
            *n *= sign;
        }
        let wave = waves.entry((atoms, angle)).or_insert((0.0, 0.0));
        wave.0 += c.re;
        wave.1 -= f64::from(sign) * c.im;
    }
    waves
}

/// Sines and cosines of multiple angles, double ones as `double` says.
fn fourier(waves: &Waves, double: &dyn Fn(&Powers) -> Double) -> Vec<Term> {
    let mut sum = Real::default();
    for ((atoms, angle), &pair) in waves {
        add_wave(&mut sum, atoms.clone(), angle, pair, double(angle));
    }
    sum.terms()
}

/// Each double angle in the way that makes the sum cheapest, one after the other.
fn mixed(writer: &Writer, waves: &Waves) -> Option<Vec<Term>> {
    let is_double = |angle: &&Powers| !angle.is_empty() && angle.iter().all(|(_, n)| n % (2 * ONE) == 0);
    let mut angles: Vec<&Powers> = waves.keys().map(|(_, angle)| angle).filter(is_double).collect();
    angles.sort();
    angles.dedup();
    if angles.len() < 2 || angles.len() * waves.len() > LARGEST_CHOICE {
        return None;
    }
    angles.sort_by_cached_key(|angle| angle.iter().map(|&(x, n)| (writer.key(x), n)).collect::<Vec<_>>());
    let mut chosen: BTreeMap<Powers, Double> = BTreeMap::new();
    for angle in angles {
        writer.budget.spend(12 * waves.len())?;
        let price = |double: &Double| {
            let pick = |a: &Powers| if a == angle { *double } else { *chosen.get(a).unwrap_or(&Double::Keep) };
            (writer.cost(sum(&fourier(waves, &pick))) * 8.0) as u64
        };
        let best = DOUBLES.into_iter().min_by_key(price).unwrap_or(Double::Keep);
        chosen.insert(angle.clone(), best);
    }
    Some(fourier(waves, &|a| *chosen.get(a).unwrap_or(&Double::Keep)))
}

/// Adds atoms·(cos·cos α + sin·sin α).
fn add_wave(sum: &mut Real, atoms: Powers, angle: &[(Expr, i32)], (cos, sin): (f64, f64), double: Double) {
    let with = |extra: &[(Expr, i32)]| [atoms.as_slice(), extra].concat();
    if angle.is_empty() {
        return sum.add(atoms, cos);
    }
    let total =
        |divisor: i32| -> Expr { angle.iter().map(|&(x, n)| f64::from(n) / f64::from(ONE * divisor) * x).sum() };
    if double == Double::Keep || angle.iter().any(|(_, n)| n % (2 * ONE) != 0) {
        let alpha = total(1);
        sum.add(with(&[(alpha.cos(), ONE)]), cos);
        sum.add(with(&[(alpha.sin(), ONE)]), sin);
        return;
    }
    let beta = total(2);
    sum.add(with(&[(beta.sin(), ONE), (beta.cos(), ONE)]), 2.0 * sin);
    let (square, sign) = if double == Double::Sine { (beta.sin(), 1.0) } else { (beta.cos(), -1.0) };
    sum.add(atoms.clone(), sign * cos);
    sum.add(with(&[(square, 2 * ONE)]), -2.0 * sign * cos);
}

/// The sets of angles whose cos² is replaced by 1 − sin²; for the others sin² is replaced. All sets if there are few.
fn choices(writer: &Writer, poly: &Poly) -> Vec<Vec<Expr>> {
    let mut angles: Vec<Expr> = poly.0.keys().flat_map(|monomial| split(monomial).1).map(|(x, _)| x).collect();
    angles.sort_unstable();
    angles.dedup();
    angles.sort_by_cached_key(|&x| writer.key(x));
    if angles.len() > 3 || poly.0.len() > LARGEST_EXPANSION / 4 {
        return vec![angles, Vec::new()];
    }
    let subset = |bits: usize| angles.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, &x)| x).collect();
    (0..1 << angles.len()).rev().map(subset).collect()
}

/// Products of sines and cosines of single atoms, with the square of one of the two replaced.
fn expanded(writer: &Writer, poly: &Poly, sines: &[Expr]) -> Option<Vec<Term>> {
    let mut sum = Poly::default();
    for (monomial, &c) in &poly.0 {
        let (atoms, phases) = split(monomial);
        let atoms = Monomial(atoms.into_iter().map(|(x, n)| (Base::Atom(x), n)).collect());
        let mut term = Poly::term(atoms, c);
        for (x, n) in phases {
            if n % ONE != 0 || n.abs() > 4 * ONE {
                return None;
            }
            let sign = f64::from(n.signum());
            let mut wave = Poly::term(Monomial::of(Base::Atom(x.cos()), ONE), Complex::real(1.0));
            wave.add_term(Monomial::of(Base::Atom(x.sin()), ONE), Complex { re: 0.0, im: sign });
            for _ in 0..n.abs() / ONE {
                writer.budget.spend(8 * term.size())?;
                term = without_squares(&term.times(&wave), x, sines.contains(&x));
            }
        }
        sum.add_product(&term, &Monomial::default(), Complex::real(1.0));
        if sum.0.len() > LARGEST_EXPANSION {
            return None;
        }
    }
    let mut real = Real::default();
    for (monomial, c) in &sum.0 {
        real.add(split(monomial).0, c.re);
    }
    Some(real.terms())
}

/// Replaces cos² x by 1 − sin² x, or sin² x by 1 − cos² x.
fn without_squares(poly: &Poly, x: Expr, keep_sine: bool) -> Poly {
    let (kept, gone) = if keep_sine { (x.sin(), x.cos()) } else { (x.cos(), x.sin()) };
    let (kept, gone) = (Monomial::of(Base::Atom(kept), 2 * ONE), Monomial::of(Base::Atom(gone), -2 * ONE));
    let mut out = Poly::default();
    for (monomial, &c) in &poly.0 {
        if monomial.exponent(gone.0[0].0) < 2 * ONE {
            out.add_term(monomial.clone(), c);
            continue;
        }
        let rest = monomial.times(&gone);
        out.add_term(rest.times(&kept), c.times(Complex::real(-1.0)));
        out.add_term(rest, c);
    }
    out
}
