using Remora.Native;

namespace Remora
{
    /// <summary>How a session works. A new object holds the library's defaults.</summary>
    public sealed unsafe class SessionOptions
    {
        private remora_session_params _native;

        public SessionOptions()
        {
            Loader.Ensure();
            fixed (remora_session_params* native = &_native)
                RemoraException.Check(NativeMethods.remora_session_params_init(
                    native, (uint)sizeof(remora_session_params)));
        }

        public SessionFlags Flags
        {
            get => (SessionFlags)_native.flags;
            set => _native.flags = (uint)value;
        }

        /// <summary>Columns of context, 1 to Info.MaxLength; 0 grows with the request.</summary>
        public int Capacity
        {
            get => _native.capacity;
            set => _native.capacity = value;
        }

        public KvMode KvMode
        {
            get => (KvMode)_native.kv_mode;
            set => _native.kv_mode = (int)value;
        }

        public SdpaPolicy Sdpa
        {
            get => (SdpaPolicy)_native.sdpa;
            set => _native.sdpa = (int)value;
        }

        /// <summary>Frames of the first piece of sound, at least 1.</summary>
        public int CodecChunkFirst
        {
            get => _native.codec_chunk_first;
            set => _native.codec_chunk_first = value;
        }

        /// <summary>Pieces grow to this many frames.</summary>
        public int CodecChunkNext
        {
            get => _native.codec_chunk_next;
            set => _native.codec_chunk_next = value;
        }

        internal remora_session_params Native => _native;
    }

    /// <summary>How frames are drawn. A new object holds the library's defaults.</summary>
    public sealed unsafe class Sampling
    {
        /// <summary>As a seed: draw one from the system; Stats.Seed tells which.</summary>
        public const ulong RandomSeed = ulong.MaxValue;

        private remora_sampling _native;

        public Sampling()
        {
            Loader.Ensure();
            fixed (remora_sampling* native = &_native)
                RemoraException.Check(
                    NativeMethods.remora_sampling_init(native, (uint)sizeof(remora_sampling)));
        }

        /// <summary>0 to 10; 0 is greedy.</summary>
        public float Temperature
        {
            get => _native.temperature;
            set => _native.temperature = value;
        }

        /// <summary>0 to 1.</summary>
        public float TopP
        {
            get => _native.top_p;
            set => _native.top_p = value;
        }

        /// <summary>1 to 65536; 1 takes the best always.</summary>
        public int TopK
        {
            get => _native.top_k;
            set => _native.top_k = value;
        }

        /// <summary>S1-mini only, 0.5 to 2; 0 is the family's default, 1 is off.</summary>
        public float RepetitionPenalty
        {
            get => _native.repetition_penalty;
            set => _native.repetition_penalty = value;
        }

        /// <summary>Frames for each piece of the prompt; 0: until the context is full.</summary>
        public int MaxFrames
        {
            get => _native.max_frames;
            set => _native.max_frames = value;
        }

        /// <summary>Bound tied to the text: 64 + this * bytes of the piece; 0 is off.</summary>
        public float MaxFramesPerByte
        {
            get => _native.max_frames_per_byte;
            set => _native.max_frames_per_byte = value;
        }

        /// <summary>S2-Pro only: frames searched for repetitions, 0 to 64; 0 is off.</summary>
        public int RepetitionWindow
        {
            get => _native.ras_window;
            set => _native.ras_window = value;
        }

        public ulong Seed
        {
            get => _native.seed;
            set => _native.seed = value;
        }

        internal remora_sampling Native => _native;
    }
}
