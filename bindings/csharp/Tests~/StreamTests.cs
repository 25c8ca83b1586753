using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Remora.Tests
{
    public static class StreamTests
    {
        private const int Forever = 2000; // frames; some seconds of work, never waited for

        [Test]
        public static void ADroppedStreamLeavesTheSessionUsable()
        {
            using (Session session = Fixture.GreedySession(12))
            {
                List<int> expected = Fixture.Codes(session.Frames("Hello world."));
                foreach (float[] piece in session.Pcm("Something else.")) break;
                session.Frames("And this.").GetEnumerator().MoveNext(); // not even disposed
                GC.Collect();
                Check.Same(expected, Fixture.Codes(session.Frames("Hello world.")), "codes");
            }
        }

        [Test]
        public static void AStreamMakesNothingBeforeItIsAsked()
        {
            using (Session session = Fixture.GreedySession(12))
            {
                IEnumerable<Frame> frames = session.Frames("Hello world.");
                Check.Equal(0L, session.Position);
                Check.Equal(3, frames.Take(3).Count(), "frames");
                Check.Equal(3UL, session.Stats.Frames);
            }
        }

        [Test]
        public static void CancelFromAnotherThreadStopsAndResetAllowsAgain()
        {
            using (Session session = Fixture.GreedySession(Forever))
            {
                var stopped = Check.Throws<OperationCanceledException>(
                    () => session.Generate("Hello world.", (pcm, last) =>
                    {
                        Task.Run(() => session.Cancel());
                        return true;
                    }));
                Check.Contains("cancel", stopped.Message);
                Check.Equal(Finish.Cancelled, session.Stats.Finish);
                Check.Throws<Exception>(() => session.Prefill("Hello world."));
                session.Reset();
                session.SetSampling(Fixture.Greedy(2));
                Check.Equal(2 * Fixture.FrameSamples, session.Generate("Hello world.").Length);
            }
        }

        [Test]
        public static async Task ATokenCancelsTheTask()
        {
            using (Session session = Fixture.GreedySession(Forever))
            using (var source = new CancellationTokenSource())
            {
                Task task = session.GenerateAsync("Hello world.", (pcm, last) =>
                {
                    source.Cancel();
                    return true;
                }, source.Token);
                try
                {
                    await task;
                }
                catch (OperationCanceledException e)
                {
                    Check.Equal(source.Token, e.CancellationToken, "token");
                }
                Check.True(task.IsCanceled, "the task is a cancelled one");
                session.Reset();
                session.SetSampling(Fixture.Greedy(2));
                float[] pcm2 = await session.GenerateAsync("Hello world.");
                Check.Equal(2 * Fixture.FrameSamples, pcm2.Length);
            }
        }

        [Test]
        public static void ATokenSetBeforehandCallsNothing()
        {
            using (Session session = Fixture.GreedySession(2))
            {
                Task task = session.GenerateAsync("Hello world.", new CancellationToken(true));
                Check.Throws<OperationCanceledException>(() => task.GetAwaiter().GetResult());
                Check.Equal(0L, session.Position);
                Check.Equal(2, session.Frames("Hello world.").Count(), "frames");
            }
        }

        [Test]
        public static async Task PiecesComeAsynchronouslyAndTheTokenEndsThem()
        {
            using (Session session = Fixture.GreedySession(20))
            {
                float[] expected = session.Generate("Hello world.");
                var found = new List<float>();
                IAsyncEnumerator<float[]> pieces =
                    session.PcmAsync("Hello world.").GetAsyncEnumerator();
                while (await pieces.MoveNextAsync()) found.AddRange(pieces.Current);
                await pieces.DisposeAsync();
                Fixture.Close(expected, found, 0);

                var source = new CancellationTokenSource();
                pieces = session.PcmAsync("Hello world.", source.Token).GetAsyncEnumerator();
                Check.True(await pieces.MoveNextAsync(), "a piece");
                source.Cancel();
                Task<bool> next = pieces.MoveNextAsync().AsTask();
                Check.Throws<OperationCanceledException>(() => next.GetAwaiter().GetResult());
                await pieces.DisposeAsync();
            }
        }

        [Test]
        public static void AnExceptionInTheAudioCallbackComesOutOfGenerate()
        {
            using (Session session = Fixture.GreedySession(Forever))
            {
                int calls = 0;
                var thrown = Check.Throws<FormatException>(
                    () => session.Generate("Hello world.", (pcm, last) =>
                    {
                        if (++calls == 2) throw new FormatException("from the callback");
                        return true;
                    }));
                Check.Equal("from the callback", thrown.Message);
                Check.Contains("AnExceptionInTheAudioCallback", thrown.StackTrace);
                Check.Equal(2, calls);
                session.Reset();
                session.SetSampling(Fixture.Greedy(1));
                Check.Equal(Fixture.FrameSamples, session.Generate("Hello world.").Length);
            }
        }

        [Test]
        public static void AnExceptionInTheAudioCallbackFaultsTheTask()
        {
            using (Session session = Fixture.GreedySession(4))
            {
                Task task = session.GenerateAsync(
                    "Hello world.", (pcm, last) => { throw new FormatException("expected"); });
                Check.Throws<FormatException>(() => task.GetAwaiter().GetResult());
            }
        }

        [Test]
        public static void FalseStopsTheGeneration()
        {
            using (Session session = Fixture.GreedySession(Forever))
            {
                int calls = 0;
                Check.Throws<OperationCanceledException>(
                    () => session.Generate("Hello world.", (pcm, last) => ++calls < 3));
                Check.Equal(3, calls);
            }
        }

        [Test]
        public static void TheLastPieceIsMarkedOnce()
        {
            using (Session session = Fixture.GreedySession(9))
            {
                int lasts = 0, samples = 0;
                session.Generate("Hello world.", (pcm, last) =>
                {
                    Check.Equal(0, lasts, "pieces after the last");
                    samples += pcm.Length;
                    if (last) ++lasts;
                    return true;
                });
                Check.Equal(1, lasts);
                Check.Equal(9 * Fixture.FrameSamples, samples);
            }
        }
    }
}
