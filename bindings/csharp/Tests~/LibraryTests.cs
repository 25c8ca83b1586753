using System;
using System.Collections.Generic;
using System.IO;

namespace Remora.Tests
{
    public static class LibraryTests
    {
        [Test]
        public static void VersionsAreTheHeaders()
        {
            Check.Equal(0, RemoraLibrary.AbiVersion);
            Check.Equal(0, RemoraLibrary.Version.Major);
            Check.Contains("remora", RemoraLibrary.BuildInfo);
            Check.Contains("2.", RemoraLibrary.BuildInfo);
        }

        [Test]
        public static void TheCpuIsADeviceAndHasAName()
        {
            Check.Equal(1, RemoraLibrary.DeviceCount(DeviceKind.Cpu));
            DeviceInfo cpu = RemoraLibrary.DescribeDevice(DeviceKind.Cpu);
            Check.True(cpu.Name.Length > 0 && cpu.MemoryTotal > 0, "a name and memory");
            Check.True(Check.Throws<RemoraException>(
                           () => RemoraLibrary.DescribeDevice(DeviceKind.Cpu, 99))
                           .Message.Contains("99"), "a device that is not there is named");
            RemoraLibrary.TrimMemory();
        }

        [Test]
        public static void ThreadsOutOfRangeAreRefused() =>
            Check.Fails(Status.InvalidArgument, () => RemoraLibrary.SetThreads(0));

        [Test]
        public static void ErrorsKeepCodeNameAndText()
        {
            RemoraException error =
                Check.Fails(Status.Io, () => Model.Open("there/is/no/such"));
            Check.Equal("REMORA_E_IO", error.StatusName);
            Check.Contains("there/is/no/such", error.Message);
            Check.Equal("REMORA_E_UNKNOWN", new RemoraException((Status)(-99), "").StatusName);
        }

        [Test]
        public static void LogLinesComeWhileAHandlerIsSetAndWhatItThrowsIsLost()
        {
            var lines = new List<string>();
            RemoraLibrary.SetLog((level, line) =>
            {
                lock (lines) lines.Add(level + ": " + line);
                throw new InvalidOperationException("from a log handler");
            });
            try
            {
                Fixture.OpenGolden().Dispose();
            }
            finally
            {
                RemoraLibrary.SetLog(null);
            }
            int heard = lines.Count;
            Check.True(heard > 0, "loading a model says something");
            GC.Collect();
            Fixture.OpenGolden().Dispose();
            Check.Equal(heard, lines.Count, "lines after the log was silenced");
        }

        [Test]
        public static void SoundFilesAreWrittenDescribedAndRead() =>
            Fixture.WithFolder("Звук 声音 😀", folder =>
            {
                float[] stereo = { 0, 0.25F, -0.5F, 1, 0.125F, -1 };
                string path = Path.Combine(folder, "проба 测试 🎵.wav");
                AudioFile.Write(path, stereo, 2, 44100, AudioFormat.WavFloat);
                AudioInfo info = AudioFile.Describe(path);
                Check.Equal(44100, info.SampleRate);
                Check.Equal(2, info.Channels);
                Check.Equal(3UL, info.Frames);
                Check.Same(stereo, AudioFile.Read(path), "samples");
                Check.Fails(Status.Io, () => AudioFile.Read(path + ".not"));
            });

        [Test]
        public static void AnEmptySoundIsAFileWithoutSamples() =>
            Fixture.WithFolder("empty", folder =>
            {
                string path = Path.Combine(folder, "empty.wav");
                AudioFile.Write(path, ReadOnlySpan<float>.Empty, 1, 44100);
                Check.Equal(0, AudioFile.Read(path).Length, "samples");
            });

        [Test]
        public static void SixteenBitsSaturate()
        {
            var found = new short[5];
            AudioFile.ToInt16(new[] { 0, 0.5F, 2, -2, float.NaN }, found);
            Check.Same(new short[] { 0, 16384, 32767, -32768, 0 }, found, "samples");
            AudioFile.ToInt16(ReadOnlySpan<float>.Empty, Span<short>.Empty);
            Check.Throws<ArgumentException>(() => AudioFile.ToInt16(new float[2], new short[1]));
        }

        [Test]
        public static void TheStreamHeaderIsAWavHeaderOfUnknownLength()
        {
            byte[] header = AudioFile.StreamHeader(AudioFormat.WavPcm16, 1, 44100);
            Check.Same(new byte[] { 0x52, 0x49, 0x46, 0x46, 0xFF, 0xFF, 0xFF, 0xFF },
                       header.AsSpan(0, 8).ToArray(), "header");
            Check.Fails(Status.InvalidArgument,
                        () => AudioFile.StreamHeader((AudioFormat)99, 1, 44100));
        }
    }
}
