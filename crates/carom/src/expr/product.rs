//! Products, quotients and signs, simplified by the rules of [`build`](super::build).

use super::build::{has_exact_inverse, is_integer, is_safe};
use super::{Arena, Expr, ExprNode, Func, Op};

impl Arena {
    /// −a.
    pub fn neg(&mut self, a: Expr) -> Expr {
        match self.node(a) {
            ExprNode::Const(c) => self.constant(-c),
            ExprNode::Unary(Func::Neg, x) => x,
            ExprNode::Binary(Op::Sub, x, y) => self.binary(Op::Sub, y, x),
            ExprNode::Binary(Op::Mul, c, x) if self.as_const(c).is_some() => {
                let c = self.neg(c);
                self.mul(c, x)
            }
            _ => self.intern(ExprNode::Unary(Func::Neg, a)),
        }
    }

    /// a·b.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) if is_safe(x * y) && (x * y != 0.0 || x == 0.0 || y == 0.0) => self.constant(x * y),
            (Some(x), _) => self.mul_const(x, b),
            (None, Some(_)) => self.mul(b, a),
            (None, None) => self.mul_symbolic(a, b),
        }
    }

    fn mul_const(&mut self, c: f64, b: Expr) -> Expr {
        if c == 0.0 || c == 1.0 {
            return if c == 0.0 { self.constant(0.0) } else { b };
        }
        if c == -1.0 {
            return self.neg(b);
        }
        let inner = match self.node(b) {
            ExprNode::Unary(Func::Neg, x) => return self.scale(-c, x),
            ExprNode::Binary(op @ (Op::Mul | Op::Div), k, x) => self.as_const(k).map(|k| (op, k, x)),
            _ => None,
        };
        match inner {
            Some((op, k, x)) if (c * k).is_normal() => {
                let product = self.constant(c * k);
                if op == Op::Mul { self.mul(product, x) } else { self.div(product, x) }
            }
            _ => {
                let c = self.constant(c);
                self.binary(Op::Mul, c, b)
            }
        }
    }

    fn mul_symbolic(&mut self, a: Expr, b: Expr) -> Expr {
        for (x, y) in [(a, b), (b, a)] {
            if let ExprNode::Unary(Func::Neg, x) = self.node(x) {
                let product = self.mul(x, y);
                return self.neg(product);
            }
            let (c, rest) = self.split_coefficient(x);
            if c != 1.0 {
                let product = self.mul(rest, y);
                return self.scale(c, product);
            }
        }
        if let Some(product) = self.merge_powers(a, b) {
            return product;
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some(product) = self.merge_factor(x, y) {
                return product;
            }
        }
        self.binary(Op::Mul, a, b)
    }

    /// x^m · x^n, also with √x as x^½.
    fn merge_powers(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let ((x, m), (y, n)) = (self.split_power(a), self.split_power(b));
        (x == y && is_integer(m + n)).then(|| self.powf(x, m + n))
    }

    /// (x·y)·b or (x/y)·b if b merges with x or y.
    fn merge_factor(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        match self.node(a) {
            ExprNode::Binary(Op::Mul, x, y) => {
                if let Some(merged) = self.merge_powers(x, b) {
                    return Some(self.mul(merged, y));
                }
                let merged = self.merge_powers(y, b)?;
                Some(self.mul(x, merged))
            }
            ExprNode::Binary(Op::Div, x, y) if self.is(x, 1.0) => Some(self.div(b, y)),
            ExprNode::Binary(Op::Div, x, y) => {
                let merged = self.divide_powers(b, y)?;
                Some(self.mul(x, merged))
            }
            _ => None,
        }
    }

    /// a/b.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_const(a), self.as_const(b)) {
            (_, Some(1.0)) => a,
            (_, Some(0.0)) => self.binary(Op::Div, a, b),
            (Some(x), Some(y)) if is_safe(x / y) && (x / y != 0.0 || x == 0.0) => self.constant(x / y),
            (Some(0.0), _) => a,
            (None, Some(c)) => self.div_const(a, c),
            _ => self.div_symbolic(a, b),
        }
    }

    fn div_const(&mut self, a: Expr, c: f64) -> Expr {
        if has_exact_inverse(c) {
            return self.scale(1.0 / c, a);
        }
        match self.node(a) {
            ExprNode::Unary(Func::Neg, x) => self.div_negated(x, c),
            ExprNode::Binary(Op::Div, x, k) if self.as_const(k).is_some_and(|k| (k * c).is_normal()) => {
                let c = self.constant(c);
                let product = self.mul(k, c);
                self.div(x, product)
            }
            _ => {
                let c = self.constant(c);
                self.binary(Op::Div, a, c)
            }
        }
    }

    fn div_negated(&mut self, x: Expr, c: f64) -> Expr {
        let quotient = self.div_const(x, c);
        self.neg(quotient)
    }

    fn div_symbolic(&mut self, a: Expr, b: Expr) -> Expr {
        for (x, y, swapped) in [(a, b, false), (b, a, true)] {
            if let ExprNode::Unary(Func::Neg, x) = self.node(x) {
                let quotient = if swapped { self.div(y, x) } else { self.div(x, y) };
                return self.neg(quotient);
            }
        }
        let (c, rest) = self.split_coefficient(a);
        if c != 1.0 {
            let quotient = self.div(rest, b);
            return self.scale(c, quotient);
        }
        let (c, rest) = self.split_coefficient(b);
        if has_exact_inverse(c) && c != 1.0 {
            let quotient = self.div(a, rest);
            return self.scale(1.0 / c, quotient);
        }
        if let Some(quotient) = self.divide_powers(a, b) {
            return quotient;
        }
        self.cancel(a, b).unwrap_or_else(|| self.binary(Op::Div, a, b))
    }

    /// x^m / x^n; x/|x| and |x|/x are sgn x.
    fn divide_powers(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        for (x, size) in [(a, b), (b, a)] {
            if self.node(size) == ExprNode::Unary(Func::Abs, x) {
                return Some(self.unary(Func::Sign, x));
            }
        }
        let ((x, m), (y, n)) = (self.split_power(a), self.split_power(b));
        (x == y && is_integer(m - n)).then(|| self.powf(x, m - n))
    }

    /// a/b where a or b is a product or a quotient with something to cancel.
    fn cancel(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        match self.node(a) {
            ExprNode::Binary(Op::Div, x, y) => {
                let denominator = self.mul(y, b);
                return Some(self.div(x, denominator));
            }
            ExprNode::Binary(Op::Mul, x, y) => {
                if let Some(quotient) = self.divide_powers(x, b) {
                    return Some(self.mul(quotient, y));
                }
                if let Some(quotient) = self.divide_powers(y, b) {
                    return Some(self.mul(x, quotient));
                }
            }
            _ => {}
        }
        match self.node(b) {
            ExprNode::Binary(Op::Div, x, y) => {
                let numerator = self.mul(a, y);
                Some(self.div(numerator, x))
            }
            ExprNode::Binary(Op::Mul, x, y) => {
                for (x, y) in [(x, y), (y, x)] {
                    if let Some(quotient) = self.divide_powers(a, x) {
                        return Some(self.div(quotient, y));
                    }
                }
                None
            }
            _ => None,
        }
    }
}
