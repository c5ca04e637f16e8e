//! Small linear systems as straight-line code: elimination with row pivoting, with all numbers in registers.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};

use super::emit::Emitter;
use crate::limits::SINGULAR;

/// Two equations are solved by determinants if the determinant exceeds this fraction of the largest product. It has then lost
/// at most six digits, which leaves ten digits of a correction.
const CLEARLY_REGULAR: f64 = 1e-6;
/// The determinant must lie in this range, so that its products neither overflow nor underflow.
const MODERATE: [f64; 2] = [1e-280, 1e280];

impl Emitter<'_, '_> {
    /// Solves A·x = b, with A given by rows. Jumps to `singular` under the same conditions as [`crate::solve::Lu::factor`].
    pub(super) fn solve(&mut self, a: &[Value], b: &[Value], singular: Block) -> Vec<Value> {
        let scale = self.max_norm(a);
        if b.len() == 2 { self.solve_two(a, b, scale, singular) } else { self.eliminate(a, b, scale, singular) }
    }

    /// Solves two equations in half the time of an elimination:
    ///
    /// ```text
    /// x = [ a₁₁·b₀ − a₀₁·b₁, a₀₀·b₁ − a₁₀·b₀ ] / (a₀₀·a₁₁ − a₀₁·a₁₀)
    /// ```
    ///
    /// If the matrix is not clearly regular, falls back to elimination.
    fn solve_two(&mut self, a: &[Value], b: &[Value], scale: Value, singular: Block) -> Vec<Value> {
        let [careful, done] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(careful);
        let results = [(); 2].map(|()| self.builder.append_block_param(done, F64));

        let det = self.cross(a[0], a[3], a[1], a[2]);
        let size = self.builder.ins().fabs(det);
        let [limit, low, high] = [CLEARLY_REGULAR, MODERATE[0], MODERATE[1]].map(|c| self.constant(c));
        let square = self.mul(scale, scale);
        let limit = self.mul(limit, square);
        let limit = self.max(low, limit);
        self.go_on_if(FloatCC::GreaterThan, size, limit, careful);
        self.go_on_if(FloatCC::LessThan, size, high, careful);
        let one = self.constant(1.0);
        let inverse = self.builder.ins().fdiv(one, det);
        let tops = [self.cross(a[3], b[0], a[1], b[1]), self.cross(a[0], b[1], a[2], b[0])];
        let x = tops.map(|top| self.mul(top, inverse));
        self.builder.ins().jump(done, &x.map(BlockArg::Value));

        self.enter(careful);
        let x: Vec<BlockArg> = self.eliminate(a, b, scale, singular).into_iter().map(BlockArg::Value).collect();
        self.builder.ins().jump(done, &x);

        self.enter(done);
        results.to_vec()
    }

    /// a·b − c·d.
    fn cross(&mut self, a: Value, b: Value, c: Value, d: Value) -> Value {
        let (first, second) = (self.mul(a, b), self.mul(c, d));
        self.sub(first, second)
    }

    fn eliminate(&mut self, a: &[Value], b: &[Value], scale: Value, singular: Block) -> Vec<Value> {
        let n = b.len();
        let mut rows: Vec<Vec<Value>> = a.chunks(n).zip(b).map(|(row, &b)| [row, &[b]].concat()).collect();
        let part = self.constant(SINGULAR);
        let limit = self.mul(part, scale);
        let mut inverses = Vec::with_capacity(n);
        for k in 0..n {
            for i in k + 1..n {
                self.larger_first(&mut rows, k, i);
            }
            inverses.push(self.inverse_pivot(rows[k][k], limit, singular));
            let pivot = rows[k].clone();
            for row in &mut rows[k + 1..] {
                let factor = self.mul(row[k], inverses[k]);
                for (x, &y) in row.iter_mut().zip(&pivot).skip(k + 1) {
                    let product = self.mul(factor, y);
                    *x = self.sub(*x, product);
                }
            }
        }
        let mut x = vec![scale; n];
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

    /// Exchanges rows k and i, from column k on, if the entry of row i in column k is larger or NaN. Uses a branch, because its
    /// outcome rarely changes from step to step.
    fn larger_first(&mut self, rows: &mut [Vec<Value>], k: usize, i: usize) {
        let done = self.builder.create_block();
        let [upper, lower] = [k, i].map(|row| rows[row][k..].to_vec());
        let [size, other] = [upper[0], lower[0]].map(|x| self.builder.ins().fabs(x));
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

    /// 1/p, or a jump to `singular`.
    fn inverse_pivot(&mut self, p: Value, limit: Value, singular: Block) -> Value {
        let size = self.builder.ins().fabs(p);
        let (infinity, one) = (self.constant(f64::INFINITY), self.constant(1.0));
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
