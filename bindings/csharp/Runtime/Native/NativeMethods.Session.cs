using System;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    // Sessions and their parameters.
    internal static unsafe partial class NativeMethods
    {
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_params_init(
            remora_session_params* parameters, uint structSize);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_sampling_init(remora_sampling* sampling, uint structSize);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_prompt_init(remora_prompt* prompt, uint structSize);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_create(
            ModelHandle model, remora_session_params* parameters, out SessionHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_warmup(SessionHandle session);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_set_sampling(
            SessionHandle session, remora_sampling* sampling);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_prefill(
            SessionHandle session, remora_prompt* prompt);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_step(SessionHandle session, remora_frame* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_sessions_step(
            IntPtr* sessions, UIntPtr count, remora_frame** frames, int* statuses);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_logits(
            SessionHandle session, int codebook, float* result, UIntPtr capacity,
            out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_read_pcm(
            SessionHandle session, float* dst, UIntPtr capacity, out UIntPtr written);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_generate(
            SessionHandle session, remora_prompt* prompt, IntPtr onAudio, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern void remora_session_cancel(SessionHandle session);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_reset(SessionHandle session);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern long remora_session_position(SessionHandle session);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_rewind(SessionHandle session, long position);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_clone(
            SessionHandle session, out SessionHandle created);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_save(
            SessionHandle session, byte* dst, UIntPtr capacity, out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_load(
            SessionHandle session, byte* src, UIntPtr len);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_session_stats(
            SessionHandle session, remora_stats* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern void remora_session_destroy(IntPtr session);
    }
}
