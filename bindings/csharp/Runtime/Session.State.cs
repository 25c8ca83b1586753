using System;
using Remora.Native;

namespace Remora
{
    public sealed unsafe partial class Session
    {
        /// <summary>Back to the state after creation; the sampling stays. Clears an error and a
        /// cancel.</summary>
        public void Reset() => RemoraException.Check(NativeMethods.remora_session_reset(_handle));

        /// <summary>The logits that frames are drawn from, before penalty, temperature and filters.
        /// Codebook 0: for the next frame, an entry for each semantic token and one for the end
        /// token, by ascending id (see <see cref="ModelInfo"/>). Codebook 1 and up: for that code of
        /// the last frame; entry i is code i. Needs <see cref="SessionFlags.KeepLogits"/>.</summary>
        public float[] Logits(int codebook) =>
            Buffers.Floats((float* dst, UIntPtr capacity, out UIntPtr needed) =>
                NativeMethods.remora_session_logits(_handle, codebook, dst, capacity, out needed));

        /// <summary>Forgets the columns from <paramref name="position"/> on, and ends a generation
        /// that was going.</summary>
        public void Rewind(long position) =>
            RemoraException.Check(NativeMethods.remora_session_rewind(_handle, position));

        /// <summary>An independent session in the same state, in the middle of a generation
        /// too.</summary>
        public Session Clone()
        {
            RemoraException.Check(
                NativeMethods.remora_session_clone(_handle, out SessionHandle handle));
            return new Session(handle, this);
        }

        /// <summary>The whole state as bytes.</summary>
        public byte[] Save() =>
            Buffers.Bytes((byte* dst, UIntPtr capacity, out UIntPtr needed) =>
                NativeMethods.remora_session_save(_handle, dst, capacity, out needed));

        /// <summary>Takes up what <see cref="Save"/> gave.</summary>
        /// <exception cref="RemoraException">Format: damaged, or of another version.
        /// InvalidArgument: of another model or precision, or too long; the session is
        /// unchanged.</exception>
        public void Load(ReadOnlySpan<byte> saved)
        {
            fixed (byte* bytes = &Pin.Reference(saved))
                RemoraException.Check(
                    NativeMethods.remora_session_load(_handle, bytes, (UIntPtr)saved.Length));
        }
    }
}
