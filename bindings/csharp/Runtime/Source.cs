using System;
using System.IO;
using System.Runtime.InteropServices;
using Remora.Native;

namespace Remora
{
    /// <summary>Where a checkpoint's files come from, when one folder is not the answer. One thread
    /// at a time. Each Add returns the source itself, so that calls can be chained. Models
    /// made from it stay valid after Dispose.</summary>
    public sealed unsafe class Source : IDisposable
    {
        public Source()
        {
            Loader.Ensure();
            RemoraException.Check(NativeMethods.remora_source_create(out SourceHandle handle));
            Handle = handle;
        }

        internal SourceHandle Handle { get; }

        /// <summary>All files of a folder, under their own names. Names already in the source keep
        /// their first meaning.</summary>
        public Source AddFolder(string folder)
        {
            fixed (byte* path = Utf8.Path(folder, nameof(folder)))
                RemoraException.Check(NativeMethods.remora_source_add_dir(Handle, path));
            return this;
        }

        /// <summary>The codec of another folder, in place of one added before.</summary>
        public Source AddCodecFolder(string folder)
        {
            fixed (byte* path = Utf8.Path(folder, nameof(folder)))
                RemoraException.Check(NativeMethods.remora_source_add_codec_dir(Handle, path));
            return this;
        }

        /// <summary>One file under the name a checkpoint gives it ("config.json", ...).</summary>
        public Source AddFile(string name, string path)
        {
            fixed (byte* nameBytes = Utf8.Path(name, nameof(name)))
            fixed (byte* pathBytes = Utf8.Path(path, nameof(path)))
                RemoraException.Check(
                    NativeMethods.remora_source_add_path(Handle, nameBytes, pathBytes));
            return this;
        }

        /// <summary>A file in memory, used in place and pinned until the source and its models no
        /// longer need it. Do not change the bytes meanwhile.</summary>
        public Source AddMemory(string name, ReadOnlyMemory<byte> data)
        {
            bool held = false;
            try
            {
                // From here on the call itself cannot fail for a disposed source, so the library
                // is sure to get the memory and to release it, on failure too.
                Handle.DangerousAddRef(ref held);
                fixed (byte* nameBytes = Utf8.Path(name, nameof(name)))
                {
                    var lent = new LentMemory(data);
                    RemoraException.Check(NativeMethods.remora_source_add_memory(
                        Handle, nameBytes, lent.Data, lent.Length, Callbacks.Release,
                        GCHandle.ToIntPtr(GCHandle.Alloc(lent))));
                }
            }
            finally
            {
                if (held) Handle.DangerousRelease();
            }
            return this;
        }

        /// <summary><paramref name="length"/> bytes at <paramref name="offset"/> of an open file
        /// descriptor (an Android asset). It is duplicated: the caller may close its own.</summary>
        public Source AddDescriptor(string name, int descriptor, ulong offset, ulong length)
        {
            fixed (byte* nameBytes = Utf8.Path(name, nameof(name)))
                RemoraException.Check(NativeMethods.remora_source_add_fd(
                    Handle, nameBytes, descriptor, offset, length));
            return this;
        }

        /// <summary>Names that were not added are asked of <paramref name="open"/>: an asset pack,
        /// an encrypted archive. It returns a seekable stream of known length, which the library
        /// closes, or null when there is no such file. Streams are read from the threads that load
        /// or use a model, one read at a time per stream. What the function or a stream throws
        /// becomes the InnerException of the model's.</summary>
        public Source SetReader(Func<string, Stream> open)
        {
            if (open == null) throw new ArgumentNullException(nameof(open));
            var state = new ReaderState(open);
            try
            {
                remora_reader reader = ReaderCallbacks.For(state);
                RemoraException.Check(NativeMethods.remora_source_set_reader(Handle, &reader));
                Handle.KeepReader(state);
            }
            finally
            {
                state.RemoveReference();
            }
            return this;
        }

        public void Dispose() => Handle.Dispose();
    }
}
