//! Lanes as native code: x86-64 with AVX2 and FMA.

use std::fmt;

use memmap2::{Mmap, MmapMut};

use super::allocate::{Allocator, Machine};
use super::ir::Code;
use crate::kernel::KernelError;
use crate::kernel::tape::Tape;

/// lanes inputs, shared inputs, outputs, constants
type Entry = unsafe extern "sysv64" fn(*const f64, *const f64, *mut f64, *const f64);

/// The longest tape that is compiled: every offset then fits into 31 bits by far.
const MAX_LENGTH: usize = 100_000;

/// Native code, and what it needs while it runs.
pub(super) struct Native {
    memory: Mmap,
    entry: usize,
    /// Each as often as there are lanes in a vector.
    constants: Box<[f64]>,
    /// How many lanes one call computes.
    lanes: usize,
    width: usize,
}

impl Native {
    /// Compiles the tape, whose first `inputs` inputs have `width` lanes.
    pub(super) fn new(tape: &Tape, inputs: usize, width: usize) -> Result<Native, KernelError> {
        let unsupported = |why: &str| KernelError::Unsupported(why.into());
        if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
            return Err(unsupported("this processor has no AVX2 or no FMA"));
        }
        if tape.len() + tape.inputs() + tape.outputs().len() > MAX_LENGTH {
            return Err(unsupported("too many instructions"));
        }
        let lanes = width.min(4);
        let code = Code::new(tape, inputs);
        let Machine { bytes, entry } = Allocator::run(&code, lanes, width);
        let constants = code.constants.iter().flat_map(|&bits| std::iter::repeat_n(f64::from_bits(bits), lanes));
        let memory = executable(&bytes).map_err(|e| unsupported(&e.to_string()))?;
        Ok(Native { memory, entry, constants: constants.collect(), lanes, width })
    }

    /// Runs the code.
    ///
    /// # Safety
    ///
    /// The pointers must be to as many numbers as there are inputs of all lanes, shared inputs, and outputs of all lanes.
    pub(super) unsafe fn call(&self, x: *const f64, shared: *const f64, out: *mut f64) {
        // SAFETY: the code begins there, and was assembled for this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.memory.as_ptr().add(self.entry)) };
        for first in (0..self.width).step_by(self.lanes) {
            // SAFETY: the caller vouches for the pointers; the code reads and writes `lanes` of each `width` numbers.
            unsafe { entry(x.add(first), shared, out.add(first), self.constants.as_ptr()) }
        }
    }
}

/// The bytes in memory that can be executed, and not written any more.
fn executable(bytes: &[u8]) -> std::io::Result<Mmap> {
    let mut memory = MmapMut::map_anon(bytes.len())?;
    memory.copy_from_slice(bytes);
    memory.make_exec()
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Native").field("lanes", &self.lanes).finish_non_exhaustive()
    }
}
