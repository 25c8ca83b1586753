using System;
using Remora.Native;

namespace Remora
{
    /// <summary>One frame of codes and its column in the context.</summary>
    public readonly struct Frame
    {
        internal Frame(long position, int[] codes)
        {
            Position = position;
            Codes = codes;
        }

        public long Position { get; }

        public int[] Codes { get; }
    }

    /// <summary>What a session did and holds.</summary>
    public readonly struct SessionStats
    {
        private const ulong NanosecondsPerTick = 100;
        private readonly remora_stats _native;

        internal SessionStats(remora_stats native) => _native = native;

        public Finish Finish => (Finish)_native.finish;

        /// <summary>The kernel that really ran in the last prefill.</summary>
        public SdpaPolicy SdpaPrefill => (SdpaPolicy)_native.sdpa_prefill;

        /// <summary>The kernel that really ran in the last step.</summary>
        public SdpaPolicy SdpaStep => (SdpaPolicy)_native.sdpa_step;

        public KvMode KvMode => (KvMode)_native.kv_mode;

        /// <summary>Columns in the cache.</summary>
        public int KvLength => _native.kv_len;

        /// <summary>Columns it has room for now.</summary>
        public int KvCapacity => _native.kv_capacity;

        /// <summary>The seed in force.</summary>
        public ulong Seed => _native.seed;

        /// <summary>Columns of the last prompt.</summary>
        public ulong PromptTokens => _native.prompt_tokens;

        /// <summary>Columns of it that were in the cache already.</summary>
        public ulong ReusedTokens => _native.reused_tokens;

        /// <summary>Frames since the last prefill, all pieces.</summary>
        public ulong Frames => _native.frames;

        /// <summary>Samples read since the last prefill.</summary>
        public ulong Samples => _native.samples;

        /// <summary>Bytes of the cache allocated now.</summary>
        public ulong KvBytes => _native.kv_bytes;

        public ulong GraphCaptures => _native.graph_captures;

        /// <summary>Bytes of the text whose pieces are finished.</summary>
        public ulong TextDone => _native.text_done;

        public ulong PiecesDone => _native.pieces_done;

        /// <summary>Pieces the text was cut into.</summary>
        public ulong Pieces => _native.pieces;

        public TimeSpan PrefillTime => Time(_native.prefill_ns);

        /// <summary>From the prefill call to the first samples; zero before them.</summary>
        public TimeSpan FirstAudioTime => Time(_native.first_audio_ns);

        public TimeSpan StepTime => Time(_native.step_ns);

        public TimeSpan CodecTime => Time(_native.codec_ns);

        private static TimeSpan Time(ulong nanoseconds) =>
            new TimeSpan((long)(nanoseconds / NanosecondsPerTick));
    }
}
