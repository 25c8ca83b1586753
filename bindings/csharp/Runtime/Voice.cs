using System;
using Remora.Native;

namespace Remora
{
    /// <summary>A reference recording, encoded, with the words spoken in it: immutable, for any
    /// number of sessions and threads. Sessions that use it stay valid after Dispose.</summary>
    public sealed unsafe class Voice : IDisposable
    {
        private Voice(VoiceHandle handle, Model model)
        {
            Handle = handle;
            handle.KeepReader(model.Handle.Reader);
        }

        internal VoiceHandle Handle { get; }

        /// <summary>From codes: Info.Codebooks rows, row by row.</summary>
        public static Voice FromCodes(Model model, ReadOnlySpan<int> codes, string transcript)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            UIntPtr frames = Buffers.Count(codes.Length, model.Info.Codebooks, nameof(codes));
            fixed (int* input = &Pin.Reference(codes))
            fixed (byte* text = Utf8.Text(transcript, nameof(transcript), out UIntPtr length))
            {
                RemoraException.Check(NativeMethods.remora_voice_from_codes(
                    model.Handle, input, frames, text, length, out VoiceHandle handle));
                return new Voice(handle, model);
            }
        }

        /// <summary>From sound: interleaved samples at <paramref name="rate"/> Hz (4000 to 192000),
        /// at least 0.2 s of them.</summary>
        public static Voice FromSound(Model model, ReadOnlySpan<float> interleaved, int channels,
                                      int rate, string transcript)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            UIntPtr frames = Buffers.Count(interleaved.Length, channels, nameof(interleaved));
            fixed (float* samples = &Pin.Reference(interleaved))
            fixed (byte* text = Utf8.Text(transcript, nameof(transcript), out UIntPtr length))
            {
                RemoraException.Check(NativeMethods.remora_voice_create(
                    model.Handle, samples, frames, channels, rate, text, length,
                    out VoiceHandle handle));
                return new Voice(handle, model);
            }
        }

        /// <summary>From a sound file; the content decides its kind, not the name.</summary>
        public static Voice Open(Model model, string path, string transcript)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            fixed (byte* file = Utf8.Path(path, nameof(path)))
            fixed (byte* text = Utf8.Text(transcript, nameof(transcript), out UIntPtr length))
            {
                RemoraException.Check(NativeMethods.remora_voice_open(
                    model.Handle, file, text, length, out VoiceHandle handle));
                return new Voice(handle, model);
            }
        }

        /// <summary>From what <see cref="Save"/> gave.</summary>
        /// <exception cref="RemoraException">Format: damaged, cut or no voice. InvalidArgument:
        /// made for a model of another shape.</exception>
        public static Voice Load(Model model, ReadOnlySpan<byte> saved)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            fixed (byte* bytes = &Pin.Reference(saved))
            {
                RemoraException.Check(NativeMethods.remora_voice_load(
                    model.Handle, bytes, (UIntPtr)saved.Length, out VoiceHandle handle));
                return new Voice(handle, model);
            }
        }

        /// <summary>The voice as bytes, to keep and to load again.</summary>
        public byte[] Save() =>
            Buffers.Bytes((byte* dst, UIntPtr capacity, out UIntPtr needed) =>
                NativeMethods.remora_voice_save(Handle, dst, capacity, out needed));

        public void Dispose() => Handle.Dispose();
    }
}
