//! What a session is asked to say, and how it chooses.

use std::ffi::c_char;

use remora_sys as sys;

use crate::error::Result;
use crate::ffi::{c_int, columns, defaults};
use crate::voice::Voice;

/// What to say. A `&str` is one by itself.
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    content: Content<'a>,
    voices: Vec<&'a Voice>,
    flags: u32,
    split_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Text(&'a str),
    Tokens(&'a [i32]),
}

impl<'a> Prompt<'a> {
    /// A text to speak.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self::from_content(Content::Text(text))
    }

    /// A whole prompt matrix, `[1 + n_codebooks, columns]` row by row, in place of a text.
    #[must_use]
    pub fn from_tokens(tokens: &'a [i32]) -> Self {
        Self::from_content(Content::Tokens(tokens))
    }

    fn from_content(content: Content<'a>) -> Self {
        Self { content, voices: Vec::new(), flags: 0, split_bytes: None }
    }

    /// Adds a voice: the first is speaker 0, the next speaker 1, and so on.
    #[must_use]
    pub fn voice(mut self, voice: &'a Voice) -> Self {
        self.voices.push(voice);
        self
    }

    /// Keeps the session's earlier turns as context.
    #[must_use]
    pub fn keep_context(self) -> Self {
        self.with_flags(sys::REMORA_PROMPT_CONTINUE)
    }

    /// Lets control tokens typed in the text act as tokens.
    #[must_use]
    pub fn allow_control(self) -> Self {
        self.with_flags(sys::REMORA_PROMPT_ALLOW_CONTROL)
    }

    /// One piece, however long.
    #[must_use]
    pub fn no_split(self) -> Self {
        self.with_flags(sys::REMORA_PROMPT_NO_SPLIT)
    }

    /// Collapses white space.
    #[must_use]
    pub fn clean_text(self) -> Self {
        self.with_flags(sys::REMORA_PROMPT_CLEAN_TEXT)
    }

    /// Adds flags of the C interface, for those that this binding has no method for.
    #[must_use]
    pub fn with_flags(mut self, flags: u32) -> Self {
        self.flags |= flags;
        self
    }

    /// Cuts long text near this many bytes.
    #[must_use]
    pub fn split_bytes(mut self, bytes: u64) -> Self {
        self.split_bytes = Some(bytes);
        self
    }

    /// Lends the prompt to a call, for a model with `n_codebooks`.
    pub(crate) fn with_raw<R>(
        &self,
        n_codebooks: usize,
        call: impl FnOnce(&sys::remora_prompt) -> Result<R>,
    ) -> Result<R> {
        let voices: Vec<_> = self.voices.iter().map(|voice| voice.as_ptr()).collect();
        let mut raw = defaults(sys::remora_prompt_init)?;
        raw.flags |= self.flags;
        match self.content {
            Content::Text(text) => {
                raw.text = text.as_ptr().cast::<c_char>();
                raw.text_len = text.len() as u64;
            }
            Content::Tokens(tokens) => {
                // The library reads as many rows as the model has: no more than there are.
                raw.n_tokens = columns(tokens.len(), 1 + n_codebooks, "prompt.tokens")? as u64;
                raw.tokens = tokens.as_ptr();
            }
        }
        if !voices.is_empty() {
            raw.voices = voices.as_ptr();
            raw.n_voices = voices.len() as u64;
        }
        if let Some(bytes) = self.split_bytes {
            raw.split_bytes = bytes;
        }
        call(&raw)
    }
}

impl<'a> From<&'a str> for Prompt<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text)
    }
}

impl<'a> From<&'a String> for Prompt<'a> {
    fn from(text: &'a String) -> Self {
        Self::new(text)
    }
}

impl<'a> From<&Prompt<'a>> for Prompt<'a> {
    fn from(prompt: &Prompt<'a>) -> Self {
        prompt.clone()
    }
}

/// How a session chooses among what the model finds likely.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// 0 is greedy: the best everywhere, no penalty.
    pub temperature: f32,
    /// 0 to 1: the share of the probability that is kept.
    pub top_p: f32,
    /// How many candidates are kept; 1 is the best alone.
    pub top_k: u32,
    /// S1-mini only; 0 is the family's default, 1 is off.
    pub repetition_penalty: f32,
    /// Frames per prompt piece; 0 goes on until the context is full.
    pub max_frames: u32,
    /// Bound tied to the text: 64 + this * bytes of the piece; 0 is off.
    pub max_frames_per_byte: f32,
    /// S2-Pro: frames looked back at for repetitions; 0 is off.
    pub ras_window: u32,
    /// Equal seeds give equal results; [`Sampling::RANDOM_SEED`] draws one.
    pub seed: u64,
}

impl Sampling {
    /// As a seed: draw one from the system; read it back in [`Stats`](crate::Stats).
    pub const RANDOM_SEED: u64 = sys::REMORA_SEED_RANDOM;

    /// The library's defaults.
    ///
    /// # Errors
    /// `Abi` when the library is not the one this binding belongs to.
    pub fn new() -> Result<Self> {
        let raw = defaults(sys::remora_sampling_init)?;
        let count = |value: i32| u32::try_from(value).unwrap_or(0);
        Ok(Self {
            temperature: raw.temperature,
            top_p: raw.top_p,
            top_k: count(raw.top_k),
            repetition_penalty: raw.repetition_penalty,
            max_frames: count(raw.max_frames),
            max_frames_per_byte: raw.max_frames_per_byte,
            ras_window: count(raw.ras_window),
            seed: raw.seed,
        })
    }

    pub(crate) fn raw(&self) -> Result<sys::remora_sampling> {
        let mut raw = defaults(sys::remora_sampling_init)?;
        raw.temperature = self.temperature;
        raw.top_p = self.top_p;
        raw.top_k = c_int(self.top_k);
        raw.repetition_penalty = self.repetition_penalty;
        raw.max_frames = c_int(self.max_frames);
        raw.max_frames_per_byte = self.max_frames_per_byte;
        raw.ras_window = c_int(self.ras_window);
        raw.seed = self.seed;
        Ok(raw)
    }
}
