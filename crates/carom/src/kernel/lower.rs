//! Lowers the expression graph to a tape.
//!
//! Most nodes become the instruction of the same name. The exceptions:
//!
//! - expressions with constant operands become constants;
//! - xⁿ with an integer |n| ≤ 64 becomes repeated squaring, and x^(n+½) with |n| < 8 becomes xⁿ·√x;
//! - sin and cos of one argument become one instruction;
//! - sin and cos of α ± β are computed from those of α and β where these are on the tape too, within 2 ulp of 1;
//! - a/b becomes a·(1/b) if the tape divides at least twice by the same nonconstant b. A division has three times the
//!   latency of a product and a throughput of one in four cycles; the product with a rounded reciprocal is within 1.5 ulp
//!   of the quotient. It differs more only if 1/b overflows or is subnormal: |b| < 2⁻¹⁰²² or > 2¹⁰²²;
//! - signs and factors 2ᵏ are applied as late as possible: a/2·b + c/2·d becomes (a·b + c·d)/2, which saves two products
//!   and has the same rounding errors;
//! - a·c + b·c becomes (a + b)·c unless both products are needed elsewhere. This never adds work, and saves work if other
//!   sums share a + b.
//!
//! Sums of products are never contracted to fused multiply-adds, because a·b − c·d must be exactly 0 if a·b and c·d are
//! equal.

use rustc_hash::{FxHashMap, FxHashSet};

use super::tape::{Instr, Reg, Tape, UnboundSymbol};
use crate::expr::{Arena, Expr, ExprNode, Func, Op, with_arena};

/// The largest integer exponent that is expanded into products.
const MAX_POWER: f64 = 64.0;
/// The largest exponent n + ½ that is expanded.
const MAX_HALF_POWER: f64 = 8.0;

/// Sums of angles are taken apart to this depth; each sum has the roundoff of those in it.
const DEEPEST_SUM: usize = 16;

/// A pending factor is applied when it exceeds this value or falls below its inverse, to prevent overflow.
const MAX_FACTOR: f64 = 1024.0;

/// The origin of a value, before the instructions are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Input(u32),
    /// A constant, by its bits.
    Const(u64),
    Instr(Instr),
    /// The second result of the `SinCos` with this number.
    Cos(Reg),
}

/// Information about the whole graph that is needed before nodes are lowered.
#[derive(Default)]
struct Usage {
    sines: FxHashSet<Expr>,
    cosines: FxHashSet<Expr>,
    divisions: FxHashMap<Expr, u32>,
    /// The number of times a node is an operand or an output.
    uses: FxHashMap<Expr, u32>,
}

impl Usage {
    fn of(arena: &Arena, order: &[Expr], outputs: &[Expr]) -> Usage {
        let mut usage = Usage::default();
        for &e in outputs {
            *usage.uses.entry(e).or_default() += 1;
        }
        for &e in order {
            for x in arena.node(e).operands() {
                *usage.uses.entry(x).or_default() += 1;
            }
            match arena.node(e) {
                ExprNode::Unary(Func::Sin, x) => drop(usage.sines.insert(x)),
                ExprNode::Unary(Func::Cos, x) => drop(usage.cosines.insert(x)),
                ExprNode::Binary(Op::Div, _, y) => *usage.divisions.entry(y).or_default() += 1,
                _ => {}
            }
        }
        let sums = order.iter().filter(|&&x| usage.is_angle(x)).filter_map(|&x| summands(arena, &usage, x));
        let parts: Vec<Expr> = sums.flat_map(|(_, a, b)| [a, b]).collect();
        usage.sines.extend(&parts);
        usage.cosines.extend(&parts);
        usage
    }

    fn wants_both(&self, x: Expr) -> bool {
        self.sines.contains(&x) && self.cosines.contains(&x)
    }

    /// True if the sine or the cosine of x is on the tape.
    fn is_angle(&self, x: Expr) -> bool {
        self.sines.contains(&x) || self.cosines.contains(&x)
    }
}

/// The two angles of which x is the sum or the difference, if the sines or cosines of both are on the tape.
fn summands(arena: &Arena, usage: &Usage, x: Expr) -> Option<(Op, Expr, Expr)> {
    match arena.node(x) {
        ExprNode::Binary(op @ (Op::Add | Op::Sub), a, b) if a != b && usage.is_angle(a) && usage.is_angle(b) => {
            Some((op, a, b))
        }
        _ => None,
    }
}

/// A value and a pending factor ±2ᵏ.
#[derive(Clone, Copy)]
struct Scaled {
    factor: f64,
    reg: Reg,
}

impl From<Reg> for Scaled {
    fn from(reg: Reg) -> Scaled {
        Scaled { factor: 1.0, reg }
    }
}

/// True if multiplying by c is exact.
fn is_power_of_two(c: f64) -> bool {
    c.is_normal() && c.to_bits() << 12 == 0
}

/// The values found so far, without duplicates.
#[derive(Default)]
pub(super) struct Lowering {
    sources: Vec<Source>,
    index: FxHashMap<Source, Reg>,
    /// sin and cos of angles that are sums of others, or parts of such sums.
    waves: FxHashMap<Expr, [Reg; 2]>,
}

impl Lowering {
    /// Implements [`Tape::new`].
    pub(super) fn run(inputs: &[Expr], outputs: &[Expr]) -> Result<Tape, UnboundSymbol> {
        let mut lowering = Lowering::default();
        let mut regs: FxHashMap<Expr, Scaled> = FxHashMap::default();
        with_arena(|arena| {
            for (i, &input) in inputs.iter().enumerate() {
                assert!(matches!(arena.node(input), ExprNode::Symbol(_)), "input {i} is not a symbol");
                let reg = lowering.value(Source::Input(i as u32));
                assert!(regs.insert(input, reg.into()).is_none(), "input {i} is listed twice");
            }
            let order = arena.reachable(outputs);
            let usage = Usage::of(arena, &order, outputs);
            for &e in &order {
                if !regs.contains_key(&e) {
                    let reg = lowering.node(arena, &usage, e, &regs)?;
                    regs.insert(e, reg);
                }
            }
            Ok(())
        })?;
        let outputs: Vec<Reg> = outputs.iter().map(|e| lowering.apply_factor(regs[e])).collect();
        Ok(lowering.schedule(inputs.len(), &outputs))
    }

    fn node(
        &mut self,
        arena: &Arena,
        usage: &Usage,
        e: Expr,
        regs: &FxHashMap<Expr, Scaled>,
    ) -> Result<Scaled, UnboundSymbol> {
        let scaled = match arena.node(e) {
            ExprNode::Const(c) => self.constant(c).into(),
            ExprNode::Pi => self.constant(std::f64::consts::PI).into(),
            ExprNode::Symbol(s) => return Err(UnboundSymbol { name: arena.name(s) }),
            ExprNode::Unary(Func::Neg, x) => Scaled { factor: -regs[&x].factor, ..regs[&x] },
            ExprNode::Unary(f @ (Func::Sin | Func::Cos), x) if summands(arena, usage, x).is_some() => {
                let [sin, cos] = self.wave(arena, usage, x, regs, 0);
                if f == Func::Sin { sin.into() } else { cos.into() }
            }
            ExprNode::Unary(f, x) => {
                let both = usage.wants_both(x);
                let x = self.apply_factor(regs[&x]);
                let fused = both && matches!(f, Func::Sin | Func::Cos);
                if fused { self.sin_or_cos(f, x).into() } else { self.unary(f, x).into() }
            }
            ExprNode::Binary(op @ (Op::Add | Op::Sub), x, y) => {
                let may_factor = usage.uses[&x] == 1 || usage.uses[&y] == 1;
                let sign = if op == Op::Add { 1.0 } else { -1.0 };
                self.sum(regs[&x], Scaled { factor: sign * regs[&y].factor, ..regs[&y] }, may_factor)
            }
            ExprNode::Binary(Op::Mul, x, y) => self.mul(regs[&x], regs[&y]),
            ExprNode::Binary(Op::Div, x, y) => self.div(regs[&x], regs[&y], usage.divisions[&y] > 1),
            ExprNode::Binary(op, x, y) => {
                let (x, y) = (self.apply_factor(regs[&x]), self.apply_factor(regs[&y]));
                if op == Op::Pow { self.pow(x, y).into() } else { self.binary(op, x, y).into() }
            }
        };
        let is_moderate = (1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&scaled.factor.abs());
        Ok(if is_moderate { scaled } else { self.apply_factor(scaled).into() })
    }

    fn apply_factor(&mut self, x: Scaled) -> Reg {
        if x.factor == 1.0 {
            return x.reg;
        }
        if x.factor == -1.0 {
            return self.unary(Func::Neg, x.reg);
        }
        let factor = self.constant(x.factor);
        self.binary(Op::Mul, factor, x.reg)
    }

    /// x + y; becomes (a + b)·c if x = a·c and y = b·c.
    fn sum(&mut self, x: Scaled, y: Scaled, may_factor: bool) -> Scaled {
        match self.common_factor(x.reg, y.reg).filter(|_| may_factor) {
            Some((a, b, c)) => {
                let sum = self.add(Scaled { reg: a, ..x }, Scaled { reg: b, ..y });
                self.mul(sum, c.into())
            }
            None => self.add(x, y),
        }
    }

    /// Finds (a, b, c) with x = a·c and y = b·c.
    fn common_factor(&self, x: Reg, y: Reg) -> Option<(Reg, Reg, Reg)> {
        let factors = |r: Reg| match self.sources[r.index()] {
            Source::Instr(Instr::Binary(Op::Mul, a, b)) => Some([(a, b), (b, a)]),
            _ => None,
        };
        let (of_x, of_y) = (factors(x)?, factors(y)?);
        of_x.iter()
            .flat_map(|p| of_y.iter().map(move |q| (p, q)))
            .find(|(p, q)| p.1 == q.1)
            .map(|(p, q)| (p.0, q.0, p.1))
    }

    /// x + y = f·(x′ ± r·y′), where f is the factor of one of them, if possible the positive one, so that a vanishing
    /// difference is +0.
    fn add(&mut self, x: Scaled, y: Scaled) -> Scaled {
        let (x, y) = if y.factor.abs() == 1.0 { (y, x) } else { (x, y) };
        let factor = x.factor.abs();
        let other = self.apply_factor(Scaled { factor: y.factor.abs() / factor, ..y });
        let reg = match (x.factor > 0.0, y.factor > 0.0) {
            (true, false) => self.binary(Op::Sub, x.reg, other),
            (false, true) => self.binary(Op::Sub, other, x.reg),
            _ => self.binary(Op::Add, x.reg, other),
        };
        Scaled { factor: if x.factor < 0.0 && y.factor < 0.0 { -factor } else { factor }, reg }
    }

    fn mul(&mut self, x: Scaled, y: Scaled) -> Scaled {
        let factor = x.factor * y.factor;
        for (c, other) in [(x.reg, y.reg), (y.reg, x.reg)] {
            if let Some(c) = self.as_const(c).filter(|&c| is_power_of_two(c)) {
                return Scaled { factor: factor * c, reg: other };
            }
        }
        Scaled { factor, reg: self.binary(Op::Mul, x.reg, y.reg) }
    }

    fn div(&mut self, x: Scaled, y: Scaled, is_shared: bool) -> Scaled {
        let factor = x.factor / y.factor;
        let reg = if is_shared { self.div_shared(x.reg, y.reg) } else { self.binary(Op::Div, x.reg, y.reg) };
        Scaled { factor, reg }
    }

    fn value(&mut self, source: Source) -> Reg {
        *self.index.entry(source).or_insert_with(|| {
            self.sources.push(source);
            Reg(self.sources.len() as u32 - 1)
        })
    }

    fn constant(&mut self, c: f64) -> Reg {
        self.value(Source::Const(c.to_bits()))
    }

    fn as_const(&self, r: Reg) -> Option<f64> {
        match self.sources[r.index()] {
            Source::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn unary(&mut self, f: Func, x: Reg) -> Reg {
        match self.as_const(x) {
            Some(c) => self.constant(f.apply(c)),
            None => self.value(Source::Instr(Instr::Unary(f, x))),
        }
    }

    fn sin_or_cos(&mut self, f: Func, x: Reg) -> Reg {
        if self.as_const(x).is_some() {
            return self.unary(f, x);
        }
        let sin = self.value(Source::Instr(Instr::SinCos(x)));
        let cos = self.value(Source::Cos(sin));
        if f == Func::Sin { sin } else { cos }
    }

    /// sin and cos of an angle; if it is a sum of angles, from theirs:
    ///
    /// ```text
    /// sin(α ± β) = sin α cos β ± cos α sin β,   cos(α ± β) = cos α cos β ∓ sin α sin β
    /// ```
    fn wave(
        &mut self,
        arena: &Arena,
        usage: &Usage,
        x: Expr,
        regs: &FxHashMap<Expr, Scaled>,
        depth: usize,
    ) -> [Reg; 2] {
        if let Some(&known) = self.waves.get(&x) {
            return known;
        }
        let wave = match summands(arena, usage, x).filter(|_| depth < DEEPEST_SUM) {
            Some((op, a, b)) => {
                let [sin_a, cos_a] = self.wave(arena, usage, a, regs, depth + 1);
                let [sin_b, cos_b] = self.wave(arena, usage, b, regs, depth + 1);
                let opposite = if op == Op::Add { Op::Sub } else { Op::Add };
                let [first, second] = [(sin_a, cos_b), (cos_a, sin_b)].map(|(x, y)| self.binary(Op::Mul, x, y));
                let sin = self.binary(op, first, second);
                let [first, second] = [(cos_a, cos_b), (sin_a, sin_b)].map(|(x, y)| self.binary(Op::Mul, x, y));
                [sin, self.binary(opposite, first, second)]
            }
            None => {
                let x = self.apply_factor(regs[&x]);
                [Func::Sin, Func::Cos].map(|f| self.sin_or_cos(f, x))
            }
        };
        self.waves.insert(x, wave);
        wave
    }

    fn binary(&mut self, op: Op, x: Reg, y: Reg) -> Reg {
        if let (Some(a), Some(b)) = (self.as_const(x), self.as_const(y)) {
            return self.constant(op.apply(a, b));
        }
        let commutes = matches!(op, Op::Add | Op::Mul);
        let (x, y) = if commutes && x > y { (y, x) } else { (x, y) };
        self.value(Source::Instr(Instr::Binary(op, x, y)))
    }

    /// x/y as x·(1/y).
    fn div_shared(&mut self, x: Reg, y: Reg) -> Reg {
        if self.as_const(y).is_some() {
            return self.binary(Op::Div, x, y);
        }
        let one = self.constant(1.0);
        let reciprocal = self.binary(Op::Div, one, y);
        if x == one { reciprocal } else { self.binary(Op::Mul, x, reciprocal) }
    }

    fn pow(&mut self, x: Reg, y: Reg) -> Reg {
        let Some(n) = self.as_const(y).filter(|_| self.as_const(x).is_none()) else {
            return self.binary(Op::Pow, x, y);
        };
        let whole = n.abs().trunc();
        let power = if whole == n.abs() && whole <= MAX_POWER {
            self.whole_power(x, whole as u32)
        } else if n.abs() - whole == 0.5 && whole < MAX_HALF_POWER {
            let (power, root) = (self.whole_power(x, whole as u32), self.unary(Func::Sqrt, x));
            if whole == 0.0 { root } else { self.binary(Op::Mul, power, root) }
        } else {
            return self.binary(Op::Pow, x, y);
        };
        if n > 0.0 {
            return power;
        }
        let one = self.constant(1.0);
        self.binary(Op::Div, one, power)
    }

    /// xⁿ: the square of x^(n/2), or x·x^(n−1).
    fn whole_power(&mut self, x: Reg, n: u32) -> Reg {
        match n {
            0 => self.constant(1.0),
            1 => x,
            _ if n.is_multiple_of(2) => {
                let root = self.whole_power(x, n / 2);
                self.binary(Op::Mul, root, root)
            }
            _ => {
                let rest = self.whole_power(x, n - 1);
                self.binary(Op::Mul, rest, x)
            }
        }
    }

    /// Builds the tape from the instructions that `outputs` need, in their order, and renumbers them.
    fn schedule(self, inputs: usize, outputs: &[Reg]) -> Tape {
        let live = self.live(outputs);
        let mut renumbered = vec![Reg(u32::MAX); self.sources.len()];
        let mut tape = Tape { inputs, constants: Vec::new(), instrs: Vec::new(), outputs: Vec::new() };
        let mut next = inputs as u32;
        for (i, &source) in self.sources.iter().enumerate() {
            match source {
                Source::Input(k) => renumbered[i] = Reg(k),
                Source::Const(bits) if live[i] => {
                    renumbered[i] = Reg(next);
                    tape.constants.push(f64::from_bits(bits));
                    next += 1;
                }
                _ => {}
            }
        }
        for (i, &source) in self.sources.iter().enumerate().filter(|&(i, _)| live[i]) {
            match source {
                Source::Instr(instr) => {
                    renumbered[i] = Reg(next);
                    next += instr.results() as u32;
                    tape.instrs.push(instr.map(|r| renumbered[r.index()]));
                }
                Source::Cos(sin) => renumbered[i] = Reg(renumbered[sin.index()].0 + 1),
                Source::Input(_) | Source::Const(_) => {}
            }
        }
        tape.outputs = outputs.iter().map(|r| renumbered[r.index()]).collect();
        tape
    }

    /// For each value, true if `outputs` need it.
    fn live(&self, outputs: &[Reg]) -> Vec<bool> {
        let mut live = vec![false; self.sources.len()];
        for r in outputs {
            live[r.index()] = true;
        }
        for i in (0..self.sources.len()).rev() {
            if !live[i] {
                continue;
            }
            match self.sources[i] {
                Source::Instr(instr) => instr.operands().for_each(|r| live[r.index()] = true),
                Source::Cos(sin) => live[sin.index()] = true,
                Source::Input(_) | Source::Const(_) => {}
            }
        }
        live
    }
}
