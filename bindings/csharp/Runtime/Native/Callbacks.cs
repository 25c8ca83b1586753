using System;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Remora.Native
{
    /// <summary>Ahead-of-time compilers (IL2CPP, Mono AOT) look for an attribute of this name to
    /// make a static method callable from native code.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type delegateType) => DelegateType = delegateType;

        public Type DelegateType { get; }
    }

    /// <summary>What one native call may call back into: lives from before the call until after it,
    /// found again through a GCHandle in `user`. An exception stops the call and is thrown again
    /// by <see cref="Check"/>; none crosses native code.</summary>
    internal sealed class CallbackScope : IDisposable
    {
        private readonly AudioCallback _audio;
        private readonly Func<float, bool> _progress;
        private ExceptionDispatchInfo _thrown;
        private GCHandle _self;

        internal CallbackScope(AudioCallback audio, Func<float, bool> progress)
        {
            _audio = audio;
            _progress = progress;
            _self = GCHandle.Alloc(this);
        }

        internal IntPtr User => GCHandle.ToIntPtr(_self);

        internal static CallbackScope From(IntPtr user) =>
            (CallbackScope)GCHandle.FromIntPtr(user).Target;

        internal bool Audio(ReadOnlySpan<float> pcm, bool last) => _audio(pcm, last);

        internal bool Progress(float fraction) => _progress(fraction);

        internal void Keep(Exception e) => _thrown = ExceptionDispatchInfo.Capture(e);

        internal void Check(int status)
        {
            _thrown?.Throw();
            RemoraException.Check(status);
        }

        public void Dispose()
        {
            if (_self.IsAllocated) _self.Free();
        }
    }

    /// <summary>The functions that the library calls: static, catching everything, kept from the
    /// garbage collector by static fields.</summary>
    internal static unsafe class Callbacks
    {
        private const int Continue = 0;
        private const int Stop = 1;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int AudioFunction(IntPtr user, float* pcm, UIntPtr n, int last);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int ProgressFunction(IntPtr user, float fraction);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void LogFunction(IntPtr user, int level, byte* text, UIntPtr length);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void ReleaseFunction(IntPtr user, byte* data, UIntPtr length);

        private static readonly AudioFunction AudioDelegate = OnAudio;
        private static readonly ProgressFunction ProgressDelegate = OnProgress;
        private static readonly LogFunction LogDelegate = OnLog;
        private static readonly ReleaseFunction ReleaseDelegate = OnRelease;

        internal static IntPtr Audio => Marshal.GetFunctionPointerForDelegate(AudioDelegate);

        internal static IntPtr Progress => Marshal.GetFunctionPointerForDelegate(ProgressDelegate);

        internal static IntPtr Log => Marshal.GetFunctionPointerForDelegate(LogDelegate);

        internal static IntPtr Release => Marshal.GetFunctionPointerForDelegate(ReleaseDelegate);

        [MonoPInvokeCallback(typeof(AudioFunction))]
        private static int OnAudio(IntPtr user, float* pcm, UIntPtr n, int last)
        {
            CallbackScope scope = CallbackScope.From(user);
            try
            {
                var samples = new ReadOnlySpan<float>(pcm, checked((int)n));
                return scope.Audio(samples, last != 0) ? Continue : Stop;
            }
            catch (Exception e)
            {
                scope.Keep(e);
                return Stop;
            }
        }

        [MonoPInvokeCallback(typeof(ProgressFunction))]
        private static int OnProgress(IntPtr user, float fraction)
        {
            CallbackScope scope = CallbackScope.From(user);
            try
            {
                return scope.Progress(fraction) ? Continue : Stop;
            }
            catch (Exception e)
            {
                scope.Keep(e);
                return Stop;
            }
        }

        [MonoPInvokeCallback(typeof(LogFunction))]
        private static void OnLog(IntPtr user, int level, byte* text, UIntPtr length)
        {
            try
            {
                var handler = (Action<LogLevel, string>)GCHandle.FromIntPtr(user).Target;
                handler((LogLevel)level, Utf8.Read(text, length));
            }
            catch (Exception)
            {
                // A log line has no call to give the exception to; it may come from any thread.
            }
        }

        [MonoPInvokeCallback(typeof(ReleaseFunction))]
        private static void OnRelease(IntPtr user, byte* data, UIntPtr length)
        {
            try
            {
                GCHandle lent = GCHandle.FromIntPtr(user);
                ((LentMemory)lent.Target).Dispose();
                lent.Free();
            }
            catch (Exception)
            {
                // The owner's unpinning failed; the library is done with the memory all the same.
            }
        }
    }
}
