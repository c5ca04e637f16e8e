//! Compiles tapes to native code with Cranelift, which is used only in this folder.

mod emit;
mod linear;
mod module;
mod newton;
mod pieces;
mod sincos;

use std::fmt;

use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_codegen::isa::OwnedTargetIsa;

use super::KernelError;
use super::newton::Equations;
use super::scratch::with_scratch;
use super::tape::Tape;
use emit::{Emitter, Target, known};
use module::{Effort, Functions, host};
use pieces::{Copied, Pieces};

pub(super) const IS_BUILT: bool = true;

/// constants, inputs, outputs
type Whole = unsafe extern "C" fn(*const f64, *const f64, *mut f64);
/// constants, inputs, outputs, work space
type Piece = unsafe extern "C" fn(*const f64, *const f64, *mut f64, *mut f64);
/// constants, inputs, state, results; returns a status and, above its 8 bits, the number of iterations
type Newton = unsafe extern "C" fn(*const f64, *mut f64, *const f64, *mut f64) -> u32;

/// Native code.
pub(super) struct Native {
    functions: Functions,
    shape: Shape,
}

/// What the functions are.
enum Shape {
    /// One function.
    Whole,
    /// The pieces of a long tape.
    Pieces {
        /// The size of the work space, in numbers.
        room: usize,
        /// The outputs that are inputs or constants.
        copies: Vec<(usize, Copied)>,
    },
    /// One function that solves equations.
    Newton,
}

impl Native {
    /// Compiles a short tape to one optimised function, unless that would need a large frame, and a long one to several pieces.
    pub(super) fn kernel(tape: &Tape) -> Result<Native, KernelError> {
        let effort = Effort::for_length(tape.len().max(tape.outputs().len()));
        let isa = host(effort)?;
        let target = Target::of(&*isa);
        if effort == Effort::High
            && let Ok(whole) = Native::whole(tape, isa, target)
        {
            return Ok(whole);
        }
        Native::in_pieces(tape, host(Effort::Low)?, target)
    }

    fn whole(tape: &Tape, isa: OwnedTargetIsa, target: Target) -> Result<Native, KernelError> {
        let signature = target.of_pointers(3);
        let body = |_, emitter: &mut Emitter, &[x, out]: &[Value; 2]| emit_kernel(emitter, tape, x, out);
        Ok(Native { functions: Functions::new(isa, target, &signature, 1, body)?, shape: Shape::Whole })
    }

    fn in_pieces(tape: &Tape, isa: OwnedTargetIsa, target: Target) -> Result<Native, KernelError> {
        let pieces = Pieces::of(tape);
        let body = |piece, emitter: &mut Emitter, arguments: &[Value; 3]| pieces.emit(piece, emitter, arguments);
        let functions = Functions::new(isa, target, &target.of_pointers(4), pieces.count(), body)?;
        Ok(Native { functions, shape: Shape::Pieces { room: pieces.room, copies: pieces.copies } })
    }

    /// Compiles Newton's method.
    pub(super) fn newton(equations: &Equations) -> Result<Native, KernelError> {
        Ok(Native { functions: newton::compile(equations)?, shape: Shape::Newton })
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// The pointers must point to as many numbers as there are inputs, state inputs and outputs.
    pub(super) unsafe fn call(&self, x: *mut f64, state: *const f64, out: *mut f64) -> u32 {
        let (addresses, constants) = (self.functions.addresses(), self.functions.constants());
        match &self.shape {
            Shape::Whole => {
                // SAFETY: the code was compiled with this signature, for this machine's calling convention.
                let entry = unsafe { std::mem::transmute::<*const u8, Whole>(addresses[0]) };
                // SAFETY: the caller guarantees `x` and `out`; the constants are those the code was compiled with.
                unsafe { entry(constants, x, out) };
                0
            }
            Shape::Newton => {
                // SAFETY: as above.
                let entry = unsafe { std::mem::transmute::<*const u8, Newton>(addresses[0]) };
                // SAFETY: as above.
                unsafe { entry(constants, x, state, out) }
            }
            Shape::Pieces { room, copies } => {
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
                0
            }
        }
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
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
    use crate::kernel::sincos::laws;

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
            let code = Native::in_pieces(&tape, isa, target).expect("this machine is supported");
            assert!(code.functions.frame <= MAX_FRAME / 2, "{name}: {} bytes", code.functions.frame);
        }
    }

    /// Compiled in every way: with and without fused products, with and without optimisation.
    #[test]
    fn sin_and_cos_are_right() {
        let x = Expr::symbol("x");
        let tape = Tape::new(&[x], &[x.sin(), x.cos()]).expect("x is bound");
        for effort in [Effort::High, Effort::Low] {
            let isa = host(effort).expect("this machine is supported");
            let target = Target::of(&*isa);
            for fma in [false, target.fma] {
                let code = Native::whole(&tape, isa.clone(), Target { fma, ..target });
                let code = code.expect("this machine is supported");
                let sin_cos = |mut x: f64| {
                    let mut out = [0.0; 2];
                    // SAFETY: the tape has one input and two outputs.
                    unsafe { code.call(&mut x, std::ptr::null(), out.as_mut_ptr()) };
                    out
                };
                let variant = format!("{effort:?}, fma {fma}");
                laws::is_within_1_ulp_of_exact_values(&variant, sin_cos);
                laws::is_right_at_special_arguments(&variant, sin_cos);
            }
        }
    }
}
