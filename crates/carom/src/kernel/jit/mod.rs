//! Tapes compiled to native code. All use of Cranelift is in this folder.

mod calls;
mod emit;
mod linear;
mod native;
mod newton;
pub(super) mod sincos;

use std::fmt;

use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_codegen::isa::OwnedTargetIsa;

use super::KernelError;
use super::tape::Tape;
use emit::{Emitter, Target};
use native::{Effort, Native, host};

pub(super) use newton::CompiledNewton;

/// constants, inputs, outputs
type Entry = unsafe extern "C" fn(*const f64, *const f64, *mut f64);

/// A tape as native code.
pub(super) struct Compiled(Native);

impl Compiled {
    pub(super) fn new(tape: &Tape) -> Result<Compiled, KernelError> {
        let isa = host(Effort::for_length(tape.len()))?;
        let target = Target::of(&*isa);
        Compiled::for_target(tape, isa, target)
    }

    fn for_target(tape: &Tape, isa: OwnedTargetIsa, target: Target) -> Result<Compiled, KernelError> {
        Native::new(isa, target, target.of_pointers(3), |emitter, &[x, out]| emit_kernel(emitter, tape, x, out))
            .map(Compiled)
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// `x` and `out` must point to as many numbers as the tape has inputs and outputs.
    pub(super) unsafe fn call(&self, x: *const f64, out: *mut f64) {
        // SAFETY: the code was compiled with this signature, for this machine's calling convention.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.0.address()) };
        // SAFETY: the caller vouches for `x` and `out`; the constants are those the code was compiled for.
        unsafe { entry(self.0.constants(), x, out) }
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

/// Reads the inputs, runs the tape and writes the outputs.
fn emit_kernel(emitter: &mut Emitter, tape: &Tape, x: Value, out: Value) {
    let inputs: Vec<Value> = (0..tape.inputs()).map(|i| emitter.load_fixed(x, i)).collect();
    for (i, value) in emitter.tape(tape, &inputs).into_iter().enumerate() {
        emitter.store(value, out, i);
    }
    emitter.builder.ins().return_(&[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;

    /// sin and cos by each way of compiling them: with and without fused products, with and without optimisation.
    fn variants() -> Vec<(String, Compiled)> {
        let x = Expr::symbol("x");
        let tape = Tape::new(&[x], &[x.sin(), x.cos()]).expect("x is bound");
        let mut all = Vec::new();
        for effort in [Effort::High, Effort::Low] {
            let isa = host(effort).expect("this machine is supported");
            let target = Target::of(&*isa);
            for fma in [false, target.fma] {
                let code = Compiled::for_target(&tape, isa.clone(), Target { fma, ..target });
                all.push((format!("{effort:?}, fma {fma}"), code.expect("this machine is supported")));
            }
        }
        all
    }

    fn sin_cos(code: &Compiled, x: f64) -> [f64; 2] {
        let mut out = [0.0; 2];
        // SAFETY: the tape has one input and two outputs.
        unsafe { code.call(&x, out.as_mut_ptr()) };
        out
    }

    /// Against mpmath: multiples of π/2 and their nearest neighbours, limits of the reduction, huge and tiny arguments.
    #[test]
    fn sin_and_cos_are_within_1_ulp_of_exact_values() {
        let cases = include_str!("../../../tests/data/sincos.txt");
        for (variant, code) in variants() {
            for line in cases.lines() {
                let bits =
                    line.split(' ').map(|word| u64::from_str_radix(word, 16).expect("the file has hexadecimals"));
                let [x, sin, cos]: [u64; 3] = bits.collect::<Vec<_>>().try_into().expect("three in a line");
                let x = f64::from_bits(x);
                // Beyond that it is the system's: glibc is off by 8 at the hardest case of all, cos(5.3e255).
                let tolerance = if x <= 1e6 { 1 } else { 8 };
                for (sign, x) in [(0, x), (1 << 63, -x)] {
                    let got = sin_cos(&code, x).map(f64::to_bits);
                    for (got, exact) in got.into_iter().zip([sin ^ sign, cos]) {
                        assert!(got.abs_diff(exact) <= tolerance, "{variant}: {got:x} at {x:e}, not {exact:x}");
                    }
                }
            }
        }
    }

    #[test]
    fn sin_keeps_the_sign_of_zero_and_what_is_no_number() {
        for (variant, code) in variants() {
            assert_eq!(sin_cos(&code, -0.0).map(f64::to_bits), [-0.0f64, 1.0].map(f64::to_bits), "{variant}");
            assert_eq!(sin_cos(&code, 0.0).map(f64::to_bits), [0.0f64, 1.0].map(f64::to_bits), "{variant}");
            for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert!(sin_cos(&code, x).iter().all(|v| v.is_nan()), "{variant} at {x}");
            }
        }
    }
}
