using System;
using System.Runtime.InteropServices;
using Remora.Native;

namespace Remora
{
    /// <summary>What concerns the whole library and the process. Any thread.</summary>
    public static unsafe class RemoraLibrary
    {
        private static readonly object LogLock = new object();
        private static GCHandle _logHandler;

        /// <summary>The version of the loaded library.</summary>
        public static Version Version
        {
            get
            {
                Loader.Ensure();
                uint version = NativeMethods.remora_version();
                return new Version((int)(version >> 16), (int)(version >> 8 & 0xFF),
                                   (int)(version & 0xFF));
            }
        }

        /// <summary>The ABI number of the loaded library; it equals the binding's.</summary>
        public static int AbiVersion
        {
            get
            {
                Loader.Ensure();
                return (int)NativeMethods.remora_abi_version();
            }
        }

        /// <summary>One line: version, compiler, LibTorch built against and loaded.</summary>
        public static string BuildInfo
        {
            get
            {
                Loader.Ensure();
                return Utf8.Read(NativeMethods.remora_build_info());
            }
        }

        /// <summary>Sends the library's log lines up to <paramref name="maxLevel"/> to
        /// <paramref name="handler"/>, for the whole process; null silences the log, which is the
        /// state at start. The handler may be called from any thread that is in a call; what it
        /// throws is lost. When this returns, the handler before is not called again. Not from
        /// inside the handler. In Unity, set null before the domain reloads.</summary>
        public static void SetLog(Action<LogLevel, string> handler,
                                  LogLevel maxLevel = LogLevel.Debug)
        {
            Loader.Ensure();
            lock (LogLock)
            {
                GCHandle next = handler == null ? default(GCHandle) : GCHandle.Alloc(handler);
                int status = handler == null
                    ? NativeMethods.remora_set_log(IntPtr.Zero, IntPtr.Zero, (int)maxLevel)
                    : NativeMethods.remora_set_log(Callbacks.Log, GCHandle.ToIntPtr(next),
                                                   (int)maxLevel);
                GCHandle unused = status < 0 ? next : _logHandler;
                if (status >= 0) _logHandler = next;
                if (unused.IsAllocated) unused.Free();
                RemoraException.Check(status);
            }
        }

        /// <summary>LibTorch's thread count inside one operation (1 to 1024), for every user of
        /// LibTorch in the process. Results can differ in the last bits between counts.</summary>
        public static void SetThreads(int intraOp)
        {
            Loader.Ensure();
            RemoraException.Check(NativeMethods.remora_set_threads(intraOp));
        }

        /// <summary>How many devices of a kind this process can use.</summary>
        public static int DeviceCount(DeviceKind kind)
        {
            Loader.Ensure();
            return NativeMethods.remora_device_count((int)kind);
        }

        /// <summary>Name and memory of a device.</summary>
        /// <exception cref="RemoraException">Unsupported: there is no such device.</exception>
        public static DeviceInfo DescribeDevice(DeviceKind kind, int index = 0)
        {
            Loader.Ensure();
            var info = new remora_device_info { struct_size = (uint)sizeof(remora_device_info) };
            RemoraException.Check(NativeMethods.remora_device_describe((int)kind, index, &info));
            return new DeviceInfo(&info);
        }

        /// <summary>Gives memory that freed models and sessions left with the allocator back to the
        /// system, where that can be done.</summary>
        public static void TrimMemory()
        {
            Loader.Ensure();
            RemoraException.Check(NativeMethods.remora_trim_memory());
        }
    }

    /// <summary>A device and its memory in bytes (0 where it is not known).</summary>
    public readonly struct DeviceInfo
    {
        internal unsafe DeviceInfo(remora_device_info* info)
        {
            Name = Utf8.ReadField(info->name, 120);
            MemoryTotal = info->memory_total;
            MemoryFree = info->memory_free;
        }

        public string Name { get; }

        public ulong MemoryTotal { get; }

        public ulong MemoryFree { get; }
    }
}
