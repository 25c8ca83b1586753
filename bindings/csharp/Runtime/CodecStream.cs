using System;
using Remora.Native;

namespace Remora
{
    /// <summary>Exact piecewise decode: the pieces joined equal the whole clip within 2e-5. One
    /// thread at a time.</summary>
    public sealed unsafe class CodecStream : IDisposable
    {
        private readonly CodecStreamHandle _handle;
        private readonly ModelInfo _info;

        public CodecStream(Model model)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            RemoraException.Check(
                NativeMethods.remora_codec_stream_create(model.Handle, out _handle));
            _info = model.Info;
            _handle.KeepReader(model.Handle.Reader);
        }

        /// <summary>The next frames (Info.Codebooks rows, row by row) to their sound.</summary>
        public float[] Push(ReadOnlySpan<int> codes)
        {
            UIntPtr frames = Buffers.Count(codes.Length, _info.Codebooks, nameof(codes));
            var pcm = new float[checked((int)frames * _info.SamplesPerFrame)];
            Push(codes, pcm);
            return pcm;
        }

        /// <summary>The same into the caller's memory; returns the number of samples.</summary>
        /// <exception cref="RemoraException">BufferTooSmall: nothing was consumed.</exception>
        public int Push(ReadOnlySpan<int> codes, Span<float> pcm)
        {
            UIntPtr frames = Buffers.Count(codes.Length, _info.Codebooks, nameof(codes));
            fixed (int* input = &Pin.Reference(codes))
            fixed (float* output = &Pin.Reference<float>(pcm))
            {
                RemoraException.Check(NativeMethods.remora_codec_stream_push(
                    _handle, input, frames, output, (UIntPtr)pcm.Length, out UIntPtr needed));
                return checked((int)needed);
            }
        }

        /// <summary>Back to the start of a clip.</summary>
        public void Reset() =>
            RemoraException.Check(NativeMethods.remora_codec_stream_reset(_handle));

        public void Dispose() => _handle.Dispose();
    }
}
