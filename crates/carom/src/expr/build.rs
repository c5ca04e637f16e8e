//! Building expressions, simplified by local rules.
//!
//! Each constructor looks at its operands and one level below: constants, identities, like terms, powers, signs. A rule
//! may extend where an expression is defined (x/x becomes 1 also at 0) but never changes a value that was defined:
//! √(x²) is |x|, and constants are combined only where no overflow or underflow can come of it.

use super::{Arena, Expr, ExprNode, Func, Op};

/// True if combining constants into `value` lost nothing to overflow or underflow.
pub(super) fn is_safe(value: f64) -> bool {
    value == 0.0 || value.is_normal()
}

pub(super) fn is_integer(n: f64) -> bool {
    n.fract() == 0.0 && n.abs() <= f64::from(i32::MAX)
}

fn is_even(n: f64) -> bool {
    is_integer(n) && n % 2.0 == 0.0
}

/// True if multiplying by 1/c is the same as dividing by c, to the last bit.
pub(super) fn has_exact_inverse(c: f64) -> bool {
    c.is_normal() && (1.0 / c).is_normal() && c.to_bits() << 12 == 0
}

impl Arena {
    pub(super) fn is(&self, e: Expr, value: f64) -> bool {
        self.as_const(e) == Some(value)
    }

    /// e = c·rest with a constant c.
    pub(super) fn split_coefficient(&self, e: Expr) -> (f64, Expr) {
        match self.node(e) {
            ExprNode::Unary(Func::Neg, x) => {
                let (c, rest) = self.split_coefficient_once(x);
                (-c, rest)
            }
            _ => self.split_coefficient_once(e),
        }
    }

    fn split_coefficient_once(&self, e: Expr) -> (f64, Expr) {
        match self.node(e) {
            ExprNode::Binary(Op::Mul, c, x) => self.as_const(c).map_or((1.0, e), |c| (c, x)),
            _ => (1.0, e),
        }
    }

    /// e = base^n with a constant n.
    pub(super) fn split_power(&self, e: Expr) -> (Expr, f64) {
        match self.node(e) {
            ExprNode::Binary(Op::Pow, x, n) => self.as_const(n).map_or((e, 1.0), |n| (x, n)),
            ExprNode::Unary(Func::Sqrt, x) => (x, 0.5),
            _ => (e, 1.0),
        }
    }

    pub(super) fn binary(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        self.intern(ExprNode::Binary(op, a, b))
    }

    /// c·e.
    pub(super) fn scale(&mut self, c: f64, e: Expr) -> Expr {
        let c = self.constant(c);
        self.mul(c, e)
    }

    /// a + b.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.add_signed(a, b, 1.0)
    }

    /// a − b.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.add_signed(a, b, -1.0)
    }

    /// a + sign·b.
    fn add_signed(&mut self, a: Expr, b: Expr, sign: f64) -> Expr {
        if self.is(b, 0.0) {
            return a;
        }
        if self.is(a, 0.0) {
            return if sign > 0.0 { b } else { self.neg(b) };
        }
        if let ExprNode::Unary(Func::Neg, x) = self.node(b) {
            return self.add_signed(a, x, -sign);
        }
        if let ExprNode::Unary(Func::Neg, x) = self.node(a) {
            return if sign > 0.0 {
                self.add_signed(b, x, -1.0)
            } else {
                let sum = self.add(x, b);
                self.neg(sum)
            };
        }
        if let Some(sum) = self.merge_like(a, b, sign) {
            return sum;
        }
        if let Some(sum) = self.merge_below(a, b, sign) {
            return sum;
        }
        if let ExprNode::Binary(Op::Add | Op::Sub, ..) = self.node(b)
            && let Some(sum) = self.merge_below(b, a, sign)
        {
            return if sign > 0.0 { sum } else { self.neg(sum) };
        }
        let op = if sign > 0.0 { Op::Add } else { Op::Sub };
        self.binary(op, a, b)
    }

    /// a + sign·b if both are multiples of one thing.
    fn merge_like(&mut self, a: Expr, b: Expr, sign: f64) -> Option<Expr> {
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let sum = x + sign * y;
            return is_safe(sum).then(|| self.constant(sum));
        }
        let ((x, rest), (y, other)) = (self.split_coefficient(a), self.split_coefficient(b));
        let sum = x + sign * y;
        (rest == other && is_safe(sum)).then(|| self.scale(sum, rest))
    }

    /// (x ± y) + sign·b if b merges with x or y.
    fn merge_below(&mut self, a: Expr, b: Expr, sign: f64) -> Option<Expr> {
        let (x, y, inner) = match self.node(a) {
            ExprNode::Binary(Op::Add, x, y) => (x, y, 1.0),
            ExprNode::Binary(Op::Sub, x, y) => (x, y, -1.0),
            _ => return None,
        };
        if let Some(merged) = self.merge_like(x, b, sign) {
            return Some(self.add_signed(merged, y, inner));
        }
        let merged = self.merge_like(y, b, inner * sign)?;
        Some(self.add_signed(x, merged, inner))
    }

    /// a^b.
    pub fn pow(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_const(a), self.as_const(b)) {
            (Some(1.0), _) => a,
            (_, Some(n)) => self.powf(a, n),
            _ => self.binary(Op::Pow, a, b),
        }
    }

    /// a^n.
    pub fn powf(&mut self, a: Expr, n: f64) -> Expr {
        if n == 0.0 {
            return self.constant(1.0);
        }
        if n == 1.0 {
            return a;
        }
        if n == 0.5 {
            return self.unary(Func::Sqrt, a);
        }
        if n < 0.0 {
            let (one, power) = (self.constant(1.0), self.powf(a, -n));
            return self.div(one, power);
        }
        if let Some(power) = self.power_of(a, n) {
            return power;
        }
        let n = self.constant(n);
        self.binary(Op::Pow, a, n)
    }

    /// a^n for n > 0 where a is itself a number, a power, a root, a multiple.
    fn power_of(&mut self, a: Expr, n: f64) -> Option<Expr> {
        match self.node(a) {
            ExprNode::Const(c) => {
                let value = c.powf(n);
                (is_safe(value) && (value != 0.0 || c == 0.0)).then(|| self.constant(value))
            }
            ExprNode::Unary(Func::Neg, x) if is_integer(n) => {
                let power = self.powf(x, n);
                Some(if is_even(n) { power } else { self.neg(power) })
            }
            ExprNode::Unary(Func::Sqrt, x) if is_even(n) => Some(self.powf(x, n / 2.0)),
            ExprNode::Unary(Func::Abs, x) if is_even(n) => Some(self.powf(x, n)),
            ExprNode::Binary(Op::Pow, x, m) => {
                let m = self.as_const(m)?;
                (is_integer(m) && is_integer(n) && is_integer(m * n)).then(|| self.powf(x, m * n))
            }
            ExprNode::Binary(Op::Mul, c, x) if is_integer(n) => {
                let value = self.as_const(c)?.powf(n);
                if !value.is_normal() {
                    return None;
                }
                let power = self.powf(x, n);
                Some(self.scale(value, power))
            }
            _ => None,
        }
    }

    /// atan2(y, x).
    pub fn atan2(&mut self, y: Expr, x: Expr) -> Expr {
        self.binary(Op::Atan2, y, x)
    }

    /// min(a, b).
    pub fn min(&mut self, a: Expr, b: Expr) -> Expr {
        self.choose(Op::Min, a, b)
    }

    /// max(a, b).
    pub fn max(&mut self, a: Expr, b: Expr) -> Expr {
        self.choose(Op::Max, a, b)
    }

    fn choose(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        match (self.as_const(a), self.as_const(b)) {
            _ if a == b => a,
            (Some(x), Some(y)) => self.constant(op.apply(x, y)),
            _ => self.binary(op, a, b),
        }
    }

    /// b where a is not 0, else 0.
    pub fn only_where(&mut self, a: Expr, b: Expr) -> Expr {
        match self.as_const(a) {
            Some(0.0) => a,
            Some(x) if !x.is_nan() => b,
            _ => self.binary(Op::Where, a, b),
        }
    }

    /// f(a). Constants are folded only where the result is a whole number, so that √2 prints as √2.
    pub fn unary(&mut self, f: Func, a: Expr) -> Expr {
        if f == Func::Neg {
            return self.neg(a);
        }
        if let Some(c) = self.as_const(a) {
            let value = f.apply(c);
            let exact = match f {
                Func::Sqrt => value * value == c,
                Func::Abs | Func::Sign | Func::Floor => true,
                Func::Exp | Func::Cos | Func::Cosh => c == 0.0,
                Func::Log | Func::Acos => c == 1.0,
                _ => c == 0.0,
            };
            if exact && is_safe(value) {
                return self.constant(value);
            }
        }
        if f == Func::Sqrt
            && let Some(root) = self.root_of_square(a)
        {
            return root;
        }
        if let ExprNode::Unary(Func::Neg, x) = self.node(a) {
            match f {
                Func::Cos | Func::Cosh | Func::Abs => return self.unary(f, x),
                Func::Sin | Func::Tan | Func::Asin | Func::Atan | Func::Sinh | Func::Tanh | Func::Sign => {
                    let value = self.unary(f, x);
                    return self.neg(value);
                }
                _ => {}
            }
        }
        self.intern(ExprNode::Unary(f, a))
    }

    /// √(c·x²ᵏ) = √c·|x|ᵏ for c > 0.
    fn root_of_square(&mut self, a: Expr) -> Option<Expr> {
        let (c, power) = self.split_coefficient(a);
        let (x, n) = self.split_power(power);
        if c <= 0.0 || !is_even(n) {
            return None;
        }
        let (c, size) = (self.constant(c), self.unary(Func::Abs, x));
        let (root, power) = (self.unary(Func::Sqrt, c), self.powf(size, n / 2.0));
        Some(self.mul(root, power))
    }

    /// a op b.
    pub fn combine(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        match op {
            Op::Add => self.add(a, b),
            Op::Sub => self.sub(a, b),
            Op::Mul => self.mul(a, b),
            Op::Div => self.div(a, b),
            Op::Pow => self.pow(a, b),
            Op::Atan2 => self.atan2(a, b),
            Op::Min => self.min(a, b),
            Op::Max => self.max(a, b),
            Op::Where => self.only_where(a, b),
        }
    }

    /// The node rebuilt with other operands.
    pub(super) fn rebuild(&mut self, node: ExprNode, mut operand: impl FnMut(Expr) -> Expr) -> Expr {
        match node {
            ExprNode::Unary(f, a) => {
                let a = operand(a);
                self.unary(f, a)
            }
            ExprNode::Binary(op, a, b) => {
                let (a, b) = (operand(a), operand(b));
                self.combine(op, a, b)
            }
            leaf => self.intern(leaf),
        }
    }
}
