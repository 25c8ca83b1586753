//! Panics in callbacks: they must not unwind through C, so they are kept and go on after the call.

use std::any::Any;
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

thread_local! {
    static KEPT: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// Runs `body`; a panic in it is kept for [`resume_panic`] and gives `None`.
///
/// The library calls back on the thread that called into it, so the thread's own store suffices.
pub(crate) fn guard<R>(body: impl FnOnce() -> R) -> Option<R> {
    // What `body` may leave half done is seen by nobody before the panic goes on.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => Some(result),
        Err(panic) => {
            KEPT.with(|kept| {
                // The first one is the cause.
                let first = kept.take().unwrap_or(panic);
                kept.set(Some(first));
            });
            None
        }
    }
}

/// Goes on with the panic of a callback, once the call that it happened in has returned.
pub(crate) fn resume_panic() {
    if let Some(panic) = KEPT.with(Cell::take) {
        resume_unwind(panic);
    }
}

/// Forgets a panic where none can go on: in a destructor.
pub(crate) fn forget_panic() {
    drop(KEPT.try_with(Cell::take));
}
