using System;

namespace Remora
{
    /// <summary>What the library answered; see remora_status. Values that are not named here may
    /// come from a newer library.</summary>
    public enum Status
    {
        Ok = 0,
        End = 1,
        InvalidArgument = -1,
        InvalidState = -2,
        Busy = -3,
        Cancelled = -4,
        OutOfMemory = -5,
        Io = -6,
        Format = -7,
        Unsupported = -8,
        BufferTooSmall = -9,
        ContextFull = -10,
        Device = -11,
        Abi = -12,
        Callback = -13,
        Forked = -14,
        Numeric = -15,
        Internal = -16,
    }

    /// <summary>The attention kernel of LibTorch to use.</summary>
    public enum SdpaPolicy
    {
        Auto = 0,
        Math = 1,
        Flash = 2,
        Efficient = 3,
        Cudnn = 4,

        /// <summary>Reported only: the library's own attention, part of Auto on the CPU.</summary>
        Builtin = 5,
    }

    /// <summary>How much of the key and value cache a step works on.</summary>
    public enum KvMode
    {
        ActivePrefix = 0,
        Full = 1,
        Graph = 2,
    }

    public enum DeviceKind
    {
        Auto = 0,
        Cpu = 1,
        Cuda = 2,
        Mps = 3,
    }

    /// <summary>The number type that is computed with.</summary>
    public enum DType
    {
        Auto = 0,
        F32 = 1,
        Bf16 = 2,
        F16 = 3,
    }

    /// <summary>How the language model's weights are kept.</summary>
    public enum Weights
    {
        AsDType = 0,
        Int8 = 1,
        Int4 = 2,
    }

    /// <summary>Why a generation ended.</summary>
    public enum Finish
    {
        /// <summary>Still going, or nothing was asked yet.</summary>
        None = 0,

        /// <summary>The model ended by itself.</summary>
        EndToken = 1,

        /// <summary>A length limit of the sampling was reached.</summary>
        Length = 2,

        /// <summary>The context was full.</summary>
        Capacity = 3,
        Cancelled = 4,
        Error = 5,
    }

    public enum LogLevel
    {
        Error = 0,
        Warn = 1,
        Info = 2,
        Debug = 3,
    }

    public enum AudioFormat
    {
        WavPcm16 = 0,
        WavPcm24 = 1,
        WavFloat = 2,
        Flac16 = 3,
        Flac24 = 4,
        OggOpus = 5,
    }

    /// <summary>Parts of a model to leave out, and what to measure.</summary>
    [Flags]
    public enum ModelFlags : uint
    {
        None = 0,

        /// <summary>Without the codec's encoder: voices from codes only.</summary>
        NoEncoder = 1,

        /// <summary>Codes only, no sound.</summary>
        NoCodec = 2,

        /// <summary>The codec only: the folder may hold nothing else.</summary>
        NoLm = 4,

        /// <summary>Configuration and tokenizer only: no weights are read.</summary>
        TextOnly = 8,

        /// <summary>Measure what 8 or 4 bit weights lose: <see cref="Model.WeightErrors"/>.
        /// </summary>
        WeightErrors = 16,
    }

    /// <summary>What a session does beside speaking.</summary>
    [Flags]
    public enum SessionFlags : uint
    {
        None = 0,

        /// <summary>Keep what frames are drawn from, for Session.Logits.</summary>
        KeepLogits = 1,
    }

    [Flags]
    public enum PromptFlags : uint
    {
        None = 0,

        /// <summary>Keep the session's earlier turns as context.</summary>
        Continue = 1,

        /// <summary>Control tokens typed in the text act as tokens.</summary>
        AllowControl = 2,

        /// <summary>One piece, however long the text is.</summary>
        NoSplit = 4,

        /// <summary>Collapse white space.</summary>
        CleanText = 8,
    }
}
