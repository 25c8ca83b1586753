using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;

// What .NET 5 and newer add and the loader uses, so that its NET5_0_OR_GREATER part is compiled and
// run by Mono too: the resolver is caught here and asked by hand.
namespace System
{
    public static class OperatingSystem
    {
        public static bool IsAndroid() => false;

        public static bool IsIOS() => false;
    }
}

namespace System.Runtime.InteropServices
{
    public delegate IntPtr DllImportResolver(string name, Assembly assembly,
                                             DllImportSearchPath? search);

    public static class NativeLibrary
    {
        public static readonly List<string> Loaded = new List<string>();
        public static readonly List<DllImportResolver> Resolvers = new List<DllImportResolver>();

        public static void SetDllImportResolver(Assembly assembly, DllImportResolver resolver) =>
            Resolvers.Add(resolver);

        public static IntPtr Load(string path)
        {
            Loaded.Add(path);
            return (IntPtr)1;
        }
    }

    public static class RuntimeInformation
    {
        public static string RuntimeIdentifier => "test-rid";

        public static bool IsOSPlatform(OSPlatform platform) => platform == OSPlatform.Linux;
    }
}

namespace Remora.Tests
{
    internal static class Net5
    {
        private static void Main()
        {
            string here = AppDomain.CurrentDomain.BaseDirectory;
            string beside = Path.Combine(here, "libremora.so");
            string runtimes = Path.Combine(here, "runtimes/test-rid/native");
            for (int i = 0; i < 2; ++i) TryTheLibrary();
            DllImportResolver resolve = NativeLibrary.Resolvers[0];

            File.WriteAllText(beside, "");
            Console.WriteLine("first: " + Resolved(resolve));
            File.Delete(beside);
            Directory.CreateDirectory(runtimes);
            File.WriteAllText(Path.Combine(runtimes, "libremora.so"), "");
            Console.WriteLine("second: " + Resolved(resolve));
            Directory.Delete(Path.Combine(here, "runtimes"), true);
            Console.WriteLine("another name: " + Ask(resolve, "other"));
            Console.WriteLine("nothing there: " + Ask(resolve, "remora"));
            Console.WriteLine("installed once: " + NativeLibrary.Resolvers.Count);
        }

        private static void TryTheLibrary()
        {
            try
            {
                GC.KeepAlive(RemoraLibrary.Version);
            }
            catch (DllNotFoundException)
            {
                // None is on the path here; the resolver was installed before that was found out.
            }
        }

        private static string Resolved(DllImportResolver resolve)
        {
            NativeLibrary.Loaded.Clear();
            return Ask(resolve, "remora") == IntPtr.Zero ? "nothing"
                                                         : string.Join(" ", NativeLibrary.Loaded);
        }

        private static IntPtr Ask(DllImportResolver resolve, string name) =>
            resolve(name, typeof(Model).Assembly, null);
    }
}
