//! Compiles tapes to native code. Cranelift is used only in this folder.

mod calls;
mod emit;
mod linear;
mod native;
mod newton;
mod pieces;
pub(super) mod sincos;

use std::fmt;

use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_codegen::isa::OwnedTargetIsa;

use super::KernelError;
use super::scratch::with_scratch;
use super::tape::Tape;
use emit::{Emitter, Target, known};
use native::{Effort, Native, host};
use pieces::{Copied, Pieces};

pub(super) use newton::CompiledNewton;

/// constants, inputs, outputs
type Whole = unsafe extern "C" fn(*const f64, *const f64, *mut f64);
/// constants, inputs, outputs, work space
type Piece = unsafe extern "C" fn(*const f64, *const f64, *mut f64, *mut f64);

/// A tape as native code.
pub(super) struct Compiled {
    native: Native,
    /// The layout of the pieces, if the tape was split.
    pieces: Option<Cut>,
}

/// Data that split code needs in addition to its functions.
struct Cut {
    /// The size of the work space, in numbers.
    room: usize,
    /// The outputs that are inputs or constants.
    copies: Vec<(usize, Copied)>,
}

impl Compiled {
    /// Compiles a short tape to one optimised function, unless that would need a large frame, and a long one to several pieces.
    pub(super) fn new(tape: &Tape) -> Result<Compiled, KernelError> {
        let effort = Effort::for_length(tape.len().max(tape.outputs().len()));
        let isa = host(effort)?;
        let target = Target::of(&*isa);
        if effort == Effort::High
            && let Ok(whole) = Compiled::whole(tape, isa, target)
        {
            return Ok(whole);
        }
        Compiled::in_pieces(tape, host(Effort::Low)?, target)
    }

    fn whole(tape: &Tape, isa: OwnedTargetIsa, target: Target) -> Result<Compiled, KernelError> {
        let signature = target.of_pointers(3);
        let body = |_, emitter: &mut Emitter, &[x, out]: &[Value; 2]| emit_kernel(emitter, tape, x, out);
        Ok(Compiled { native: Native::new(isa, target, &signature, 1, body)?, pieces: None })
    }

    fn in_pieces(tape: &Tape, isa: OwnedTargetIsa, target: Target) -> Result<Compiled, KernelError> {
        let pieces = Pieces::of(tape);
        let body = |piece, emitter: &mut Emitter, arguments: &[Value; 3]| pieces.emit(piece, emitter, arguments);
        let native = Native::new(isa, target, &target.of_pointers(4), pieces.count(), body)?;
        Ok(Compiled { native, pieces: Some(Cut { room: pieces.room, copies: pieces.copies }) })
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// `x` and `out` must point to as many numbers as the tape has inputs and outputs.
    pub(super) unsafe fn call(&self, x: *const f64, out: *mut f64) {
        let (addresses, constants) = (self.native.addresses(), self.native.constants());
        let Some(Cut { room, copies }) = &self.pieces else {
            // SAFETY: the code was compiled with this signature, for this machine's calling convention.
            let entry = unsafe { std::mem::transmute::<*const u8, Whole>(addresses[0]) };
            // SAFETY: the caller guarantees `x` and `out`; the constants are those the code was compiled with.
            return unsafe { entry(constants, x, out) };
        };
        for &(output, copied) in copies {
            let value = match copied {
                // SAFETY: the caller guarantees `x`.
                Copied::Input(i) => unsafe { *x.add(i) },
                Copied::Constant(c) => c,
            };
            // SAFETY: the caller guarantees `out`.
            unsafe { *out.add(output) = value }
        }
        with_scratch(*room, |work| {
            for &address in addresses {
                // SAFETY: as above.
                let entry = unsafe { std::mem::transmute::<*const u8, Piece>(address) };
                // SAFETY: as above; the work space has the size for which the pieces were compiled.
                unsafe { entry(constants, x, out, work.as_mut_ptr()) }
            }
        });
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
    let mut values = known(tape, &inputs);
    emitter.instructions(tape, &mut values, |_| true);
    for (i, &r) in tape.outputs().iter().enumerate() {
        let value = emitter.operand(tape, &values, r);
        emitter.store(value, out, i);
    }
    emitter.builder.ins().return_(&[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::kernel::scratch::MAX_FRAME;

    /// Pieces with the largest frames: all values stay in use until the end.
    #[test]
    fn the_frames_of_pieces_are_bounded() {
        type Function = fn(Expr) -> Expr;
        let x = Expr::symbol("x");
        let kinds: [(&str, u32, Function); 5] = [
            ("sums", 1_100, |e| e + 1.0),
            ("sines", 50, Expr::sin),
            ("both", 50, |e| e.sin() * e.cos()),
            ("calls", 1_100, Expr::exp),
            ("quotients", 1_100, |e| (e + 2.0).sqrt() / (e - 2.0)),
        ];
        for (name, count, f) in kinds {
            let mut outputs: Vec<Expr> = (1..count).map(|k| f(f64::from(k) * x)).collect();
            outputs.push(outputs.iter().rev().copied().sum());
            let tape = Tape::new(&[x], &outputs).expect("x is bound");
            let isa = host(Effort::Low).expect("this machine is supported");
            let target = Target::of(&*isa);
            let code = Compiled::in_pieces(&tape, isa, target).expect("this machine is supported");
            assert!(code.native.frame <= MAX_FRAME / 2, "{name}: {} bytes", code.native.frame);
        }
    }

    /// sin and cos, compiled in every way: with and without fused products, with and without optimisation.
    fn variants() -> Vec<(String, Compiled)> {
        let x = Expr::symbol("x");
        let tape = Tape::new(&[x], &[x.sin(), x.cos()]).expect("x is bound");
        let mut all = Vec::new();
        for effort in [Effort::High, Effort::Low] {
            let isa = host(effort).expect("this machine is supported");
            let target = Target::of(&*isa);
            for fma in [false, target.fma] {
                let code = Compiled::whole(&tape, isa.clone(), Target { fma, ..target });
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

    /// Compared with mpmath: multiples of π/2 and their nearest neighbours, limits of the reduction, huge and tiny arguments.
    #[test]
    fn sin_and_cos_are_within_1_ulp_of_exact_values() {
        let cases = include_str!("../../../tests/data/sincos.txt");
        for (variant, code) in variants() {
            for line in cases.lines() {
                let bits =
                    line.split(' ').map(|word| u64::from_str_radix(word, 16).expect("the file has hexadecimals"));
                let [x, sin, cos]: [u64; 3] = bits.collect::<Vec<_>>().try_into().expect("three in a line");
                let x = f64::from_bits(x);
                // Larger arguments use the system's functions; glibc is off by 8 ulp in the worst case, cos(5.3e255).
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
