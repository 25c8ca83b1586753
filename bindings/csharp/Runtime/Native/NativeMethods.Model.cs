using System;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    // What a model is made from and what is made with it.
    internal static unsafe partial class NativeMethods
    {
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_create(out SourceHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_add_dir(SourceHandle source, byte* utf8Dir);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_add_codec_dir(SourceHandle source, byte* utf8Dir);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_add_path(
            SourceHandle source, byte* name, byte* utf8Path);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_add_memory(
            SourceHandle source, byte* name, byte* data, UIntPtr len, IntPtr release, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_add_fd(
            SourceHandle source, byte* name, int fd, ulong offset, ulong len);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_source_set_reader(
            SourceHandle source, remora_reader* reader);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern void remora_source_destroy(IntPtr source);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_params_init(
            remora_model_params* parameters, uint structSize);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_open(
            byte* utf8Dir, remora_model_params* parameters, out ModelHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_create(
            SourceHandle source, remora_model_params* parameters, out ModelHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_estimate(
            SourceHandle source, remora_model_params* parameters, remora_memory* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_describe(
            ModelHandle model, remora_model_info* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_memory(ModelHandle model, remora_memory* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_tokenize(
            ModelHandle model, byte* utf8, UIntPtr len, uint flags, int* ids, UIntPtr capacity,
            out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_prompt(
            ModelHandle model, remora_prompt* prompt, int* tokens, UIntPtr capacity,
            out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_save_weights(
            ModelHandle model, byte* utf8Path, IntPtr progress, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_model_weight_error(
            ModelHandle model, UIntPtr index, remora_weight_error* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern void remora_model_destroy(IntPtr model);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_voice_from_codes(
            ModelHandle model, int* codes, UIntPtr nFrames, byte* transcript,
            UIntPtr transcriptLen, out VoiceHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_voice_create(
            ModelHandle model, float* interleaved, UIntPtr nFrames, int channels, int rate,
            byte* transcript, UIntPtr transcriptLen, out VoiceHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_voice_open(
            ModelHandle model, byte* utf8Path, byte* transcript, UIntPtr transcriptLen,
            out VoiceHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_voice_save(
            VoiceHandle voice, byte* dst, UIntPtr capacity, out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_voice_load(
            ModelHandle model, byte* src, UIntPtr len, out VoiceHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern void remora_voice_destroy(IntPtr voice);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_codec_encode(
            ModelHandle model, float* interleaved, UIntPtr nFrames, int channels, int rate,
            int* codes, UIntPtr capacity, out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_codec_decode(
            ModelHandle model, int* codes, UIntPtr nFrames, float* pcm, UIntPtr capacity,
            out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_codec_stream_create(
            ModelHandle model, out CodecStreamHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_codec_stream_push(
            CodecStreamHandle stream, int* codes, UIntPtr nFrames, float* pcm, UIntPtr capacity,
            out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_codec_stream_reset(CodecStreamHandle stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern void remora_codec_stream_destroy(IntPtr stream);
    }
}
