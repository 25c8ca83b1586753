using System;
using System.IO;
using System.Linq;

namespace Remora.Tests
{
    /// <summary>Text and paths cross as UTF-8, whole, or not at all.</summary>
    public static class TextTests
    {
        [Test]
        public static void RB_51_TextOfAllScriptsKeepsItsBytes()
        {
            using (Session session = Fixture.GreedySession(1))
                foreach (string text in new[] { "Привет, мир!", "你好，世界！", "Hi 😀👍🏽!" })
                {
                    session.Generate(text);
                    Check.Equal((ulong)System.Text.Encoding.UTF8.GetByteCount(text),
                                session.Stats.TextDone, text);
                }
        }

        [Test]
        public static void RB_51_AnEmptyTextHasNoTokensAndIsNothingToSay()
        {
            Check.Equal(0, Fixture.Golden.Tokenize("").Length);
            using (Session session = Fixture.GreedySession(1))
                Check.Fails(Status.InvalidArgument, () => session.Prefill(""));
        }

        [Test]
        public static void RB_51_ANulInATextIsPartOfIt() =>
            Check.True(Fixture.Golden.Tokenize("a\0b").Length >
                           Fixture.Golden.Tokenize("a").Length, "nothing is cut off");

        [Test]
        public static void RB_51_TheTextThatIsConvertedIsFreed()
        {
            string words = string.Concat(Enumerable.Repeat("слово ", 100000)); // 1.1 MB in UTF-8
            var codes = new int[Fixture.Codebooks];
            long before = 0;
            for (int round = 0; round < 100; ++round)
            {
                Voice.FromCodes(Fixture.Golden, codes, words).Dispose();
                if (round == 10) before = ResidentBytes();
            }
            if (before == 0) return; // a system that does not tell
            // 90 more texts that were kept would be 99 MB.
            Check.True(ResidentBytes() - before < 30L << 20, "no text is kept");
        }

        private static long ResidentBytes()
        {
            const string Statm = "/proc/self/statm";
            if (!File.Exists(Statm)) return 0;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            return long.Parse(File.ReadAllText(Statm).Split(' ')[1]) * Environment.SystemPageSize;
        }

        [Test]
        public static void ANulInAPathIsRefused() =>
            Check.Throws<ArgumentException>(() => Model.Open(Fixture.GoldenFolder + "\0x"));

        [Test]
        public static void HalfACharacterIsRefusedAndNullToo()
        {
            Check.Contains("surrogate", Check.Throws<ArgumentException>(
                () => Fixture.Golden.Tokenize("half \uD83D")).Message);
            Check.Throws<ArgumentException>(() => Model.Open("half \uDE00"));
            Check.Throws<ArgumentNullException>(() => Fixture.Golden.Tokenize(null));
            Check.Throws<ArgumentNullException>(() => Model.Open((string)null));
            using (Session session = Fixture.GreedySession(1))
            {
                Check.Throws<ArgumentNullException>(() => session.Prefill(null));
                Check.Throws<ArgumentException>(
                    () => session.Prefill(new Prompt("Hello.", (Voice)null)));
                Check.Fails(Status.InvalidArgument, () => session.Prefill(new Prompt()));
            }
        }

        [Test]
        public static void ControlTokensActOnlyWhenAllowed() =>
            Check.True(Fixture.Golden.Tokenize("<|im_end|>").Length >
                           Fixture.Golden.Tokenize("<|im_end|>", PromptFlags.AllowControl).Length,
                       "typed control is text unless allowed");
    }
}
