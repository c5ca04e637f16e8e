//! Kernels are compiled on their first call, and once for all users of the same expressions.

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

use rustc_hash::FxHashMap;

use super::Compiler;
use super::tape::Tape;
use crate::expr::{Expr, Written};

/// What a kernel computes, and how. Operands stand in the same order, so equal keys have the same code.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    inputs: Vec<Written>,
    outputs: Vec<Written>,
    kind: Kind,
    /// None if it is interpreted.
    compiler: Option<Compiler>,
}

impl Key {
    pub(super) fn new(inputs: &[Expr], outputs: &[Expr], kind: Kind, compiler: Option<Compiler>) -> Key {
        let [inputs, outputs] = [inputs, outputs].map(|all| all.iter().map(|e| e.written()).collect());
        Key { inputs, outputs, kind, compiler }
    }
}

/// The meaning of the inputs and outputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// For one state.
    One,
    /// For several states. The first inputs have one value per lane. Products are fused with sums if it contracts.
    Lanes { inputs: usize, lanes: usize, contracts: bool },
    /// Newton's method, by the numbers of its given inputs, carried inputs and unknowns.
    Newton([usize; 3]),
}

/// All kernels with code of one type that are in use.
pub(super) struct Table<C>(LazyLock<Mutex<FxHashMap<Key, Weak<C>>>>);

impl<C> Table<C> {
    pub(super) const fn new() -> Table<C> {
        Table(LazyLock::new(Mutex::default))
    }

    /// The kernel with this key. `make` creates it if there is none.
    pub(super) fn find<E>(&self, key: Key, make: impl FnOnce() -> Result<C, E>) -> Result<Arc<C>, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().get(&key).and_then(Weak::upgrade) {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        let mut known = lock();
        // Forget those that are no longer in use before the table grows.
        if known.len() == known.capacity() {
            known.retain(|_, kernel| kernel.strong_count() > 0);
        }
        known.insert(key, Arc::downgrade(&made));
        Ok(made)
    }
}

/// Code that is compiled on its first call.
#[derive(Debug)]
pub(super) struct Lazy<C> {
    code: OnceLock<C>,
    /// The tape, until it is compiled.
    tape: Mutex<Option<Tape>>,
}

impl<C> Lazy<C> {
    pub(super) fn new(tape: Tape) -> Lazy<C> {
        Lazy { code: OnceLock::new(), tape: Mutex::new(Some(tape)) }
    }

    /// Code that is compiled already.
    pub(super) fn of(code: C) -> Lazy<C> {
        Lazy { code: OnceLock::from(code), tape: Mutex::new(None) }
    }

    /// The code; `compile` makes it from the tape if there is none.
    #[inline]
    pub(super) fn get(&self, compile: impl FnOnce(&Tape) -> C) -> &C {
        match self.code.get() {
            Some(code) => code,
            None => self.make(compile),
        }
    }

    #[cold]
    fn make(&self, compile: impl FnOnce(&Tape) -> C) -> &C {
        self.code.get_or_init(|| match self.tape.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(tape) => compile(&tape),
            None => unreachable!("the tape is there until it is compiled, once"),
        })
    }
}
