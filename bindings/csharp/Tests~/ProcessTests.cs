using System;
using System.Diagnostics;
using System.IO;
using System.Linq;

namespace Remora.Tests
{
    /// <summary>Whole programs: finding the library, and the README's example.</summary>
    public static class ProcessTests
    {
        private static string Build => AppDomain.CurrentDomain.BaseDirectory;

        [Test]
        public static void AMissingLibraryIsSaidInWordsEachTime() =>
            Fixture.WithFolder("none", folder =>
            {
                string[] lines = Mono("probe.exe", folder).Split('\n');
                Check.Equal(2, lines.Length, "lines");
                foreach (string line in lines)
                {
                    Check.Contains("DllNotFoundException: remora: the native library was not found",
                                   line);
                    Check.Contains("LD_LIBRARY_PATH", line);
                }
            });

        [Test]
        public static void ALibraryOfAnotherAbiIsRefusedWithBothNumbers()
        {
            string found = Mono("probe.exe", Path.Combine(Build, "fake-abi"));
            Check.Contains("RemoraException: libremora: has ABI version 99, this binding is for 0",
                           found);
        }

        [Test]
        public static void AnotherLibraryOfTheNameIsRefused()
        {
            string found = Mono("probe.exe", Path.Combine(Build, "fake-name"));
            Check.Contains("DllNotFoundException: remora: the library that was found is not " +
                           "libremora", found);
        }

        [Test]
        public static void ALibraryBesideTheAssemblyIsFound() =>
            Fixture.WithFolder("рядом 旁边", folder =>
            {
                foreach (string name in new[] { "probe.exe", "Remora.dll" })
                    File.Copy(Path.Combine(Build, name), Path.Combine(folder, name));
                File.Copy(Path.Combine(Fixture.Variable("REMORA_LIBRARY_DIR"), "libremora.so"),
                          Path.Combine(folder, "libremora.so"));
                Check.Contains("version 0.1", Run("mono", Quote(Path.Combine(folder, "probe.exe")),
                                                  Fixture.Variable("REMORA_TORCH_LIB_DIR")));
            });

        [Test]
        public static void TheResolverOfNewerRuntimesTriesAbsolutePathsInOrder()
        {
            string[] tried = Mono("net5.exe", "").Split('\n');
            Check.Same(new[]
            {
                "first: " + Path.Combine(Build, "libremora.so"),
                "second: " + Path.Combine(Build, "runtimes/test-rid/native/libremora.so"),
                "another name: 0", "nothing there: 0", "installed once: 1",
            }, tried, "tried");
        }

        [Test]
        public static void TheReadmesExampleWritesTheWavOfTheCProgram() =>
            Fixture.WithFolder("readme", folder =>
            {
                const string Text = "Hello from remora.";
                string fromC = Path.Combine(folder, "c.wav");
                string fromNet = Path.Combine(folder, "net.wav");
                string libraries = Environment.GetEnvironmentVariable("LD_LIBRARY_PATH");
                Run(Path.Combine(Build, "reference"), Quote(Fixture.TinyFolder, Text, fromC),
                    libraries);
                string example = Path.Combine(Build, "readme.exe");
                Run("mono", Quote(example, Fixture.TinyFolder, Text, fromNet), libraries);
                byte[] expected = File.ReadAllBytes(fromC);
                Check.True(expected.Length > 44, "the C program wrote sound");
                Check.Same(expected, File.ReadAllBytes(fromNet), "bytes");
            });

        private static string Mono(string program, string libraries) =>
            Run("mono", Quote(Path.Combine(Build, program)), libraries);

        private static string Quote(params string[] arguments) =>
            string.Join(" ", arguments.Select(argument => "\"" + argument + "\""));

        private static string Run(string program, string arguments, string libraries)
        {
            var start = new ProcessStartInfo(program, arguments)
            {
                UseShellExecute = false,
                RedirectStandardOutput = true,
            };
            start.EnvironmentVariables["LD_LIBRARY_PATH"] = libraries;
            using (Process process = Process.Start(start))
            {
                string output = process.StandardOutput.ReadToEnd();
                process.WaitForExit();
                Check.Equal(0, process.ExitCode, program + " " + arguments);
                return output.Trim();
            }
        }
    }
}
