//! Several sessions over one read of the model's weights.

use remora_sys as sys;

use crate::error::{check, Error, ErrorCode, Result};
use crate::ffi::CStruct;
use crate::session::Session;
use crate::stream::Frame;

/// Sessions that one [`Session::step_together`] takes.
pub const MAX_TOGETHER: usize = sys::REMORA_STEP_SESSIONS_MAX;

impl Session {
    /// One frame for each of several sessions of one model; what bounds a step on a CPU is reading the
    /// weights, so a few sessions together take little longer than one. For each session: what
    /// [`step`](Self::step) would have made. An end or an error of one leaves the others going.
    ///
    /// Experimental: may change in any release. The library keeps one text a thread: where several
    /// sessions fail, only the last of them has it.
    ///
    /// # Errors
    /// `InvalidArgument`: none or more than [`MAX_TOGETHER`] sessions, or sessions of several models.
    /// No session was stepped then.
    pub fn step_together(sessions: &mut [&mut Session]) -> Result<Vec<Result<Option<Frame>>>> {
        let mut codes: Vec<Vec<i32>> =
            sessions.iter().map(|one| vec![0; one.model().n_codebooks()]).collect();
        let mut frames: Vec<sys::remora_frame> = codes
            .iter_mut()
            .map(|codes| {
                let mut frame = sys::remora_frame::sized();
                frame.codes = codes.as_mut_ptr();
                frame.codes_capacity = codes.len() as u64;
                frame
            })
            .collect();
        let places: Vec<*mut sys::remora_frame> =
            frames.iter_mut().map(std::ptr::from_mut).collect();
        let raw: Vec<*mut sys::remora_session> = sessions.iter().map(|one| one.as_ptr()).collect();
        let mut statuses = vec![sys::REMORA_OK; raw.len()];
        // SAFETY: live sessions, each used by this thread alone; as many frames, with room for their
        // codes, and statuses.
        check(unsafe {
            let (frames, statuses) = (places.as_ptr(), statuses.as_mut_ptr());
            sys::remora_sessions_step(raw.as_ptr(), raw.len(), frames, statuses)
        })?;
        let last_failed = statuses.iter().rposition(|status| *status < 0);
        let outcome = |(i, codes): (usize, Vec<i32>)| match statuses[i] {
            sys::REMORA_OK => Ok(Some(Frame { codes, position: frames[i].position })),
            sys::REMORA_END => Ok(None),
            status if Some(i) == last_failed => Err(Error::last(status)),
            status => {
                let code = ErrorCode::from_raw(status);
                Err(Error::new(code, format!("sessions[{i}]: {}", code.name())))
            }
        };
        Ok(codes.into_iter().enumerate().map(outcome).collect())
    }
}
