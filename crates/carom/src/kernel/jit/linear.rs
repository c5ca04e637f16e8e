//! Small linear systems as straight-line code: elimination with row pivoting, with all numbers in registers.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value};

use super::emit::Emitter;
use crate::limits::SINGULAR;

/// Two equations are solved by determinants if the determinant exceeds this fraction of the larger product. It has then lost
/// at most six digits, which leaves ten digits of a correction.
const CLEARLY_REGULAR: f64 = 1e-6;
/// The determinant must lie in this range, so that its products neither overflow nor underflow.
const MODERATE: [f64; 2] = [1e-280, 1e280];

impl Emitter<'_, '_> {
    /// Solves A·x = b, with A given by rows. `is_bordered` is true for rows whose entry on the diagonal is always zero. Jumps to
    /// `singular` if A is singular in any units, as [`crate::solve::Lu::factor`] says.
    pub(super) fn solve(&mut self, a: &[Value], b: &[Value], is_bordered: &[bool], singular: Block) -> Vec<Value> {
        match b.len() {
            1 => vec![self.solve_one(a[0], b[0], singular)],
            2 => self.solve_two(a, b, is_bordered, singular),
            _ => self.eliminate(a, b, is_bordered, singular),
        }
    }

    /// b/a.
    fn solve_one(&mut self, a: Value, b: Value, singular: Block) -> Value {
        let size = self.builder.ins().fabs(a);
        let [zero, infinity] = [0.0, f64::INFINITY].map(|c| self.constant(c));
        self.go_on_if(FloatCC::GreaterThan, size, zero, singular);
        self.go_on_if(FloatCC::LessThan, size, infinity, singular);
        self.builder.ins().fdiv(b, a)
    }

    /// Solves two equations in half the time of an elimination:
    ///
    /// ```text
    /// x = [ a₁₁·b₀ − a₀₁·b₁, a₀₀·b₁ − a₁₀·b₀ ] / (a₀₀·a₁₁ − a₀₁·a₁₀)
    /// ```
    ///
    /// If the matrix is not clearly regular, falls back to elimination.
    fn solve_two(&mut self, a: &[Value], b: &[Value], is_bordered: &[bool], singular: Block) -> Vec<Value> {
        let [careful, done] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(careful);
        let results = [(); 2].map(|()| self.builder.append_block_param(done, F64));

        let products = [self.mul(a[0], a[3]), self.mul(a[1], a[2])];
        let det = self.sub(products[0], products[1]);
        let size = self.builder.ins().fabs(det);
        let [limit, low, high] = [CLEARLY_REGULAR, MODERATE[0], MODERATE[1]].map(|c| self.constant(c));
        let product = self.max_norm(&products);
        let limit = self.mul(limit, product);
        let limit = self.max(low, limit);
        self.go_on_if(FloatCC::GreaterThan, size, limit, careful);
        self.go_on_if(FloatCC::LessThan, size, high, careful);
        let one = self.constant(1.0);
        let inverse = self.builder.ins().fdiv(one, det);
        let tops = [self.cross(a[3], b[0], a[1], b[1]), self.cross(a[0], b[1], a[2], b[0])];
        let x = tops.map(|top| self.mul(top, inverse));
        self.builder.ins().jump(done, &x.map(BlockArg::Value));

        self.enter(careful);
        let x: Vec<BlockArg> = self.eliminate(a, b, is_bordered, singular).into_iter().map(BlockArg::Value).collect();
        self.builder.ins().jump(done, &x);

        self.enter(done);
        results.to_vec()
    }

    /// a·b − c·d.
    fn cross(&mut self, a: Value, b: Value, c: Value, d: Value) -> Value {
        let (first, second) = (self.mul(a, b), self.mul(c, d));
        self.sub(first, second)
    }

    /// Elimination with row pivoting. Row i and column i are multiplied by the weight wᵢ in all comparisons.
    fn eliminate(&mut self, a: &[Value], b: &[Value], is_bordered: &[bool], singular: Block) -> Vec<Value> {
        let n = b.len();
        let columns = self.weights(a, is_bordered);
        // Each row, its right-hand side, its weight.
        let rows = a.chunks(n).zip(b).zip(&columns);
        let mut rows: Vec<Vec<Value>> = rows.map(|((row, &b), &weight)| [row, &[b, weight]].concat()).collect();
        let mut inverses = Vec::with_capacity(n);
        for k in 0..n {
            for i in k + 1..n {
                self.larger_first(&mut rows, k, i);
            }
            let weight = self.mul(rows[k][n + 1], columns[k]);
            inverses.push(self.inverse_pivot(rows[k][k], weight, singular));
            let pivot = rows[k][..=n].to_vec();
            for row in &mut rows[k + 1..] {
                let factor = self.mul(row[k], inverses[k]);
                for (x, &y) in row.iter_mut().zip(&pivot).skip(k + 1) {
                    let product = self.mul(factor, y);
                    *x = self.sub(*x, product);
                }
            }
        }
        let mut x = b.to_vec();
        for i in (0..n).rev() {
            let mut sum = rows[i][n];
            for j in i + 1..n {
                let product = self.mul(rows[i][j], x[j]);
                sum = self.sub(sum, product);
            }
            x[i] = self.mul(sum, inverses[i]);
        }
        x
    }

    /// The powers of two wᵢ that make rows and columns comparable in any units: wᵢ ≈ 1/√|aᵢᵢ|, or, where aᵢᵢ = 0,
    /// wᵢ ≈ 1/maxⱼ |aᵢⱼ|wⱼ, as in `solve/equilibrate.rs`.
    fn weights(&mut self, a: &[Value], is_bordered: &[bool]) -> Vec<Value> {
        let n = is_bordered.len();
        let one = self.constant(1.0);
        let mut weights: Vec<Option<Value>> =
            (0..n).map(|i| (!is_bordered[i]).then(|| self.power_of_two(a[i * n + i], 1))).collect();
        for i in (0..n).filter(|&i| is_bordered[i]) {
            let mut sizes = Vec::new();
            for j in (0..n).filter(|&j| !is_bordered[j]) {
                sizes.push(self.mul(a[i * n + j], weights[j].unwrap_or(one)));
            }
            weights[i] = (!sizes.is_empty()).then(|| {
                let size = self.max_norm(&sizes);
                self.power_of_two(size, 0)
            });
        }
        weights.into_iter().map(|weight| weight.unwrap_or(one)).collect()
    }

    /// About |x|⁻¹, or |x|^(−1/2) if `halving` is 1, by its exponent.
    fn power_of_two(&mut self, x: Value, halving: i64) -> Value {
        let ins = |e: &mut Self, at: i64| e.builder.ins().iconst(I64, at);
        let bits = self.builder.ins().bitcast(I64, MemFlagsData::new(), x);
        let shifted = self.builder.ins().ushr_imm_u(bits, 52);
        let biased = self.builder.ins().band_imm_u(shifted, 0x7ff);
        let bias = ins(self, 1023);
        let exponent = self.builder.ins().isub(biased, bias);
        let exponent = self.builder.ins().sshr_imm_u(exponent, halving);
        let inverse = self.builder.ins().isub(bias, exponent);
        let least = ins(self, 1);
        let inverse = self.builder.ins().smax(inverse, least);
        let bits = self.builder.ins().ishl_imm_u(inverse, 52);
        self.builder.ins().bitcast(F64, MemFlagsData::new(), bits)
    }

    /// Exchanges rows k and i, from column k on, if the entry of row i in column k, times its weight, is larger or NaN. Uses a
    /// branch, because its outcome rarely changes from step to step.
    fn larger_first(&mut self, rows: &mut [Vec<Value>], k: usize, i: usize) {
        let done = self.builder.create_block();
        let [upper, lower] = [k, i].map(|row| rows[row][k..].to_vec());
        let [size, other] = [&upper, &lower].map(|row| {
            let size = self.builder.ins().fabs(row[0]);
            self.mul(size, row[row.len() - 1])
        });
        let is_smaller = self.builder.ins().fcmp(FloatCC::UnorderedOrLessThan, size, other);
        let arguments = |first: &[Value], second: &[Value]| -> Vec<BlockArg> {
            first.iter().chain(second).map(|&v| BlockArg::Value(v)).collect()
        };
        let (exchanged, kept) = (arguments(&lower, &upper), arguments(&upper, &lower));
        self.builder.ins().brif(is_smaller, done, &exchanged, done, &kept);
        for row in [k, i] {
            for x in &mut rows[row][k..] {
                *x = self.builder.append_block_param(done, F64);
            }
        }
        self.enter(done);
    }

    /// 1/p, or a jump to `singular`. `weight` is that of the row times that of the column.
    fn inverse_pivot(&mut self, p: Value, weight: Value, singular: Block) -> Value {
        let size = self.builder.ins().fabs(p);
        let size = self.mul(size, weight);
        let [limit, infinity, one] = [SINGULAR, f64::INFINITY, 1.0].map(|c| self.constant(c));
        self.go_on_if(FloatCC::GreaterThan, size, limit, singular);
        self.go_on_if(FloatCC::LessThan, size, infinity, singular);
        self.builder.ins().fdiv(one, p)
    }

    /// Continues in a new block if the comparison holds; otherwise jumps to another.
    pub(super) fn go_on_if(&mut self, condition: FloatCC, a: Value, b: Value, elsewhere: Block) {
        let next = self.builder.create_block();
        let holds = self.builder.ins().fcmp(condition, a, b);
        self.builder.ins().brif(holds, next, &[], elsewhere, &[]);
        self.enter(next);
    }
}
