//! Tapes compiled to native code. All use of Cranelift is in this folder.

mod calls;
mod emit;
mod sincos;

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types::F64};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, ir::Function};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};

use super::KernelError;
use super::tape::Tape;
use emit::{Emitter, Pool, Target};

/// inputs, outputs, constants
type Entry = unsafe extern "C" fn(*const f64, *mut f64, *const f64);

/// The longest tape that is compiled with care. Careful code takes half the time to run, but the time to compile it grows
/// faster than the tape: 1.5 ms for 130 instructions, 27 for 2,900, 290 for 10,000, where one pass takes 1, 8 and 15.
const LONGEST_OPTIMISED: usize = 4_000;

/// How much work goes into the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effort {
    /// Optimised, registers allocated with care.
    High,
    /// As emitted, registers allocated in one pass.
    Low,
}

impl Effort {
    fn for_length(len: usize) -> Effort {
        if len <= LONGEST_OPTIMISED { Effort::High } else { Effort::Low }
    }

    fn flags(self) -> [(&'static str, &'static str); 6] {
        [
            ("opt_level", if self == Effort::High { "speed" } else { "none" }),
            ("regalloc_algorithm", if self == Effort::High { "backtracking" } else { "single_pass" }),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ]
    }
}

/// The compiler for this machine, made once for each effort.
fn host(effort: Effort) -> Result<OwnedTargetIsa, KernelError> {
    static HOSTS: [OnceLock<Result<OwnedTargetIsa, String>>; 2] = [const { OnceLock::new() }; 2];
    let isa = HOSTS[effort as usize].get_or_init(|| {
        let mut flags = settings::builder();
        for (name, value) in effort.flags() {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        let builder = cranelift_native::builder().map_err(str::to_owned)?;
        builder.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
    });
    isa.clone().map_err(KernelError::Unsupported)
}

/// Native code, and what it needs while it runs.
pub(super) struct Compiled {
    entry: Entry,
    constants: Box<[f64]>,
    /// Owns the memory that `entry` points into.
    module: ManuallyDrop<JITModule>,
}

// SAFETY: after `new` the module is not touched until `drop`, and the code writes only where its arguments point.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

impl Compiled {
    pub(super) fn new(tape: &Tape) -> Result<Compiled, KernelError> {
        let isa = host(Effort::for_length(tape.len()))?;
        Compiled::for_target(tape, isa.clone(), Target::of(&*isa))
    }

    fn for_target(tape: &Tape, isa: OwnedTargetIsa, target: Target) -> Result<Compiled, KernelError> {
        let mut context = Context::new();
        let constants = emit_kernel(&mut context.func, tape, target, &*isa);
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let defined = define(&mut module, &mut context);
        // From here on the memory has an owner that frees it, also on the way out of an error.
        let mut compiled = Compiled { entry: never, constants, module: ManuallyDrop::new(module) };
        let address = defined?;
        // SAFETY: the code was compiled with this signature, for this machine's calling convention.
        compiled.entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Ok(compiled)
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// `x` and `out` must point to as many numbers as the tape has inputs and outputs.
    pub(super) unsafe fn call(&self, x: *const f64, out: *mut f64) {
        // SAFETY: the caller vouches for `x` and `out`; the constants are those the code was compiled for.
        unsafe { (self.entry)(x, out, self.constants.as_ptr()) }
    }
}

/// Stands in until there is code.
unsafe extern "C" fn never(_: *const f64, _: *mut f64, _: *const f64) {}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here, and `&mut self` means that the code is not running.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

/// Turns the function into code at the address returned.
fn define(module: &mut JITModule, context: &mut Context) -> Result<*const u8, KernelError> {
    let unsupported = |e: cranelift_module::ModuleError| KernelError::Unsupported(e.to_string());
    let id = module.declare_function("kernel", Linkage::Local, &context.func.signature).map_err(unsupported)?;
    module.define_function(id, context).map_err(unsupported)?;
    module.finalize_definitions().map_err(unsupported)?;
    Ok(module.get_finalized_function(id))
}

/// The function that reads the inputs, runs the tape and writes the outputs. Returns its constants.
fn emit_kernel(function: &mut Function, tape: &Tape, target: Target, isa: &dyn TargetIsa) -> Box<[f64]> {
    function.signature = target.of_pointers(3);
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(function, &mut context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let [x, out, table] = [0, 1, 2].map(|i| builder.block_params(block)[i]);

    let inputs: Vec<_> =
        (0..tape.inputs()).map(|i| builder.ins().load(F64, emit::fixed_memory(), x, 8 * i as i32)).collect();
    let mut pool = Pool::default();
    let outputs = Emitter::new(&mut builder, target, &mut pool, table).tape(tape, &inputs);
    for (i, &value) in outputs.iter().enumerate() {
        builder.ins().store(MemFlagsData::trusted(), value, out, 8 * i as i32);
    }
    builder.ins().return_(&[]);
    builder.finalize(isa.frontend_config());
    pool.into_values()
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
