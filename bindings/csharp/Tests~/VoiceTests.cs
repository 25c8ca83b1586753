using System;
using System.IO;
using System.Linq;

namespace Remora.Tests
{
    public static class VoiceTests
    {
        private static readonly int[] Codes =
            Enumerable.Range(0, Fixture.Codebooks * 6).Select(i => i * 7 % 100).ToArray();

        [Test]
        public static void ASavedVoiceSpeaksLikeTheFirst()
        {
            const string Transcript = "Привет, 世界 😀.";
            using (Voice voice = Voice.FromCodes(Fixture.Golden, Codes, Transcript))
            using (Voice again = Voice.Load(Fixture.Golden, voice.Save()))
            using (Session session = Fixture.GreedySession(4))
            {
                int[] with = Fixture.Golden.PromptMatrix(new Prompt("Hello world.", voice));
                Check.True(with.Length > Fixture.Golden.PromptMatrix("Hello world.").Length,
                           "the voice is in the prompt");
                Check.Same(with, Fixture.Golden.PromptMatrix(new Prompt("Hello world.", again)),
                           "prompt");
                Check.Same(Fixture.Codes(session.Frames(new Prompt("Hello world.", voice))),
                           Fixture.Codes(session.Frames(new Prompt("Hello world.", again))),
                           "codes");
            }
        }

        [Test]
        public static void WhatIsNoVoiceIsRefused()
        {
            Check.Fails(Status.Format, () => Voice.Load(Fixture.Golden, new byte[100]));
            Check.Fails(Status.InvalidArgument,
                        () => Voice.FromCodes(Fixture.Golden, Codes, ""));
            Check.Fails(Status.InvalidArgument,
                        () => Voice.FromCodes(Fixture.Golden, ReadOnlySpan<int>.Empty, "One."));
            Check.Throws<ArgumentException>(
                () => Voice.FromCodes(Fixture.Golden, new int[Fixture.Codebooks + 1], "One."));
            Check.Throws<ArgumentNullException>(
                () => Voice.FromCodes(Fixture.Golden, Codes, null));
            Check.Fails(Status.Io, () => Voice.Open(Fixture.Golden, "no such.wav", "One."));
        }

        [Test]
        public static void ARecordingBecomesAVoiceFromMemoryAndFromAFile()
        {
            float[] sound = Tone(44100);
            using (var model = Model.Open(Fixture.TinyFolder)) // a codec of the model's own make
            using (Voice fromMemory = Voice.FromSound(model, sound, 1, 44100, "One two."))
                Fixture.WithFolder("Голос 嗓音", folder =>
                {
                    string path = Path.Combine(folder, "проба.wav");
                    AudioFile.Write(path, sound, 1, 44100, AudioFormat.WavFloat);
                    using (Voice fromFile = Voice.Open(model, path, "One two."))
                        Check.Same(fromMemory.Save(), fromFile.Save(), "bytes");
                });
            Check.Fails(Status.InvalidArgument,
                        () => Voice.FromSound(Fixture.Golden, new float[10], 1, 44100, "One."));
            Check.Throws<ArgumentException>(
                () => Voice.FromSound(Fixture.Golden, new float[3], 2, 44100, "One."));
            Check.Throws<ArgumentException>(
                () => Voice.FromSound(Fixture.Golden, new float[3], 0, 44100, "One."));
        }

        [Test]
        public static void SoundBecomesCodesAndCodesBecomeSound()
        {
            int[] codes = Fixture.Golden.Encode(Tone(Fixture.FrameSamples * 3 + 1), 1, 44100);
            Check.Equal(Fixture.Codebooks * 4, codes.Length);
            Check.Equal(Fixture.FrameSamples * 4, Fixture.Golden.Decode(codes).Length);
            Check.Fails(Status.BufferTooSmall,
                        () => Fixture.Golden.Decode(codes, new float[Fixture.FrameSamples]));
            Check.Equal(0, Fixture.Golden.Decode(ReadOnlySpan<int>.Empty).Length, "samples");
        }

        [Test]
        public static void PiecewiseDecodeEqualsTheWholeClip()
        {
            float[] whole = Fixture.Golden.Decode(Codes);
            using (var stream = new CodecStream(Fixture.Golden))
            {
                for (int round = 0; round < 2; ++round)
                {
                    float[] joined = stream.Push(Frames(0, 1)).Concat(stream.Push(Frames(1, 3)))
                        .Concat(stream.Push(Frames(4, 2))).ToArray();
                    Fixture.Close(whole, joined, 2e-5F); // another order of summation
                    stream.Reset();
                }
                Check.Fails(Status.BufferTooSmall,
                            () => stream.Push(Codes, new float[Fixture.FrameSamples]));
            }
        }

        private static int[] Frames(int from, int count)
        {
            int frames = Codes.Length / Fixture.Codebooks;
            return Codes.Where((code, i) => i % frames >= from && i % frames < from + count)
                .ToArray();
        }

        private static float[] Tone(int samples) =>
            Enumerable.Range(0, samples).Select(i => (float)Math.Sin(i * 0.05) * 0.5F).ToArray();
    }
}
