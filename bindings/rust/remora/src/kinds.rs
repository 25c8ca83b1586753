//! Enumerations of the C interface. Each keeps values that this version does not know.

use remora_sys as sys;

macro_rules! open_enum {
    ($(#[$doc:meta])* $kind:ident { $($(#[$item_doc:meta])* $name:ident = $raw:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $kind {
            $($(#[$item_doc])* $name,)*
            /// A value that this version of the binding has no name for.
            Unknown(i32),
        }

        impl $kind {
            /// From a value of the C interface.
            #[must_use]
            pub fn from_raw(raw: i32) -> Self {
                match raw {
                    $(sys::$raw => Self::$name,)*
                    other => Self::Unknown(other),
                }
            }

            /// The value of the C interface.
            #[must_use]
            pub fn raw(self) -> i32 {
                match self {
                    $(Self::$name => sys::$raw,)*
                    Self::Unknown(raw) => raw,
                }
            }
        }
    };
}

open_enum! {
    /// What computes.
    DeviceKind {
        /// The library's choice: the CPU.
        Auto = REMORA_DEVICE_AUTO,
        /// The processor.
        Cpu = REMORA_DEVICE_CPU,
        /// An NVIDIA GPU.
        Cuda = REMORA_DEVICE_CUDA,
        /// Apple's Metal.
        Mps = REMORA_DEVICE_MPS,
    }
}

open_enum! {
    /// The number type that a model computes in.
    Dtype {
        /// The library's choice: on the CPU F32 for small models, else BF16.
        Auto = REMORA_DTYPE_AUTO,
        /// 32-bit floats.
        F32 = REMORA_DTYPE_F32,
        /// bfloat16.
        Bf16 = REMORA_DTYPE_BF16,
        /// IEEE half precision.
        F16 = REMORA_DTYPE_F16,
    }
}

open_enum! {
    /// How the language model's weights are kept.
    Weights {
        /// In the [`Dtype`] computed with.
        AsDtype = REMORA_WEIGHTS_AS_DTYPE,
        /// 8-bit integers with scales.
        Int8 = REMORA_WEIGHTS_INT8,
        /// 4-bit integers with scales.
        Int4 = REMORA_WEIGHTS_INT4,
    }
}

open_enum! {
    /// The backend of scaled dot product attention.
    SdpaPolicy {
        /// The library's choice.
        Auto = REMORA_SDPA_AUTO,
        /// Plain arithmetic.
        Math = REMORA_SDPA_MATH,
        /// Flash attention.
        Flash = REMORA_SDPA_FLASH,
        /// Memory-efficient attention.
        Efficient = REMORA_SDPA_EFFICIENT,
        /// cuDNN's attention.
        Cudnn = REMORA_SDPA_CUDNN,
        /// Reported only: the library's own attention, part of `Auto` on the CPU.
        Builtin = REMORA_SDPA_BUILTIN,
    }
}

open_enum! {
    /// How a step looks at the KV cache.
    KvMode {
        /// At the columns in use.
        ActivePrefix = REMORA_KV_ACTIVE_PREFIX,
        /// At the whole cache, masked.
        Full = REMORA_KV_FULL,
        /// At the whole cache, in a captured CUDA graph.
        Graph = REMORA_KV_GRAPH,
    }
}

open_enum! {
    /// Why a generation ended.
    Finish {
        /// Still going, or nothing was asked yet.
        None = REMORA_FINISH_NONE,
        /// The model ended by itself.
        EndToken = REMORA_FINISH_END_TOKEN,
        /// A limit of [`Sampling`](crate::Sampling) was reached.
        Length = REMORA_FINISH_LENGTH,
        /// The context was full.
        Capacity = REMORA_FINISH_CAPACITY,
        /// It was cancelled.
        Cancelled = REMORA_FINISH_CANCELLED,
        /// It failed.
        Error = REMORA_FINISH_ERROR,
    }
}

open_enum! {
    /// How much a line of the log matters.
    LogLevel {
        /// Something failed.
        Error = REMORA_LOG_ERROR,
        /// Something is odd.
        Warn = REMORA_LOG_WARN,
        /// What is being done.
        Info = REMORA_LOG_INFO,
        /// Details.
        Debug = REMORA_LOG_DEBUG,
    }
}

open_enum! {
    /// What sound is written as.
    AudioFormat {
        /// WAV, 16-bit integers.
        WavPcm16 = REMORA_AUDIO_WAV_PCM16,
        /// WAV, 24-bit integers.
        WavPcm24 = REMORA_AUDIO_WAV_PCM24,
        /// WAV, 32-bit floats.
        WavFloat = REMORA_AUDIO_WAV_FLOAT,
        /// FLAC, 16 bits.
        Flac16 = REMORA_AUDIO_FLAC16,
        /// FLAC, 24 bits.
        Flac24 = REMORA_AUDIO_FLAC24,
        /// Opus in an Ogg container.
        OggOpus = REMORA_AUDIO_OGG_OPUS,
    }
}
