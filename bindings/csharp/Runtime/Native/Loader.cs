using System;
using System.Runtime.InteropServices;
#if NET5_0_OR_GREATER
using System.Collections.Generic;
using System.IO;
using System.Reflection;
#endif

namespace Remora.Native
{
    /// <summary>Finds libremora and checks that it is the one this binding was written for. Called
    /// before the first import of every public way in, and not from a static constructor: there one
    /// failure would become a TypeInitializationException for good and hide its cause.</summary>
    internal static class Loader
    {
        /// <summary>REMORA_ABI_VERSION of the header that NativeMethods follows.</summary>
        internal const uint AbiVersion = 0;

        private static readonly object Lock = new object();
        private static volatile bool _ready;

        internal static void Ensure()
        {
            if (_ready) return;
            lock (Lock)
            {
                if (_ready) return;
                InstallResolver();
                CheckAbi();
                _ready = true;
            }
        }

        private static void CheckAbi()
        {
            uint found;
            try
            {
                found = NativeMethods.remora_abi_version();
            }
            catch (DllNotFoundException e)
            {
                throw new DllNotFoundException(NotFound(e.Message), e);
            }
            catch (EntryPointNotFoundException e)
            {
                throw new DllNotFoundException(
                    "remora: the library that was found is not libremora (it has no " +
                    "remora_abi_version); take the other file named remora off the search path", e);
            }
            if (found != AbiVersion)
                throw new RemoraException(Status.Abi,
                    "libremora: has ABI version " + found + ", this binding is for " + AbiVersion +
                    "; install the libremora and the binding of one release");
        }

        private static string NotFound(string cause) =>
            "remora: the native library was not found or one that it needs is missing (" + cause +
            "); put libremora.so, libremora.dylib or remora.dll beside Remora.dll" +
            SearchedToo() + " or on the system's library path (LD_LIBRARY_PATH, " +
            "DYLD_LIBRARY_PATH, PATH), with LibTorch's libraries beside it or in remora/ below " +
            "its folder, and of the process's own architecture (" + 8 * IntPtr.Size + "-bit)";

#if NET5_0_OR_GREATER
        private static bool _installed;

        private static string SearchedToo() =>
            ", or in runtimes/" + RuntimeInformation.RuntimeIdentifier + "/native below it,";

        private static void InstallResolver()
        {
            // Android loads from the package itself; iOS links the library in.
            if (_installed || OperatingSystem.IsAndroid() || OperatingSystem.IsIOS()) return;
            try
            {
                NativeLibrary.SetDllImportResolver(typeof(Loader).Assembly, Resolve);
            }
            catch (InvalidOperationException)
            {
                // The host has set a resolver of its own for this assembly: its word counts.
            }
            _installed = true;
        }

        /// <summary>Absolute paths only, so that no other remora.dll on the search path wins; zero
        /// hands the search back to the runtime.</summary>
        private static IntPtr Resolve(string name, Assembly assembly, DllImportSearchPath? search)
        {
            if (name != NativeMethods.Library) return IntPtr.Zero;
            foreach (string path in Candidates(AppContext.BaseDirectory, assembly.Location))
                if (File.Exists(path)) return NativeLibrary.Load(path);
            return IntPtr.Zero;
        }

        private static IEnumerable<string> Candidates(string program, string assembly)
        {
            // A single-file program has no assembly location; its base folder stands in.
            string beside =
                string.IsNullOrEmpty(assembly) ? program : Path.GetDirectoryName(assembly);
            string file = FileName();
            yield return Path.GetFullPath(Path.Combine(beside, file));
            yield return Path.GetFullPath(Path.Combine(
                beside, "runtimes", RuntimeInformation.RuntimeIdentifier, "native", file));
        }

        private static string FileName()
        {
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows)) return "remora.dll";
            if (RuntimeInformation.IsOSPlatform(OSPlatform.OSX)) return "libremora.dylib";
            return "libremora.so";
        }
#else
        private static string SearchedToo() => "";

        private static void InstallResolver() { }
#endif
    }
}
