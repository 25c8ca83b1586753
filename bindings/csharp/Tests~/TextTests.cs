using System;

namespace Remora.Tests
{
    /// <summary>Text and paths cross as UTF-8, whole, or not at all.</summary>
    public static class TextTests
    {
        [Test]
        public static void TextOfAllScriptsKeepsItsBytes()
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
        public static void AnEmptyTextHasNoTokensAndIsNothingToSay()
        {
            Check.Equal(0, Fixture.Golden.Tokenize("").Length);
            using (Session session = Fixture.GreedySession(1))
                Check.Fails(Status.InvalidArgument, () => session.Prefill(""));
        }

        [Test]
        public static void ANulInATextIsPartOfIt() =>
            Check.True(Fixture.Golden.Tokenize("a\0b").Length >
                           Fixture.Golden.Tokenize("a").Length, "nothing is cut off");

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
