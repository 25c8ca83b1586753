//! Iterators over what a session makes.

use std::iter::FusedIterator;

use crate::error::Result;
use crate::session::Session;

/// One frame of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// One code of each codebook.
    pub codes: Vec<i32>,
    /// Column of the frame in the context.
    pub position: i64,
}

/// The frames of a generation; see [`Session::frames`]. Ends after an error.
#[derive(Debug)]
pub struct Frames<'s> {
    session: &'s mut Session,
    over: bool,
}

impl<'s> Frames<'s> {
    pub(crate) fn new(session: &'s mut Session) -> Self {
        Self { session, over: false }
    }

    fn pull(&mut self) -> Result<Option<Frame>> {
        let mut codes = vec![0; self.session.model().n_codebooks()];
        let step = self.session.step(&mut codes)?;
        Ok(step.map(|step| {
            codes.truncate(step.n_codes);
            Frame { codes, position: step.position }
        }))
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let item = self.pull().transpose();
        self.over = !matches!(item, Some(Ok(_)));
        item
    }
}

impl FusedIterator for Frames<'_> {}

/// The sound of a generation in pieces of mono samples at the model's rate, as they are ready; see
/// [`Session::pcm`]. Ends after an error.
#[derive(Debug)]
pub struct Pcm<'s> {
    session: &'s mut Session,
    block: Vec<f32>,
    codes: Vec<i32>,
    over: bool,
}

impl<'s> Pcm<'s> {
    /// Samples read at once: larger pieces come in several items.
    const BLOCK: usize = 1 << 14;

    pub(crate) fn new(session: &'s mut Session) -> Self {
        let codes = vec![0; session.model().n_codebooks()];
        Self { session, block: vec![0.0; Self::BLOCK], codes, over: false }
    }

    /// The session, for its statistics.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.session
    }

    fn pull(&mut self) -> Result<Option<Vec<f32>>> {
        loop {
            match self.session.read_pcm(&mut self.block)? {
                None => return Ok(None),
                // At the end of the generation a step does nothing, and the next read gives the rest.
                Some(0) => drop(self.session.step(&mut self.codes)?),
                Some(n) => return Ok(Some(self.block[..n].to_vec())),
            }
        }
    }
}

impl Iterator for Pcm<'_> {
    type Item = Result<Vec<f32>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let item = self.pull().transpose();
        self.over = !matches!(item, Some(Ok(_)));
        item
    }
}

impl FusedIterator for Pcm<'_> {}
