using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace Remora.Tests
{
    /// <summary>Where things are, as test.sh says, and models to test with.</summary>
    internal static class Fixture
    {
        internal const int Codebooks = 6; // of the golden model
        internal const int FrameSamples = 2048;

        private static Model _golden;

        internal static string Root => Variable("REMORA_ROOT");

        internal static string TinyFolder => Path.Combine(Variable("REMORA_TINY_DIR"), "s2-pro");

        internal static string GoldenFolder => Path.Combine(Root, "tests/data/lm/s2pro_tiny");

        internal static string CodecFolder => Path.Combine(Root, "tests/data/codec");

        /// <summary>Language model and codec of tests/data, loaded once.</summary>
        internal static Model Golden => _golden ?? (_golden = OpenGolden());

        internal static string Variable(string name)
        {
            string value = Environment.GetEnvironmentVariable(name);
            if (string.IsNullOrEmpty(value))
                throw new InvalidOperationException(name + " is not set; run test.sh");
            return value;
        }

        internal static Source GoldenSource() =>
            new Source().AddFolder(GoldenFolder).AddCodecFolder(CodecFolder);

        internal static Model OpenGolden(ModelOptions options = null)
        {
            using (Source source = GoldenSource()) return Model.Open(source, options);
        }

        /// <summary>Greedy, without the bound tied to the text.</summary>
        internal static Sampling Greedy(int frames) => new Sampling
        {
            Temperature = 0,
            RepetitionPenalty = 1,
            MaxFrames = frames,
            MaxFramesPerByte = 0,
        };

        internal static Session GreedySession(int frames, Model model = null)
        {
            var session = new Session(model ?? Golden);
            session.SetSampling(Greedy(frames));
            return session;
        }

        internal static List<int> Codes(IEnumerable<Frame> frames) =>
            frames.SelectMany(frame => frame.Codes).ToList();

        /// <summary>Frame after frame to row after row.</summary>
        internal static int[] Rows(IList<int> byFrame, int codebooks = Codebooks)
        {
            int frames = byFrame.Count / codebooks;
            var rows = new int[byFrame.Count];
            for (int i = 0; i < byFrame.Count; ++i)
                rows[i % codebooks * frames + i / codebooks] = byFrame[i];
            return rows;
        }

        internal static void Close(IList<float> expected, IList<float> found, float tolerance)
        {
            Check.Equal(expected.Count, found.Count, "samples");
            for (int i = 0; i < expected.Count; ++i)
                Check.True(Math.Abs(expected[i] - found[i]) <= tolerance,
                           "sample " + i + " within " + tolerance + ": " + expected[i] + ", " +
                           found[i]);
        }

        /// <summary>A new empty folder, deleted afterwards.</summary>
        internal static void WithFolder(string name, Action<string> use)
        {
            string folder = Path.Combine(Path.GetTempPath(), "remora-" + Guid.NewGuid(), name);
            Directory.CreateDirectory(folder);
            try
            {
                use(folder);
            }
            finally
            {
                Directory.Delete(Path.GetDirectoryName(folder), true);
            }
        }
    }
}
