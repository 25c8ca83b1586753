using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Remora.Tests
{
    public static class ModelTests
    {
        private static readonly string[] Files =
        {
            "config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
            "model.safetensors.index.json", "tokenizer.json",
        };

        [Test]
        public static void InfoTellsShapeAndParts()
        {
            ModelInfo info = Fixture.Golden.Info;
            Check.Equal("s2-pro", info.Family);
            Check.Equal(44100, info.SampleRate);
            Check.Equal(Fixture.FrameSamples, info.SamplesPerFrame);
            Check.Equal(Fixture.Codebooks, info.Codebooks);
            Check.True(info.HasLm && info.HasCodec, "language model and codec");
            Check.Equal(DeviceKind.Cpu, info.Device);
            ModelMemory memory = Fixture.Golden.Memory;
            Check.True(memory.Weights > 0 && memory.Codec > 0 && memory.KvPerPosition > 0, "bytes");
        }

        [Test]
        public static void OptionsHoldTheLibrarysDefaultsAndReachIt()
        {
            var options = new ModelOptions { Flags = ModelFlags.TextOnly };
            Check.Equal(DeviceKind.Auto, options.Device);
            Check.Equal(DType.Auto, options.DType);
            using (var model = Model.Open(Fixture.GoldenFolder, options))
            {
                Check.True(!model.Info.HasCodec, "no codec");
                Check.True(model.Tokenize("Hello").Length > 0, "it tokenizes");
                Check.Fails(Status.Unsupported, () => new Session(model));
            }
            options.Device = (DeviceKind)77;
            Check.True(Check.Throws<RemoraException>(
                           () => Model.Open(Fixture.GoldenFolder, options)).Message.Length > 0,
                       "an unknown device is refused in words");
        }

        [Test]
        public static void AnEstimateIsWhatTheLoadedModelTakes()
        {
            foreach (Weights weights in Enum.GetValues(typeof(Weights)))
            {
                var options = new ModelOptions { Weights = weights };
                using (Source source = Fixture.GoldenSource())
                {
                    ModelMemory estimate = Model.Estimate(source, options);
                    Check.True(estimate.Weights > 0 && estimate.Codec > 0, "bytes");
                    using (Model model = Model.Open(source, options))
                        Check.Equal(model.Memory, estimate, weights.ToString());
                }
            }
            using (var empty = new Source())
                Check.Fails(Status.Io, () => Model.Estimate(empty));
        }

        [Test]
        public static void QuantisedWeightsAreSavedAndLoadAsTheyAre()
        {
            string folder = Path.Combine(Path.GetTempPath(), "remora-saved-" + Guid.NewGuid());
            Directory.CreateDirectory(folder);
            try
            {
                foreach (string file in Directory.GetFiles(Fixture.GoldenFolder))
                    if (!file.EndsWith(".safetensors") && !file.EndsWith(".index.json"))
                        File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
                string weights = Path.Combine(folder, "model.safetensors");
                var options = new ModelOptions
                {
                    Weights = Weights.Int4, Int4Group = 32, Flags = ModelFlags.WeightErrors,
                };
                using (Model converted = Model.Open(Fixture.GoldenFolder, options))
                {
                    Check.True(converted.WeightErrors().Any(
                                   error => error.Layer == "layers.*.attention.wo" &&
                                            error.Int4Group == 32 && error.RelativeError > 0),
                               "each kind of matrix was measured");
                    Check.Throws<OperationCanceledException>(
                        () => converted.SaveWeights(weights, fraction => false));
                    Check.True(!File.Exists(weights), "a stop leaves nothing");
                    var seen = new List<float>();
                    converted.SaveWeights(weights, fraction => { seen.Add(fraction); return true; });
                    Check.Equal(1F, seen.Last(), "the last one");
                }
                using (Model saved = Model.Open(folder))
                {
                    Check.Equal(Weights.Int4, saved.Info.Weights);
                    Check.Equal(32, saved.Info.Int4Group);
                    Check.True(saved.Info.SavedWeights, "it says so");
                    Check.Fails(Status.InvalidState, () => saved.WeightErrors());
                }
            }
            finally
            {
                Directory.Delete(folder, true);
            }
        }

        [Test]
        public static void ProgressRisesToOne()
        {
            var seen = new List<float>();
            Fixture.OpenGolden(new ModelOptions
            {
                Progress = fraction =>
                {
                    GC.Collect();
                    seen.Add(fraction);
                    return true;
                },
            }).Dispose();
            Check.True(seen.Count > 1, "progress was told");
            Check.Same(seen.OrderBy(fraction => fraction), seen, "fraction");
            Check.Equal(1F, seen.Last(), "the last one");
        }

        [Test]
        public static void ProgressStopsTheLoad()
        {
            var options = new ModelOptions { Progress = fraction => false };
            var stopped =
                Check.Throws<OperationCanceledException>(() => Fixture.OpenGolden(options));
            Check.Equal(Status.Cancelled, ((RemoraException)stopped.InnerException).Status);
        }

        [Test]
        public static void AnExceptionInProgressComesOutOfTheLoad()
        {
            var options = new ModelOptions
            {
                Progress = fraction => { throw new FormatException("from progress"); },
            };
            Check.Equal("from progress",
                        Check.Throws<FormatException>(() => Fixture.OpenGolden(options)).Message);
        }

        [Test]
        public static async Task ATokenStopsALoadInTheBackground()
        {
            using (var source = new CancellationTokenSource())
            {
                var options = new ModelOptions
                {
                    Progress = fraction =>
                    {
                        source.Cancel();
                        return true;
                    },
                };
                Task<Model> load = Model.OpenAsync(Fixture.GoldenFolder, options, source.Token);
                Check.Throws<OperationCanceledException>(() => load.GetAwaiter().GetResult());
                Check.True(load.IsCanceled, "the task is a cancelled one");
            }
            (await Model.OpenAsync(Fixture.GoldenFolder)).Dispose();
        }

        [Test]
        public static void EveryKindOfSourceGivesTheSameModel()
        {
            List<int> expected = CodesOf(new Source().AddFolder(Fixture.GoldenFolder));
            var files = new Source();
            var memory = new Source();
            foreach (string name in Files)
            {
                files.AddFile(name, Path.Combine(Fixture.GoldenFolder, name));
                memory.AddMemory(name, File.ReadAllBytes(Path.Combine(Fixture.GoldenFolder, name)));
            }
            Check.Same(expected, CodesOf(files), "from files");
            GC.Collect();
            Check.Same(expected, CodesOf(memory), "from memory");
            Check.Same(expected, CodesOf(new Source().SetReader(OpenFile)), "from a reader");
        }

        [Test]
        public static void DescriptorsServe()
        {
            var source = new Source();
            var open = new List<FileStream>();
            foreach (string name in Files)
            {
                var file = File.OpenRead(Path.Combine(Fixture.GoldenFolder, name));
                open.Add(file);
                source.AddDescriptor(name, (int)file.SafeFileHandle.DangerousGetHandle(), 0,
                                     (ulong)file.Length);
            }
            foreach (FileStream file in open) file.Dispose();
            Check.Equal(6 * Fixture.Codebooks, CodesOf(source).Count);
        }

        [Test]
        public static void AReaderLivesAsLongAsItsModelAndStreamsAreClosed()
        {
            var streams = new List<Stream>();
            var readers = new List<WeakReference>();
            // Mono scans stacks conservatively, so a stale word may hold one or two a while longer.
            for (int round = 0; round < 6; ++round) readers.Add(SpeakFromReader(streams));
            Check.True(streams.Count >= 6 * Files.Length, "files were opened");
            Check.True(streams.All(stream => !stream.CanRead), "every stream was closed");
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            int held = readers.Count(reader => reader.IsAlive);
            Check.True(held <= 2, held + " of 6 readers are still held, by nobody in sight");
        }

        [Test]
        public static void AnExceptionInAReaderIsTheCauseOfTheModels()
        {
            using (var source = new Source().SetReader(
                       name => { throw new NotSupportedException("no " + name); }))
            {
                var error = Check.Throws<RemoraException>(() => Model.Open(source));
                Check.True(error.InnerException is NotSupportedException, error.ToString());
                Check.True(error.Message.Length > 0, "the library's own text too");
            }
        }

        [Test]
        public static void AnExceptionInAStreamIsTheCauseOfTheModels()
        {
            using (var source = new Source().SetReader(name => new BrokenStream()))
            {
                var error = Check.Throws<RemoraException>(() => Model.Open(source));
                Check.True(error.InnerException is IOException, error.ToString());
            }
        }

        [Test]
        public static void ARefusedMemoryIsGivenBack()
        {
            var source = new Source();
            source.Dispose();
            Check.Throws<ObjectDisposedException>(
                () => source.AddMemory("config.json", new byte[3]));
            using (var empty = new Source().AddMemory("config.json", ReadOnlyMemory<byte>.Empty))
                Check.Throws<RemoraException>(() => Model.Open(empty));
        }

        [Test]
        public static void PathsOfAllScriptsOpenAndAreNamedInErrors() =>
            Fixture.WithFolder("Модель 模型 😀", folder =>
            {
                foreach (string file in Directory.GetFiles(Fixture.TinyFolder))
                    File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
                using (var model = Model.Open(folder))
                    Check.True(model.Info.HasCodec, "a whole model");
                File.WriteAllText(Path.Combine(folder, "config.json"), "{");
                Check.Contains("config.json",
                               Check.Fails(Status.Format, () => Model.Open(folder)).Message);
                string missing = Path.Combine(folder, "нет 没有 🚫");
                Check.Contains(missing, Check.Fails(Status.Io, () => Model.Open(missing)).Message);
            });

        [Test]
        public static void ThePromptMatrixHasWholeColumns()
        {
            int[] matrix = Fixture.Golden.PromptMatrix("Hello world.");
            Check.Equal(0, matrix.Length % (1 + Fixture.Codebooks));
            Check.True(matrix.Length > 0, "not empty");
        }

        private static WeakReference SpeakFromReader(List<Stream> streams)
        {
            Func<string, Stream> open = name =>
            {
                Stream stream = OpenFile(name);
                if (stream != null) lock (streams) streams.Add(stream);
                return stream;
            };
            Check.Equal(6 * Fixture.Codebooks, CodesOf(new Source().SetReader(open)).Count);
            return new WeakReference(open);
        }

        private static Stream OpenFile(string name)
        {
            string path = Path.Combine(Fixture.GoldenFolder, name);
            return File.Exists(path) ? File.OpenRead(path) : null;
        }

        private static List<int> CodesOf(Source source)
        {
            Model model = Model.Open(source);
            source.Dispose();
            using (Session session = Fixture.GreedySession(6, model))
            {
                model.Dispose(); // the session needs neither
                GC.Collect();
                return Fixture.Codes(session.Frames("Hello world."));
            }
        }

        private sealed class BrokenStream : MemoryStream
        {
            internal BrokenStream() : base(new byte[100]) { }

            public override int Read(byte[] buffer, int offset, int count)
            {
                throw new IOException("the disk is gone");
            }

            public override int Read(Span<byte> buffer)
            {
                throw new IOException("the disk is gone");
            }
        }
    }
}
