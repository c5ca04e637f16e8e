//! Functions in executable memory.

use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{Function, Signature, Value};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};

use super::emit::{Emitter, Pool, Target};
use crate::kernel::KernelError;

/// The longest tape that is compiled with care. Careful code takes half the time to run, but the time to compile it grows
/// faster than the tape: 1.5 ms for 130 instructions, 27 for 2,900, 290 for 10,000, where one pass takes 1, 8 and 15.
const LONGEST_OPTIMISED: usize = 4_000;

/// How much work goes into the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effort {
    /// Optimised, registers allocated with care.
    High,
    /// As emitted, registers allocated in one pass.
    Low,
}

impl Effort {
    pub(super) fn for_length(len: usize) -> Effort {
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
pub(super) fn host(effort: Effort) -> Result<OwnedTargetIsa, KernelError> {
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
pub(super) struct Native {
    address: *const u8,
    constants: Box<[f64]>,
    /// Owns the memory that `address` points into.
    module: ManuallyDrop<JITModule>,
}

// SAFETY: after `new` the module is not touched until `drop`, and the code writes only where its arguments point.
unsafe impl Send for Native {}
// SAFETY: as above.
unsafe impl Sync for Native {}

impl Native {
    /// Compiles a function of pointers, the first of which is that to its constants; `body` emits what it does with the
    /// others.
    pub(super) fn new<const N: usize>(
        isa: OwnedTargetIsa,
        target: Target,
        signature: Signature,
        body: impl FnOnce(&mut Emitter, &[Value; N]),
    ) -> Result<Native, KernelError> {
        let mut context = Context::new();
        context.func.signature = signature;
        let constants = emit(&mut context.func, target, &*isa, body);
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let defined = define(&mut module, &mut context);
        // From here on the memory has an owner that frees it, also on the way out of an error.
        let mut native = Native { address: std::ptr::null(), constants, module: ManuallyDrop::new(module) };
        native.address = defined?;
        Ok(native)
    }

    /// Where the code is.
    pub(super) fn address(&self) -> *const u8 {
        self.address
    }

    /// The first argument of the code.
    pub(super) fn constants(&self) -> *const f64 {
        self.constants.as_ptr()
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here, and `&mut self` means that the code is not running.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
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

/// Emits the body. Returns its constants.
fn emit<const N: usize>(
    function: &mut Function,
    target: Target,
    isa: &dyn TargetIsa,
    body: impl FnOnce(&mut Emitter, &[Value; N]),
) -> Box<[f64]> {
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(function, &mut context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let table = builder.block_params(block)[0];
    let arguments: [Value; N] = std::array::from_fn(|i| builder.block_params(block)[i + 1]);
    let mut pool = Pool::default();
    body(&mut Emitter::new(&mut builder, target, &mut pool, table), &arguments);
    builder.finalize(isa.frontend_config());
    pool.into_values()
}
