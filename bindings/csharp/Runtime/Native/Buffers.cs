using System;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    /// <summary>Pins spans so that an empty one still has an address: the library takes NULL for a
    /// mistake in most places.</summary>
    internal static class Pin
    {
        private static class Nothing<T>
        {
            internal static readonly T[] Here = new T[1];
        }

        internal static ref T Reference<T>(ReadOnlySpan<T> span)
        {
            if (span.IsEmpty) return ref Nothing<T>.Here[0];
            return ref MemoryMarshal.GetReference(span);
        }
    }

    /// <summary>The buffer protocol of the header as arrays: ask for the size, then fill.</summary>
    internal static unsafe class Buffers
    {
        internal delegate int FillBytes(byte* dst, UIntPtr capacity, out UIntPtr needed);

        internal delegate int FillInts(int* dst, UIntPtr capacity, out UIntPtr needed);

        internal delegate int FillFloats(float* dst, UIntPtr capacity, out UIntPtr needed);

        internal static byte[] Bytes(FillBytes fill)
        {
            RemoraException.Check(fill(null, UIntPtr.Zero, out UIntPtr needed));
            var result = new byte[checked((int)needed)];
            fixed (byte* dst = &Pin.Reference<byte>(result))
                RemoraException.Check(fill(dst, needed, out needed));
            return result;
        }

        internal static int[] Ints(FillInts fill)
        {
            RemoraException.Check(fill(null, UIntPtr.Zero, out UIntPtr needed));
            var result = new int[checked((int)needed)];
            fixed (int* dst = &Pin.Reference<int>(result))
                RemoraException.Check(fill(dst, needed, out needed));
            return result;
        }

        internal static float[] Floats(FillFloats fill)
        {
            RemoraException.Check(fill(null, UIntPtr.Zero, out UIntPtr needed));
            var result = new float[checked((int)needed)];
            fixed (float* dst = &Pin.Reference<float>(result))
                RemoraException.Check(fill(dst, needed, out needed));
            return result;
        }

        /// <summary>Whole rows of `width` in `length` elements, or an ArgumentException: the
        /// library reads as many elements as the count says.</summary>
        internal static UIntPtr Count(int length, int width, string name)
        {
            if (width < 1 || length % width != 0)
                throw new ArgumentException("has " + length + " elements, no multiple of " + width +
                                            "; give whole frames", name);
            return (UIntPtr)(length / width);
        }
    }
}
