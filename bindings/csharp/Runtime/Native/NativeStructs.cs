using System;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    // The structs of remora.h under their C names and field names, blittable, in C order. Nothing
    // here has a default: each is filled by its *_init function or zeroed before the library writes
    // it. Callbacks are function pointers as IntPtr.

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_reader
    {
        public uint struct_size;
        public uint flags;
        public IntPtr user;
        public IntPtr open;
        public IntPtr read_at;
        public IntPtr close;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_model_params
    {
        public uint struct_size;
        public uint flags;
        public int device;
        public int device_index;
        public int dtype;
        public int weights;
        public int codec_dtype;
        public int int4_group;
        public IntPtr progress;
        public IntPtr progress_user;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct remora_model_info
    {
        public uint struct_size;
        public int sample_rate;
        public int samples_per_frame;
        public int n_codebooks;
        public int codebook_size;
        public int max_seq_len;
        public int vocab_size;
        public int semantic_begin;
        public int semantic_end;
        public int end_token;
        public int device;
        public int device_index;
        public int dtype;
        public int weights;
        public int codec_dtype;
        public int has_lm;
        public int has_codec;
        public int has_encoder;
        public fixed byte family[32];
        public int int4_group;
        public int saved_weights;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct remora_device_info
    {
        public uint struct_size;
        public uint flags;
        public fixed byte name[120];
        public ulong memory_total;
        public ulong memory_free;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct remora_weight_error
    {
        public uint struct_size;
        public int weights;
        public int int4_group;
        public float relative_error;
        public ulong numbers;
        public float largest_error;
        public float largest_number;
        public fixed byte layer[64];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_memory
    {
        public uint struct_size;
        public uint flags;
        public ulong weights;
        public ulong codec;
        public ulong kv_per_position;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_session_params
    {
        public uint struct_size;
        public uint flags;
        public int capacity;
        public int kv_mode;
        public int sdpa;
        public int codec_chunk_first;
        public int codec_chunk_next;
        public int reserved0;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_sampling
    {
        public uint struct_size;
        public uint flags;
        public float temperature;
        public float top_p;
        public int top_k;
        public float repetition_penalty;
        public int max_frames;
        public float max_frames_per_byte;
        public int ras_window;
        public int reserved0;
        public ulong seed;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct remora_prompt
    {
        public uint struct_size;
        public uint flags;
        public byte* text;
        public ulong text_len;
        public IntPtr* voices;
        public ulong n_voices;
        public int* tokens;
        public ulong n_tokens;
        public ulong split_bytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct remora_frame
    {
        public uint struct_size;
        public int n_codes;
        public long position;
        public int* codes;
        public ulong codes_capacity;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_stats
    {
        public uint struct_size;
        public int finish;
        public int sdpa_prefill;
        public int sdpa_step;
        public int kv_mode;
        public int kv_len;
        public int kv_capacity;
        public int reserved0;
        public ulong seed;
        public ulong prompt_tokens;
        public ulong reused_tokens;
        public ulong frames;
        public ulong samples;
        public ulong kv_bytes;
        public ulong graph_captures;
        public ulong text_done;
        public ulong pieces_done;
        public ulong pieces;
        public ulong prefill_ns;
        public ulong first_audio_ns;
        public ulong step_ns;
        public ulong codec_ns;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct remora_audio_info
    {
        public uint struct_size;
        public int sample_rate;
        public int channels;
        public int reserved0;
        public ulong frames;
    }
}
