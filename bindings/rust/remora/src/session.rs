//! Sessions: one speaker's state.

use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};

use remora_sys as sys;

use crate::callback;
use crate::error::{check, Result};
use crate::ffi::{create, lent, CStruct, Owned};
use crate::model::Model;
use crate::options::SessionOptions;
use crate::prompt::{Prompt, Sampling};
use crate::stream::{Frames, Pcm};

/// One speaker's state: KV cache, random generator, codec state. It may move to another thread and is
/// used by one at a time.
///
/// [`prefill`](Self::prefill) takes a prompt; [`frames`](Self::frames) and [`pcm`](Self::pcm) pull
/// what comes of it. Dropping one of these iterators stops pulling and leaves the session usable:
/// the next prompt ends what was going. After an error that is not about an argument only
/// [`reset`](Self::reset), [`stats`](Self::stats) and dropping are of use.
pub struct Session {
    raw: Arc<Shared>,
    model: Model,
    /// `Send`, not `Sync`: one thread at a time.
    _one_thread: PhantomData<Cell<()>>,
}

/// The C session, with what must outlive it.
struct Shared {
    raw: Owned<sys::remora_session>,
    /// After `raw`: the model's reader is used until the session is gone.
    _model: Model,
}

// SAFETY: handles share it for `remora_session_cancel` alone, which is for any thread; all else goes
// through `Session`, which is not `Sync`.
unsafe impl Sync for Shared {}

/// Stops a session from any thread. Handles do not keep the session's memory.
#[derive(Clone)]
pub struct CancelHandle {
    /// While a cancel runs it holds the session, so that it cannot race with the end of it.
    session: Weak<Shared>,
}

impl CancelHandle {
    /// Asks the running call, or else the next one, to stop with `Cancelled`: within one step, one
    /// prefill chunk or one codec piece. Stays in force until [`Session::reset`]. Does nothing once
    /// the session is gone.
    pub fn cancel(&self) {
        if let Some(session) = self.session.upgrade() {
            // SAFETY: a live session; any thread may call this.
            unsafe { sys::remora_session_cancel(session.raw.as_ptr()) };
        }
    }
}

/// What a step made, for those who bring the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Codes written.
    pub n_codes: usize,
    /// Column of the frame in the context.
    pub position: i64,
}

impl Session {
    /// A session with the defaults.
    ///
    /// # Errors
    /// `Unsupported`: the model has no language model.
    pub fn new(model: &Model) -> Result<Self> {
        Self::with_options(model, &SessionOptions::new()?)
    }

    /// A session.
    ///
    /// # Errors
    /// As [`Session::new`]; `Unsupported` when the device lacks the attention backend asked for,
    /// `InvalidArgument` for a field out of its range.
    pub fn with_options(model: &Model, options: &SessionOptions) -> Result<Self> {
        let params = options.raw()?;
        // SAFETY: a live model, valid parameters, a place for the session.
        let raw =
            create(|out| unsafe { sys::remora_session_create(model.as_ptr(), &params, out) })?;
        Ok(Self::from_raw(raw, model))
    }

    pub(crate) fn from_raw(raw: Owned<sys::remora_session>, model: &Model) -> Self {
        let raw = Arc::new(Shared { raw, _model: model.clone() });
        Self { raw, model: model.clone(), _one_thread: PhantomData }
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::remora_session {
        self.raw.raw.as_ptr()
    }

    /// The model that the session speaks with.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What stops this session from any thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle { session: Arc::downgrade(&self.raw) }
    }

    /// Does the first-use work now in place of in the first request.
    ///
    /// # Errors
    /// `Cancelled`, or what a step can fail with.
    pub fn warm_up(&mut self) -> Result<()> {
        // SAFETY: a live session, used by this thread alone.
        check(unsafe { sys::remora_session_warmup(self.as_ptr()) }).map(drop)
    }

    /// Sampling for the prompts that follow; restarts the random stream from the seed.
    ///
    /// # Errors
    /// `InvalidArgument` names the field; `Unsupported` for a repetition penalty on a family that has
    /// none.
    pub fn set_sampling(&mut self, sampling: &Sampling) -> Result<()> {
        let raw = sampling.raw()?;
        // SAFETY: a live session, used by this thread alone; a valid struct.
        check(unsafe { sys::remora_session_set_sampling(self.as_ptr(), &raw) }).map(drop)
    }

    /// Takes a prompt and runs the model over its first piece. Ends a generation that was going.
    ///
    /// # Errors
    /// `InvalidArgument`: nothing to say, a voice of another model. `ContextFull`: prompt and
    /// `max_frames` do not fit; nothing was done. `Cancelled`.
    pub fn prefill<'a>(&mut self, prompt: impl Into<Prompt<'a>>) -> Result<()> {
        prompt.into().with_raw(self.model.n_codebooks(), |raw| {
            // SAFETY: a live session, used by this thread alone; a prompt whose parts live.
            check(unsafe { sys::remora_session_prefill(self.as_ptr(), raw) }).map(drop)
        })
    }

    /// Makes one frame into `codes`; `None` when the generation is over.
    ///
    /// # Errors
    /// `BufferTooSmall`: fewer places than codes; no frame was made. `InvalidState`: no prompt yet.
    /// `Numeric`, `Cancelled`.
    pub fn step(&mut self, codes: &mut [i32]) -> Result<Option<Step>> {
        let mut frame = sys::remora_frame::sized();
        frame.codes = codes.as_mut_ptr();
        frame.codes_capacity = codes.len() as u64;
        // SAFETY: a live session, used by this thread alone; a buffer with its capacity.
        let status = check(unsafe { sys::remora_session_step(self.as_ptr(), &mut frame) })?;
        let n_codes = usize::try_from(frame.n_codes).unwrap_or(0);
        Ok((status != sys::REMORA_END).then_some(Step { n_codes, position: frame.position }))
    }

    /// Writes the sound that is ready into `samples` and gives their number: 0 when more steps are
    /// needed first, `None` when the generation is over and everything was read.
    ///
    /// # Errors
    /// `Unsupported`: the model has no codec. `Cancelled`.
    pub fn read_pcm(&mut self, samples: &mut [f32]) -> Result<Option<usize>> {
        let mut written = 0;
        // SAFETY: a live session, used by this thread alone; a buffer with its capacity.
        let status = check(unsafe {
            let (dst, capacity) = (samples.as_mut_ptr(), samples.len());
            sys::remora_session_read_pcm(self.as_ptr(), dst, capacity, &mut written)
        })?;
        Ok((status != sys::REMORA_END).then_some(written))
    }

    /// The frames of codes that are still to come.
    pub fn frames(&mut self) -> Frames<'_> {
        Frames::new(self)
    }

    /// The sound that is still to come, piece by piece.
    pub fn pcm(&mut self) -> Pcm<'_> {
        Pcm::new(self)
    }

    /// Prompt and sound in one: [`prefill`](Self::prefill), then [`pcm`](Self::pcm).
    ///
    /// # Errors
    /// As [`prefill`](Self::prefill).
    pub fn speak<'a>(&mut self, prompt: impl Into<Prompt<'a>>) -> Result<Pcm<'_>> {
        self.prefill(prompt)?;
        Ok(self.pcm())
    }

    /// Speaks to a callback: it gets each piece, and whether it is the last (which may be empty).
    /// `Break` stops with `Cancelled`. In it only [`CancelHandle`]s may be used. A panic in it stops
    /// the generation and goes on from here.
    ///
    /// # Errors
    /// As [`prefill`](Self::prefill), [`step`](Self::step) and [`read_pcm`](Self::read_pcm).
    pub fn generate<'a, F>(&mut self, prompt: impl Into<Prompt<'a>>, mut on_audio: F) -> Result<()>
    where
        F: FnMut(&[f32], bool) -> ControlFlow<()>,
    {
        prompt.into().with_raw(self.model.n_codebooks(), |raw| {
            let user = std::ptr::from_mut(&mut on_audio).cast();
            // SAFETY: a live session, used by this thread alone; `user` is the F that the trampoline
            // takes it for, and outlives the call.
            check(unsafe {
                sys::remora_session_generate(self.as_ptr(), raw, Some(hear::<F>), user)
            })
            .map(drop)
        })
    }

    /// Asks this session's next call to stop; see [`CancelHandle::cancel`].
    pub fn cancel(&self) {
        // SAFETY: a live session; any thread may call this.
        unsafe { sys::remora_session_cancel(self.as_ptr()) };
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session").field("model", &self.model).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CancelHandle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CancelHandle").finish_non_exhaustive()
    }
}

unsafe extern "C" fn hear<F>(user: *mut c_void, pcm: *const f32, n: usize, last: i32) -> i32
where
    F: FnMut(&[f32], bool) -> ControlFlow<()>,
{
    callback::guard(|| {
        // SAFETY: `generate` gave this pointer, for the time of its call; n samples are lent.
        let (on_audio, samples) = unsafe { (&mut *user.cast::<F>(), lent(pcm, n)) };
        i32::from(on_audio(samples, last != 0).is_break())
    })
    .unwrap_or(1)
}
