//! From expressions to polynomials.
//!
//! Denominators and roots that are sums become variables of their own, with the polynomial behind them remembered, so
//! that a whole power of one can be multiplied out and a numerator can be divided by it.

use rustc_hash::FxHashMap;

use super::gcd::common_divisor;
use super::poly::{Base, Complex, Monomial, ONE, Poly};
use super::write::Writer;
use crate::expr::print::number::as_ratio;
use crate::expr::{Arena, Expr, ExprNode, Func, Op, with_arena};

/// Results with more terms than this are not worth reading.
const LARGEST: usize = 1000;
/// An angle with more terms than this is an atom.
const LONGEST_ANGLE: usize = 12;

/// Turns expressions into polynomials and back.
pub struct Ring<'a> {
    pub writer: &'a Writer<'a>,
    /// Sines and cosines by phases; otherwise they are atoms.
    phases: bool,
    /// Variables that stand for a polynomial.
    composite: FxHashMap<Expr, Poly>,
    /// Those that stand for a sum, in the order in which they were found.
    sums: Vec<Expr>,
}

impl<'a> Ring<'a> {
    pub fn new(writer: &'a Writer<'a>, phases: bool) -> Ring<'a> {
        Ring { writer, phases, composite: FxHashMap::default(), sums: Vec::new() }
    }

    /// e as a polynomial, unless that takes too long or divides by zero.
    pub fn polynomial(&mut self, e: Expr) -> Option<Poly> {
        let mut polys: FxHashMap<Expr, Poly> = FxHashMap::default();
        for x in with_arena(|a| by_height(a, e)) {
            let poly = self.node(x, &polys)?;
            self.spend(poly.size())?;
            if poly.0.len() > LARGEST || poly.0.values().any(|c| !c.re.is_finite() || !c.im.is_finite()) {
                return None;
            }
            polys.insert(x, poly);
        }
        polys.remove(&e)
    }

    fn spend(&self, work: usize) -> Option<()> {
        self.writer.budget.spend(work)
    }

    fn node(&mut self, e: Expr, polys: &FxHashMap<Expr, Poly>) -> Option<Poly> {
        Some(match e.node() {
            ExprNode::Const(c) => Poly::constant(c),
            ExprNode::Pi | ExprNode::Symbol(_) => atom(e),
            ExprNode::Unary(Func::Neg, x) => Poly::default().plus(-1.0, &polys[&x]),
            ExprNode::Unary(Func::Sqrt, x) => self.root(&polys[&x], 1)?,
            ExprNode::Unary(f @ (Func::Sin | Func::Cos), x) if self.phases => self.wave(f, &polys[&x])?,
            ExprNode::Unary(f, x) => atom(self.write(&polys[&x])?.apply(f)),
            ExprNode::Binary(Op::Add, x, y) => polys[&x].plus(1.0, &polys[&y]),
            ExprNode::Binary(Op::Sub, x, y) => polys[&x].plus(-1.0, &polys[&y]),
            ExprNode::Binary(Op::Mul, x, y) => self.product(&polys[&x], &polys[&y])?,
            ExprNode::Binary(Op::Div, x, y) => {
                let inverse = self.inverse(&polys[&y])?;
                self.product(&polys[&x], &inverse)?
            }
            ExprNode::Binary(Op::Pow, x, n) => self.power(&polys[&x], &polys[&n])?,
            ExprNode::Binary(op, x, y) => {
                let (x, y) = (self.write(&polys[&x])?, self.write(&polys[&y])?);
                atom(x.combine(op, y))
            }
        })
    }

    /// The polynomial as an expression.
    pub fn write(&mut self, poly: &Poly) -> Option<Expr> {
        let (numerator, denominator) = self.together(poly)?;
        let below = numerator.floor().without_phases().below();
        let cleared = numerator.scaled(&below, Complex::real(1.0));
        let over_one = self.writer.fraction(&cleared, &denominator.times(&below))?;
        if denominator.0.is_empty() && below.0.is_empty() {
            return Some(over_one);
        }
        let apart = self.writer.fraction(poly, &Monomial::default())?;
        Some(self.writer.cheapest([over_one, apart]))
    }

    pub fn product(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        self.spend(a.work(b))?;
        self.multiply_out(a.times(b))
    }

    /// Whole powers of what stands for a polynomial, multiplied out one by one.
    fn multiply_out(&mut self, mut poly: Poly) -> Option<Poly> {
        let whole = |m: &Monomial| -> Option<(Monomial, &Poly)> {
            m.0.iter().find_map(|&(base, n)| match base {
                Base::Atom(x) if n >= ONE => Some((m.times(&Monomial::of(base, -ONE)), self.composite.get(&x)?)),
                _ => None,
            })
        };
        loop {
            self.spend(poly.size())?;
            if poly.0.len() > LARGEST || !poly.0.keys().any(|m| whole(m).is_some()) {
                return (poly.0.len() <= LARGEST).then_some(poly);
            }
            let mut sum = Poly::default();
            for (monomial, &c) in &poly.0 {
                match whole(monomial) {
                    None => sum.add_term(monomial.clone(), c),
                    Some((rest, behind)) => {
                        self.spend(behind.size() + behind.0.len() * rest.0.len())?;
                        sum.add_product(behind, &rest, c);
                    }
                }
            }
            poly = sum;
        }
    }

    /// poly = numerator/denominator with no sum left below a numerator's term; common factors are cancelled.
    fn together(&mut self, poly: &Poly) -> Option<(Poly, Monomial)> {
        let is_sum = |&(base, n): &(Base, i32)| match base {
            Base::Atom(x) => n < 0 && self.composite.contains_key(&x),
            Base::Phase(_) => false,
        };
        let mut floor = poly.floor();
        floor.0.retain(is_sum);
        let denominator = floor.inverse();
        let mut numerator = self.multiply_out(poly.scaled(&denominator, Complex::real(1.0)))?;
        let mut left = Monomial::default();
        let mut factors = denominator.0;
        while let Some((base, mut n)) = factors.pop() {
            let Base::Atom(x) = base else { continue };
            let behind = self.composite[&x].clone();
            while n >= ONE
                && let Some(quotient) = numerator.divided_by(&behind, &self.writer.budget)
            {
                numerator = quotient;
                n -= ONE;
            }
            // S/√S = √S.
            if (1..ONE).contains(&n)
                && behind.0.len() > 1
                && let Some(quotient) = numerator.divided_by(&behind, &self.writer.budget)
            {
                numerator = quotient.scaled(&Monomial::of(base, ONE - n), Complex::real(1.0));
                n = 0;
            }
            if n >= ONE
                && let Some((above, below)) = self.cancelled(&numerator, &behind)
            {
                numerator = above;
                factors.push((base, n - ONE));
                factors.extend(below.0);
            } else if n > 0 {
                left = left.times(&Monomial::of(base, n));
            }
        }
        Some((numerator, left))
    }

    /// a/b without a common factor, if they have one: the numerator, and what else stands below it.
    fn cancelled(&mut self, a: &Poly, b: &Poly) -> Option<(Poly, Monomial)> {
        // A common factor in phases need not be real.
        if self.phases {
            return None;
        }
        let budget = &self.writer.budget;
        let divisor = common_divisor(a, b, budget)?;
        let (above, below) = (a.divided_by(&divisor, budget)?, b.divided_by(&divisor, budget)?);
        let inverse = self.inverse_sum(below)?;
        let (monomial, &c) = inverse.0.iter().next()?;
        let is_composite = |(base, _): &(Base, i32)| matches!(base, Base::Atom(x) if self.composite.contains_key(x));
        let (sums, rest) = monomial.0.iter().copied().partition(is_composite);
        Some((above.scaled(&Monomial(rest), c), Monomial(sums).inverse()))
    }

    fn inverse(&mut self, poly: &Poly) -> Option<Poly> {
        if poly.0.is_empty() {
            return None;
        }
        let (numerator, denominator) = self.together(poly)?;
        let flipped = self.inverse_sum(numerator)?;
        self.multiply_out(flipped.scaled(&denominator, Complex::real(1.0)))
    }

    /// 1/poly: the content and every divisor already known are split off, the rest becomes a variable.
    fn inverse_sum(&mut self, mut poly: Poly) -> Option<Poly> {
        let mut inverse = Poly::constant(1.0);
        for &x in &self.sums {
            while poly.0.len() > 1
                && let Some(quotient) = poly.divided_by(&self.composite[&x], &self.writer.budget)
            {
                inverse = inverse.times(&atom_power(x, -ONE));
                poly = quotient;
            }
        }
        if let Some(term) = poly.inverse_term() {
            return Some(inverse.times(&term));
        }
        let monomial = poly.floor().without_phases().inverse();
        let rest = poly.scaled(&monomial, Complex::real(1.0));
        let written = self.writer.fraction(&rest, &Monomial::default())?;
        let (c, name) = with_arena(|a| a.split_coefficient(written));
        self.stands_for(name, rest.scaled(&Monomial::default(), Complex::real(1.0 / c)));
        let outside = monomial.times(&Monomial::of(Base::Atom(name), -ONE));
        Some(inverse.scaled(&outside, Complex::real(1.0 / c)))
    }

    /// Makes a variable stand for a polynomial.
    fn stands_for(&mut self, name: Expr, behind: Poly) {
        // A single term divides every sum, without end.
        let is_sum = behind.0.len() > 1;
        if self.composite.insert(name, behind).is_none() && is_sum {
            self.sums.push(name);
        }
    }

    fn power(&mut self, x: &Poly, n: &Poly) -> Option<Poly> {
        match n.as_constant() {
            Some(n) if n.fract() == 0.0 && (1.0..=16.0).contains(&n) => {
                let mut power = x.clone();
                for _ in 1..n as usize {
                    power = self.product(&power, x)?;
                }
                Some(power)
            }
            Some(n) if (2.0 * n).fract() == 0.0 && (0.0..=16.0).contains(&n) => self.root(x, (2.0 * n) as i32),
            _ => Some(atom(self.write(x)?.pow(self.write(n)?))),
        }
    }

    /// x^(n/2).
    fn root(&mut self, x: &Poly, n: i32) -> Option<Poly> {
        if let Some((monomial, c)) = x.0.iter().next().filter(|_| x.0.len() == 1) {
            let root = c.re.abs().sqrt();
            let exact = c.re > 0.0 && c.im == 0.0 && as_ratio(root).is_some();
            if let ([(Base::Atom(y), ONE)], true) = (monomial.0.as_slice(), exact) {
                return self
                    .multiply_out(Poly::term(Monomial::of(Base::Atom(*y), n * ONE / 2), Complex::real(root.powi(n))));
            }
        }
        let name = self.write(x)?;
        if name.as_const().is_some() {
            return Some(atom(name.sqrt().pow(n)));
        }
        self.stands_for(name, x.clone());
        self.multiply_out(atom_power(name, n * ONE / 2))
    }

    /// sin or cos of an angle that is a sum of multiples of atoms.
    fn wave(&mut self, f: Func, angle: &Poly) -> Option<Poly> {
        let is_plain = |m: &Monomial| m.0.iter().all(|(base, _)| matches!(base, Base::Atom(_)));
        if angle.0.len() > LONGEST_ANGLE || !angle.0.keys().all(is_plain) {
            return Some(atom(self.write(angle)?.apply(f)));
        }
        let (mut phase, mut turn) = (Monomial::default(), Complex::real(1.0));
        for (monomial, c) in &angle.0 {
            let (x, c) = (self.writer.monomial(monomial), c.re);
            let quarters = 2.0 * c;
            if x == Expr::pi() && quarters.fract() == 0.0 {
                for _ in 0..quarters.rem_euclid(4.0) as usize {
                    turn = turn.times(Complex { re: 0.0, im: 1.0 });
                }
                continue;
            }
            let twelfths = c * f64::from(ONE);
            let (x, n) =
                if twelfths.fract() == 0.0 && twelfths.abs() < 1e4 { (x, twelfths as i32) } else { (c * x, ONE) };
            phase = phase.times(&Monomial::of(Base::Phase(x), n));
        }
        let conjugate = Complex { re: turn.re, im: -turn.im };
        let (half, other) = match f {
            Func::Cos => (Complex::real(0.5), Complex::real(0.5)),
            _ => (Complex { re: 0.0, im: -0.5 }, Complex { re: 0.0, im: 0.5 }),
        };
        let mut wave = Poly::term(phase.clone(), half.times(turn));
        wave.add_term(phase.inverse(), other.times(conjugate));
        Some(wave)
    }
}

/// The nodes of e, low ones first: 1/S comes before 1/S², so that S is known where S² is looked at.
fn by_height(a: &Arena, e: Expr) -> Vec<Expr> {
    let mut nodes = a.reachable(&[e]);
    let mut heights: FxHashMap<Expr, usize> = FxHashMap::default();
    for &x in &nodes {
        let below = a.node(x).operands().map(|y| heights[&y]).max();
        heights.insert(x, below.map_or(0, |height| height + 1));
    }
    nodes.sort_by_key(|x| heights[x]);
    nodes
}

fn atom(x: Expr) -> Poly {
    match x.node() {
        ExprNode::Const(c) => Poly::constant(c),
        ExprNode::Unary(Func::Neg, y) => Poly::default().plus(-1.0, &atom_power(y, ONE)),
        _ => atom_power(x, ONE),
    }
}

fn atom_power(x: Expr, n: i32) -> Poly {
    Poly::term(Monomial::of(Base::Atom(x), n), Complex::real(1.0))
}
