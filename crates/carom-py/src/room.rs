//! Memory: the table of expressions is emptied when it is large.
//!
//! Only what nobody uses can be forgotten, but a program of Python that makes one model after the other always holds the last ones.
//! All that they hold can be made again from their texts. So everything is dropped, models and dense output alike, the table is
//! emptied, and what is used later is read again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, Weak};

use carom::lab::expr::{forget_all, table_size};

use crate::dense::Kept;
use crate::loaded::{Slot, empty_cache};

/// The table is emptied when it has this number of nodes, of about 100 bytes each.
const MOST_NODES: usize = 1_000_000;
/// If it grows to that with so few models, they are large, and more room is given.
const FEW_MODELS: usize = 16;

static LIMIT: AtomicUsize = AtomicUsize::new(MOST_NODES);
static READ: AtomicUsize = AtomicUsize::new(0);
static MODELS: Mutex<Vec<Weak<Slot>>> = Mutex::new(Vec::new());
static DENSE: Mutex<Vec<Weak<Kept>>> = Mutex::new(Vec::new());

/// Appends to a list, from which those that are gone are removed before it grows.
fn note<T>(list: &Mutex<Vec<Weak<T>>>, item: Weak<T>) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    if list.len() == list.capacity() {
        list.retain(|item| item.strong_count() > 0);
    }
    list.push(item);
}

/// Remembers a model that can be dropped.
pub fn note_model(slot: &std::sync::Arc<Slot>) {
    note(&MODELS, std::sync::Arc::downgrade(slot));
}

/// Remembers dense output that can be dropped.
pub fn note_dense(kept: &std::sync::Arc<Kept>) {
    note(&DENSE, std::sync::Arc::downgrade(kept));
}

/// Empties the table of expressions if it is large and no computation is under way. Called before a model is read.
pub fn make_room() {
    let (size, limit) = (table_size(), LIMIT.load(Ordering::Relaxed));
    let read = READ.fetch_add(1, Ordering::Relaxed);
    if size < limit {
        return;
    }
    empty_cache();
    let models: Vec<_> = MODELS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    models.iter().filter_map(Weak::upgrade).for_each(|slot| slot.drop_loaded());
    let dense: Vec<_> = DENSE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // What is in use is locked.
    for kept in dense.iter().filter_map(Weak::upgrade) {
        if let Ok(mut kept) = kept.try_lock() {
            *kept = None;
        }
    }
    let is_empty = forget_all();
    LIMIT.store(if is_empty && read > FEW_MODELS { MOST_NODES } else { 2 * size }, Ordering::Relaxed);
    READ.store(0, Ordering::Relaxed);
}
