using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Remora.Tests
{
    /// <summary>The garbage collector, Dispose and running calls against one another.</summary>
    public static class LifetimeTests
    {
        [Test]
        public static void CollectionsDuringCallsChangeNothing()
        {
            List<int> expected;
            using (Session session = Fixture.GreedySession(10))
                expected = Fixture.Codes(session.Frames("Hello world."));
            using (var done = new ManualResetEventSlim())
            {
                var collector = new Thread(() =>
                {
                    while (!done.Wait(1))
                    {
                        GC.Collect();
                        GC.WaitForPendingFinalizers();
                    }
                });
                collector.Start();
                try
                {
                    for (int round = 0; round < 5; ++round)
                        Check.Same(expected, SpeakWithOnlyTheCallHoldingOn(10), "codes");
                }
                finally
                {
                    done.Set();
                    collector.Join();
                }
            }
        }

        [Test]
        public static void ACallbackMayCollectAndKeepsItsState()
        {
            using (Session session = Fixture.GreedySession(20))
            {
                float[] expected = session.Generate("Hello world.");
                var heard = new List<float>();
                session.Generate("Hello world.", (pcm, last) =>
                {
                    GC.Collect();
                    GC.WaitForPendingFinalizers();
                    heard.AddRange(pcm.ToArray());
                    return true;
                });
                Fixture.Close(expected, heard, 0);
            }
        }

        [Test]
        public static void ForgottenObjectsAreFreedByTheCollector()
        {
            for (int i = 0; i < 20; ++i) Forget();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            using (Session session = Fixture.GreedySession(1))
                Check.Equal(Fixture.FrameSamples, session.Generate("Hello world.").Length);
        }

        [Test]
        public static void ModelsSessionsAndVoicesMayGoInAnyOrder()
        {
            Model model = Fixture.OpenGolden();
            Voice voice = Voice.FromCodes(model, new int[Fixture.Codebooks * 4], "One two.");
            Session session = Fixture.GreedySession(3, model);
            model.Dispose();
            session.Prefill(new Prompt("Hello world.", voice));
            voice.Dispose();
            GC.Collect();
            int frames = 0;
            while (session.Step()) ++frames;
            Check.Equal(3, frames, "frames");
            session.Dispose();
            session.Dispose(); // twice is once
        }

        [Test]
        public static void UseAfterDisposeIsAnExceptionButCancelIsNot()
        {
            Session session = Fixture.GreedySession(3);
            session.Dispose();
            session.Cancel();
            Check.Throws<ObjectDisposedException>(() => session.Step());
            Check.Throws<ObjectDisposedException>(() => session.Prefill("Hello world."));
            Voice voice = Voice.FromCodes(Fixture.Golden, new int[Fixture.Codebooks], "One.");
            voice.Dispose();
            using (Session other = Fixture.GreedySession(3))
                Check.Throws<ObjectDisposedException>(
                    () => other.Prefill(new Prompt("Hello world.", voice)));
        }

        [Test]
        public static void DisposeStopsACallOfAnotherThread()
        {
            Session session = Fixture.GreedySession(2000);
            using (var started = new ManualResetEventSlim())
            {
                Task task = session.GenerateAsync("Hello world.", (pcm, last) =>
                {
                    started.Set();
                    return true;
                });
                started.Wait();
                session.Dispose();
                Check.Throws<OperationCanceledException>(() => task.GetAwaiter().GetResult());
            }
        }

        [Test]
        public static void ACallbackMayDisposeItsOwnSession()
        {
            Session session = Fixture.GreedySession(2000);
            Check.Throws<OperationCanceledException>(
                () => session.Generate("Hello world.", (pcm, last) =>
                {
                    session.Dispose();
                    return true;
                }));
            Check.Throws<ObjectDisposedException>(() => session.Step());
        }

        // The session is a local that nothing reads after the last call began.
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static List<int> SpeakWithOnlyTheCallHoldingOn(int frames)
        {
            IEnumerator<Frame> enumerator =
                Fixture.GreedySession(frames).Frames("Hello world.").GetEnumerator();
            var codes = new List<int>();
            while (enumerator.MoveNext()) codes.AddRange(enumerator.Current.Codes);
            return codes;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Forget()
        {
            Fixture.GreedySession(2).Prefill("Hello world.");
            new CodecStream(Fixture.Golden).Push(new int[Fixture.Codebooks]);
            Voice.FromCodes(Fixture.Golden, new int[Fixture.Codebooks], "One.");
            Fixture.GoldenSource();
        }
    }
}
