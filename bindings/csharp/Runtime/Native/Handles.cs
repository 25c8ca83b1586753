using System;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    /// <summary>
    /// Owner of one native object. Every import takes the handle itself, never a bare pointer, so
    /// the runtime keeps the object alive for as long as a call runs, whatever the garbage
    /// collector or another thread's Dispose does meanwhile.
    /// </summary>
    internal abstract class RemoraHandle : SafeHandle
    {
        private ReaderState _reader;

        protected RemoraHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid => handle == IntPtr.Zero;

        internal ReaderState Reader => _reader;

        /// <summary>The native reader callbacks may be called while this object lives.</summary>
        internal void KeepReader(ReaderState reader)
        {
            if (reader == null || reader == _reader) return;
            reader.AddReference();
            _reader?.RemoveReference();
            _reader = reader;
        }

        protected sealed override bool ReleaseHandle()
        {
            Destroy(handle);
            _reader?.RemoveReference();
            return true;
        }

        protected abstract void Destroy(IntPtr native);
    }

    internal sealed class SourceHandle : RemoraHandle
    {
        protected override void Destroy(IntPtr native) =>
            NativeMethods.remora_source_destroy(native);
    }

    internal sealed class ModelHandle : RemoraHandle
    {
        protected override void Destroy(IntPtr native) =>
            NativeMethods.remora_model_destroy(native);
    }

    internal sealed class VoiceHandle : RemoraHandle
    {
        protected override void Destroy(IntPtr native) =>
            NativeMethods.remora_voice_destroy(native);
    }

    internal sealed class SessionHandle : RemoraHandle
    {
        protected override void Destroy(IntPtr native) =>
            NativeMethods.remora_session_destroy(native);
    }

    internal sealed class CodecStreamHandle : RemoraHandle
    {
        protected override void Destroy(IntPtr native) =>
            NativeMethods.remora_codec_stream_destroy(native);
    }
}
