using System;
using System.Buffers;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

namespace Remora.Native
{
    /// <summary>Memory lent to a source, pinned until the library gives it back.</summary>
    internal sealed unsafe class LentMemory : IDisposable
    {
        private static readonly byte[] Nothing = new byte[1];
        private MemoryHandle _pin;

        internal LentMemory(ReadOnlyMemory<byte> memory)
        {
            Length = (UIntPtr)memory.Length;
            _pin = (memory.IsEmpty ? Nothing : memory).Pin();
        }

        internal UIntPtr Length { get; }

        internal byte* Data => (byte*)_pin.Pointer;

        public void Dispose() => _pin.Dispose();
    }

    /// <summary>The program's own files behind remora_reader. The library may call it for as long
    /// as a source, a model or anything made from one lives, so each of their handles holds a
    /// reference, and the last one to go frees the GCHandle.</summary>
    internal sealed class ReaderState
    {
        private readonly Func<string, Stream> _open;
        private GCHandle _self;
        private int _references = 1;
        private volatile Exception _thrown;

        internal ReaderState(Func<string, Stream> open)
        {
            _open = open;
            _self = GCHandle.Alloc(this);
        }

        internal IntPtr User => GCHandle.ToIntPtr(_self);

        internal static ReaderState From(IntPtr user) =>
            (ReaderState)GCHandle.FromIntPtr(user).Target;

        internal Stream Open(string name) => _open(name);

        internal void Keep(Exception e) => _thrown = e;

        /// <summary>The exception behind a failed read, once.</summary>
        internal Exception Take()
        {
            Exception thrown = _thrown;
            _thrown = null;
            return thrown;
        }

        internal void AddReference() => Interlocked.Increment(ref _references);

        internal void RemoveReference()
        {
            if (Interlocked.Decrement(ref _references) == 0) _self.Free();
        }
    }

    /// <summary>One open file of a reader.</summary>
    internal sealed class ReaderFile
    {
        internal readonly ReaderState Owner;
        internal readonly Stream Stream;

        internal ReaderFile(ReaderState owner, Stream stream)
        {
            Owner = owner;
            Stream = stream;
        }
    }

    internal static unsafe class ReaderCallbacks
    {
        private const long Failed = -1;
        private const ulong Block = 1 << 20; // Stream copies through a buffer as large as the read

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int OpenFunction(IntPtr user, byte* name, IntPtr* file, ulong* size);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate long ReadFunction(
            IntPtr user, IntPtr file, ulong offset, byte* destination, ulong n);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void CloseFunction(IntPtr user, IntPtr file);

        private static readonly OpenFunction OpenDelegate = OnOpen;
        private static readonly ReadFunction ReadDelegate = OnRead;
        private static readonly CloseFunction CloseDelegate = OnClose;

        internal static remora_reader For(ReaderState state) => new remora_reader
        {
            struct_size = (uint)sizeof(remora_reader),
            user = state.User,
            open = Marshal.GetFunctionPointerForDelegate(OpenDelegate),
            read_at = Marshal.GetFunctionPointerForDelegate(ReadDelegate),
            close = Marshal.GetFunctionPointerForDelegate(CloseDelegate),
        };

        [MonoPInvokeCallback(typeof(OpenFunction))]
        private static int OnOpen(IntPtr user, byte* name, IntPtr* file, ulong* size)
        {
            ReaderState state = ReaderState.From(user);
            Stream stream = null;
            try
            {
                stream = state.Open(Utf8.Read(name));
                if (stream == null) return (int)Status.Io;
                *size = (ulong)stream.Length;
                *file = GCHandle.ToIntPtr(GCHandle.Alloc(new ReaderFile(state, stream)));
                return (int)Status.Ok;
            }
            catch (FileNotFoundException)
            {
                return (int)Status.Io;
            }
            catch (Exception e)
            {
                stream?.Dispose();
                state.Keep(e);
                return (int)Status.Callback;
            }
        }

        [MonoPInvokeCallback(typeof(ReadFunction))]
        private static long OnRead(
            IntPtr user, IntPtr file, ulong offset, byte* destination, ulong n)
        {
            var open = (ReaderFile)GCHandle.FromIntPtr(file).Target;
            try
            {
                lock (open)
                {
                    open.Stream.Position = (long)offset;
                    ulong done = 0;
                    while (done < n)
                    {
                        int want = (int)Math.Min(n - done, Block);
                        int got = open.Stream.Read(new Span<byte>(destination + done, want));
                        if (got <= 0) break;
                        done += (ulong)got;
                    }
                    return (long)done;
                }
            }
            catch (Exception e)
            {
                open.Owner.Keep(e);
                return Failed;
            }
        }

        [MonoPInvokeCallback(typeof(CloseFunction))]
        private static void OnClose(IntPtr user, IntPtr file)
        {
            try
            {
                GCHandle handle = GCHandle.FromIntPtr(file);
                var open = (ReaderFile)handle.Target;
                handle.Free();
                open.Stream.Dispose();
            }
            catch (Exception)
            {
                // A stream that fails to close has nobody to tell; every byte was read before.
            }
        }
    }
}
