//! Functions in executable memory.

use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{Function, Signature, Value};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, default_libcall_names};

use super::emit::{Emitter, Pool, Target};
use crate::kernel::KernelError;
use crate::kernel::scratch::MAX_FRAME;

/// The longest tape that is compiled with optimisation. Optimised code runs in half the time, but the compile time grows faster
/// than the tape: 1.5 ms for 130 instructions, 27 ms for 2,900 and 290 ms for 10,000, compared with 1, 8 and 15 ms in one pass.
const LONGEST_OPTIMISED: usize = 4_000;

/// The optimisation level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effort {
    /// Optimised, with full register allocation.
    High,
    /// Not optimised, with single-pass register allocation.
    Low,
}

impl Effort {
    pub(super) fn for_length(len: usize) -> Effort {
        if len <= LONGEST_OPTIMISED { Effort::High } else { Effort::Low }
    }

    fn flags(self) -> [(&'static str, &'static str); 8] {
        [
            ("opt_level", if self == Effort::High { "speed" } else { "none" }),
            ("regalloc_algorithm", if self == Effort::High { "backtracking" } else { "single_pass" }),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ]
    }
}

/// The compiler for this machine, created once per level.
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

/// Native code with its memory and constants.
pub(super) struct Functions {
    addresses: Vec<*const u8>,
    constants: Box<[f64]>,
    /// The largest frame of its functions, in bytes.
    pub(super) frame: u32,
    /// Owns the memory that the addresses point into.
    module: ManuallyDrop<JITModule>,
}

// SAFETY: after `new` the module is not accessed until `drop`, and the code writes only to its arguments.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

impl Functions {
    /// Compiles functions of pointers, the first of which points to their constants. `body` emits function number k, given the
    /// other pointers.
    pub(super) fn new<const N: usize>(
        isa: OwnedTargetIsa,
        target: Target,
        signature: &Signature,
        count: usize,
        mut body: impl FnMut(usize, &mut Emitter, &[Value; N]),
    ) -> Result<Functions, KernelError> {
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        // From here on `native` owns the memory and frees it, also if an error follows.
        let mut native =
            Functions { addresses: Vec::new(), constants: Box::new([]), frame: 0, module: ManuallyDrop::new(module) };
        let (mut context, mut pool) = (Context::new(), Pool::default());
        let mut functions = Vec::with_capacity(count);
        for number in 0..count {
            context.func.signature = signature.clone();
            emit(&mut context.func, target, native.module.isa(), &mut pool, |emitter, arguments| {
                body(number, emitter, arguments);
            });
            functions.push(native.define(&mut context)?);
            context.clear();
        }
        native.module.finalize_definitions().map_err(unsupported)?;
        native.addresses = functions.into_iter().map(|id| native.module.get_finalized_function(id)).collect();
        native.constants = pool.into_values();
        Ok(native)
    }

    /// Compiles a function.
    fn define(&mut self, context: &mut Context) -> Result<FuncId, KernelError> {
        let id = self.module.declare_anonymous_function(&context.func.signature).map_err(unsupported)?;
        self.module.define_function(id, context).map_err(unsupported)?;
        let layout = context.compiled_code().and_then(|code| code.buffer.frame_layout());
        let frame = layout.map_or(u32::MAX, |layout| layout.frame_to_fp_offset);
        self.frame = self.frame.max(frame);
        if frame > MAX_FRAME {
            return Err(KernelError::Unsupported(format!("a frame of {frame} bytes, more than {MAX_FRAME}")));
        }
        Ok(id)
    }

    /// The addresses of the functions.
    pub(super) fn addresses(&self) -> &[*const u8] {
        &self.addresses
    }

    /// The first argument of every function.
    pub(super) fn constants(&self) -> *const f64 {
        self.constants.as_ptr()
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here, and `&mut self` means that the code is not running.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

fn unsupported(e: ModuleError) -> KernelError {
    KernelError::Unsupported(e.to_string())
}

/// Emits a body; its constants go to the pool.
fn emit<const N: usize>(
    function: &mut Function,
    target: Target,
    isa: &dyn TargetIsa,
    pool: &mut Pool,
    body: impl FnOnce(&mut Emitter, &[Value; N]),
) {
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(function, &mut context);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let table = builder.block_params(block)[0];
    let arguments: [Value; N] = std::array::from_fn(|i| builder.block_params(block)[i + 1]);
    body(&mut Emitter::new(&mut builder, target, pool, table), &arguments);
    builder.finalize(isa.frontend_config());
}
