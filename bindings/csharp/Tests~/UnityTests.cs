using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using UnityEngine;

namespace Remora.Tests
{
    /// <summary>The package's layout, and its sample against a stand-in for the engine.</summary>
    public static class UnityTests
    {
        private const int AskedAtOnce = 4096; // samples

        [Test]
        public static void TheSampleSpeaksTheWholeSoundThroughAClip()
        {
            float[] expected;
            using (var model = Model.Open(Fixture.TinyFolder))
            using (var session = new Session(model))
                expected = session.Generate("Hello.");
            var speaker = new RemoraSpeaker { ModelFolder = Fixture.TinyFolder, Text = "Hello." };
            speaker.OnEnable();
            var heard = new List<float>();
            var block = new float[AskedAtOnce];
            var source = speaker.GetComponent<AudioSource>();
            WaitUntil(() =>
            {
                speaker.Update();
                if (source.clip != null)
                {
                    source.clip.Reader(block);
                    heard.AddRange(block);
                }
                return speaker.IsDone;
            }, speaker);
            speaker.Update();
            Check.Equal(44100, source.clip.Frequency);
            Check.True(source.IsPlaying && !source.loop, "the last round plays");
            speaker.OnDisable();
            Check.True(!source.IsPlaying, "silent once disabled");
            // Where the engine asked too early there is silence in between: compare what sounds.
            Check.Same(expected.Where(x => x != 0), heard.Where(x => x != 0), "sample");
        }

        [Test]
        public static void DisablingTheSampleStopsItInTheMiddle()
        {
            var speaker = new RemoraSpeaker
            {
                ModelFolder = Fixture.TinyFolder,
                Text = string.Concat(Enumerable.Repeat("A very long text goes on. ", 400)),
            };
            speaker.OnEnable();
            var source = speaker.GetComponent<AudioSource>();
            WaitUntil(() =>
            {
                speaker.Update();
                return source.clip != null;
            }, speaker);
            speaker.OnDisable();
            Check.True(speaker.Failure is OperationCanceledException, "the work was cut short");
        }

        [Test]
        public static void AModelThatIsNotThereIsToldAndDisablesTheSample()
        {
            var speaker = new RemoraSpeaker { ModelFolder = "no such model" };
            speaker.OnEnable();
            WaitUntil(() =>
            {
                speaker.Update();
                return !speaker.enabled;
            }, speaker);
            Check.Equal(Status.Io, ((RemoraException)speaker.Failure).Status);
            speaker.OnDisable();
        }

        [Test]
        public static void EveryAssetOfThePackageHasAMetaFileOfItsOwn()
        {
            var guids = new HashSet<string>();
            string package = Path.Combine(Fixture.Root, "bindings/csharp");
            var assets = Visible(package).ToList();
            Check.True(assets.Count > 20, "the package was listed");
            foreach (string asset in assets)
            {
                string guid = File.ReadLines(asset + ".meta")
                    .Single(line => line.StartsWith("guid: ", StringComparison.Ordinal));
                Check.True(guid.Length == 6 + 32 && guids.Add(guid), asset + ": " + guid);
            }
            Check.Equal(assets.Count,
                        Directory.GetFiles(package, "*.meta", SearchOption.AllDirectories).Length,
                        "no meta file without its asset");
        }

        [Test]
        public static void ThePackageNamesItsSamplesAndAllowsUnsafeCode()
        {
            string package = Path.Combine(Fixture.Root, "bindings/csharp");
            var manifest = Read(Path.Combine(package, "package.json"));
            foreach (object sample in (List<object>)manifest["samples"])
            {
                var path = (string)((Dictionary<string, object>)sample)["path"];
                Check.True(Directory.Exists(Path.Combine(package, path)), path);
            }
            var assembly = Read(Path.Combine(package, "Runtime/Remora.asmdef"));
            Check.Equal(true, (bool)assembly["allowUnsafeCode"]);
            Check.Equal("Remora", (string)assembly["name"]);
        }

        private static Dictionary<string, object> Read(string path) =>
            (Dictionary<string, object>)Json.Parse(File.ReadAllText(path));

        // Unity passes over what begins with a dot or ends with a tilde.
        private static IEnumerable<string> Visible(string folder)
        {
            foreach (string path in Directory.GetFileSystemEntries(folder))
            {
                string name = Path.GetFileName(path);
                if (name[0] == '.' || name.EndsWith("~", StringComparison.Ordinal) ||
                    name.EndsWith(".meta", StringComparison.Ordinal))
                    continue;
                yield return path;
                if (!Directory.Exists(path)) continue;
                foreach (string below in Visible(path)) yield return below;
            }
        }

        private static void WaitUntil(Func<bool> ready, RemoraSpeaker speaker)
        {
            var time = Stopwatch.StartNew();
            while (!ready())
            {
                Check.True(time.Elapsed < TimeSpan.FromMinutes(2),
                           "done in time: " + speaker.Failure);
                Thread.Sleep(1);
            }
        }
    }
}
