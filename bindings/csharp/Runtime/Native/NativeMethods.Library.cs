using System;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    // The whole library and sound files. See NativeMethods.cs for the rules.
    internal static unsafe partial class NativeMethods
    {
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern uint remora_version();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern uint remora_abi_version();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern byte* remora_build_info();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern byte* remora_status_name(int status);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern byte* remora_last_error();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_set_log(IntPtr fn, IntPtr user, int maxLevel);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_set_threads(int intraOp);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_device_count(int kind);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_device_describe(
            int kind, int index, remora_device_info* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_trim_memory();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_audio_describe(byte* utf8Path, remora_audio_info* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_audio_read(
            byte* utf8Path, float* interleaved, UIntPtr capacity, out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_audio_to_s16(float* samples, UIntPtr n, short* result);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_audio_stream_header(
            int format, int channels, int rate, byte* dst, UIntPtr capacity, out UIntPtr needed);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        internal static extern int remora_audio_write(
            byte* utf8Path, float* interleaved, UIntPtr nFrames, int channels, int rate,
            int format);
    }
}
