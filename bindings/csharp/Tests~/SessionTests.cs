using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Remora.Tests
{
    public static class SessionTests
    {
        // Other piece lengths, other orders of summation.
        private const float PieceTolerance = 2e-5F;

        [Test]
        public static void FramesCountUpAndEndOnce()
        {
            using (Session session = Fixture.GreedySession(5))
            {
                session.Prefill("Hello world.");
                long before = session.Position;
                for (int i = 0; i < 5; ++i)
                {
                    Check.True(session.Step(out Frame frame), "a frame");
                    Check.Equal(before + i, frame.Position, "column");
                    Check.Equal(Fixture.Codebooks, frame.Codes.Length, "codes");
                }
                Check.True(!session.Step(out Frame _) && !session.Step(), "the end stays the end");
                SessionStats stats = session.Stats;
                Check.Equal(Finish.Length, stats.Finish);
                Check.Equal(5UL, stats.Frames);
                Check.Equal(12UL, stats.TextDone);
                Check.True(stats.StepTime > TimeSpan.Zero, "time passed");
            }
        }

        [Test]
        public static void AStepIntoTheCallersMemoryNeedsRoomAndLosesNothing()
        {
            using (Session session = Fixture.GreedySession(2))
            {
                session.Prefill("Hello world.");
                long position = 0;
                Check.Fails(Status.BufferTooSmall,
                            () => session.Step(new int[Fixture.Codebooks - 1], out position));
                Check.Fails(Status.BufferTooSmall,
                            () => session.Step(Span<int>.Empty, out position));
                Check.True(session.Step(new int[Fixture.Codebooks], out position), "a frame");
                Check.Equal(1UL, session.Stats.Frames);
            }
        }

        [Test]
        public static void SessionsSteppedTogetherMakeWhatTheyMakeAlone()
        {
            using (Session alone = Fixture.GreedySession(3))
            using (Session one = Fixture.GreedySession(3))
            using (Session idle = Fixture.GreedySession(3))
            {
                alone.Prefill("Hello world.");
                one.Prefill("Hello world.");
                for (int i = 0; i < 4; ++i)
                {
                    bool made = alone.Step(out Frame expected);
                    StepOutcome[] outcomes = Session.StepTogether(new[] { idle, one });
                    Check.Equal(Status.InvalidState, outcomes[0].Status);
                    Check.Equal(made ? Status.Ok : Status.End, outcomes[1].Status);
                    if (!made) continue;
                    Check.Equal(expected.Position, outcomes[1].Frame.Position);
                    Check.True(expected.Codes.SequenceEqual(outcomes[1].Frame.Codes), "codes");
                }
                Check.Fails(Status.InvalidArgument,
                            () => Session.StepTogether(new[] { one, one }));
            }
        }

        [Test]
        public static void KeptLogitsAreWhatGreedyCodesAreDrawnFrom()
        {
            ModelInfo info = Fixture.Golden.Info;
            int endIsFirst = info.EndToken < info.SemanticBegin ? 1 : 0;
            using (var session = new Session(
                       Fixture.Golden, new SessionOptions { Flags = SessionFlags.KeepLogits }))
            {
                session.SetSampling(Fixture.Greedy(3));
                Check.Fails(Status.InvalidState, () => session.Logits(0));
                session.Prefill("Hello world.");
                Check.Fails(Status.InvalidState, () => session.Logits(1));
                Check.Fails(Status.InvalidArgument, () => session.Logits(Fixture.Codebooks));
                float[] next = session.Logits(0);
                Check.Equal(info.CodebookSize + 1, next.Length);
                Check.True(session.Step(out Frame frame), "a frame");
                Check.Equal(frame.Codes[0], Largest(next) - endIsFirst);
                for (int i = 1; i < Fixture.Codebooks; ++i)
                    Check.Equal(frame.Codes[i], Largest(session.Logits(i)), "codebook " + i);
            }
            using (Session session = Fixture.GreedySession(3))
            {
                session.Prefill("Hello world.");
                var error = Check.Fails(Status.InvalidState, () => session.Logits(0));
                Check.True(error.Message.Contains("KEEP_LOGITS"), "the flag is named");
            }
        }

        private static int Largest(float[] values) => Array.IndexOf(values, values.Max());

        [Test]
        public static void TheSoundIsTheSameByEveryWayToIt()
        {
            using (Session session = Fixture.GreedySession(29))
            {
                float[] whole = session.Generate("Hello world.");
                Check.Equal(29 * Fixture.FrameSamples, whole.Length);
                var pieces = session.Pcm("Hello world.").ToList();
                Check.True(pieces.Count > 1, "in pieces");
                Fixture.Close(whole, pieces.SelectMany(piece => piece).ToArray(), 0);

                int[] codes = Fixture.Rows(Fixture.Codes(session.Frames("Hello world.")));
                float[] decoded = Fixture.Golden.Decode(codes);
                Fixture.Close(whole, decoded, PieceTolerance);
                var own = new float[decoded.Length];
                Check.Equal(own.Length, Fixture.Golden.Decode(codes, own));
                Fixture.Close(decoded, own, 0);
            }
        }

        [Test]
        public static void SmallReadsGetEverySample()
        {
            using (Session session = Fixture.GreedySession(6))
            {
                session.Prefill("Hello world.");
                while (session.Step()) { }
                var all = new List<float>();
                var buffer = new float[1000];
                Check.True(session.ReadPcm(Span<float>.Empty, out int none), "not over");
                Check.Equal(0, none, "samples without room");
                while (session.ReadPcm(buffer, out int written)) all.AddRange(buffer.Take(written));
                Fixture.Close(session.Generate("Hello world."), all, PieceTolerance);
            }
        }

        [Test]
        public static void TheSeedDecides()
        {
            using (var session = new Session(Fixture.Golden))
            {
                Func<ulong, List<int>> speak = seed =>
                {
                    session.SetSampling(new Sampling
                    {
                        MaxFrames = 12, MaxFramesPerByte = 0, Seed = seed,
                    });
                    return Fixture.Codes(session.Frames("A short text."));
                };
                List<int> first = speak(42);
                Check.True(!first.SequenceEqual(speak(42UL + (1UL << 32))), "all 64 bits count");
                Check.Same(first, speak(42), "codes");
                speak(Sampling.RandomSeed);
                Check.True(session.Stats.Seed != Sampling.RandomSeed, "the drawn seed is told");
            }
        }

        [Test]
        public static void ParametersOutOfRangeAreNamed()
        {
            using (var session = new Session(Fixture.Golden))
            {
                Check.Contains("temperature", Check.Fails(Status.InvalidArgument,
                    () => session.SetSampling(new Sampling { Temperature = 11 })).Message);
                Check.Contains("top_k", Check.Fails(Status.InvalidArgument,
                    () => session.SetSampling(new Sampling { TopK = 0 })).Message);
                Check.Contains("capacity", Check.Fails(Status.InvalidArgument,
                    () => new Session(Fixture.Golden,
                                      new SessionOptions { Capacity = -1 })).Message);
            }
        }

        [Test]
        public static void TokensServeInPlaceOfText()
        {
            using (Session session = Fixture.GreedySession(2))
            {
                int[] matrix = Fixture.Golden.PromptMatrix("Hello world.");
                List<int> expected = Fixture.Codes(session.Frames("Hello world."));
                Check.Same(expected, Fixture.Codes(session.Frames(new Prompt { Tokens = matrix })),
                           "codes");
                Check.Throws<ArgumentException>(
                    () => session.Prefill(new Prompt { Tokens = new int[8] }));
            }
        }

        [Test]
        public static void AClonedASavedAndARewoundSessionGoOnAlike()
        {
            using (Session session = Fixture.GreedySession(8))
            using (Session other = Fixture.GreedySession(8))
            {
                session.Prefill("Hello world.");
                session.Step();
                byte[] saved = session.Save();
                other.Load(saved);
                using (Session clone = session.Clone())
                {
                    List<int> rest = Fixture.Codes(session.Frames());
                    Check.Equal(7 * Fixture.Codebooks, rest.Count, "codes");
                    Check.Same(rest, Fixture.Codes(clone.Frames()), "the clone's codes");
                    Check.Same(rest, Fixture.Codes(other.Frames()), "the loaded codes");
                }
                session.Rewind(3);
                Check.Equal(3L, session.Position);
                session.Reset();
                Check.Equal(0L, session.Position);
                saved[saved.Length / 2] ^= 0x55;
                Check.Throws<RemoraException>(() => other.Load(saved));
                Check.Fails(Status.Format, () => other.Load(ReadOnlySpan<byte>.Empty));
            }
        }

        [Test]
        public static void WarmupLeavesTheSessionAsNew()
        {
            using (Session session = Fixture.GreedySession(3))
            {
                session.Warmup();
                Check.Equal(0L, session.Position);
                Check.Fails(Status.InvalidState, () => session.Step());
                session.Reset();
                Check.Equal(3, session.Frames("Hello world.").Count(), "frames");
            }
        }

        [Test]
        public static void ASecondThreadFindsTheSessionBusy()
        {
            using (Session session = Fixture.GreedySession(4))
            {
                Status found = Status.Ok;
                session.Generate("Hello world.", (pcm, last) =>
                {
                    Task.Run(() =>
                    {
                        try
                        {
                            session.Step();
                        }
                        catch (RemoraException e)
                        {
                            found = e.Status;
                        }
                    }).Wait();
                    return true;
                });
                Check.Equal(Status.Busy, found);
            }
        }

        [Test]
        public static void ErrorTextsBelongToTheirThread()
        {
            var texts = new string[4];
            var threads = Enumerable.Range(0, texts.Length).Select(i => new Thread(() =>
            {
                for (int round = 0; round < 50; ++round)
                    texts[i] = Check.Fails(Status.Io, () => Model.Open("no-such-" + i)).Message;
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            for (int i = 0; i < texts.Length; ++i) Check.Contains("no-such-" + i, texts[i]);
        }
    }
}
