using System;
using Remora.Native;

namespace Remora
{
    /// <summary>Sound files. Samples are floats from -1 to 1, interleaved. Any thread.</summary>
    public static unsafe class AudioFile
    {
        /// <summary>Rate, channels and the length that is really there.</summary>
        public static AudioInfo Describe(string path)
        {
            Loader.Ensure();
            var info = new remora_audio_info { struct_size = (uint)sizeof(remora_audio_info) };
            fixed (byte* file = Utf8.Path(path, nameof(path)))
                RemoraException.Check(NativeMethods.remora_audio_describe(file, &info));
            return new AudioInfo(info);
        }

        /// <summary>A whole file.</summary>
        public static float[] Read(string path)
        {
            Loader.Ensure();
            fixed (byte* file = Utf8.Path(path, nameof(path)))
            {
                byte* name = file;
                return Buffers.Floats((float* dst, UIntPtr capacity, out UIntPtr needed) =>
                    NativeMethods.remora_audio_read(name, dst, capacity, out needed));
            }
        }

        /// <summary>Writes a file, which appears under its name only when it is complete.</summary>
        public static void Write(string path, ReadOnlySpan<float> interleaved, int channels,
                                 int rate, AudioFormat format = AudioFormat.WavPcm16)
        {
            Loader.Ensure();
            UIntPtr frames = Buffers.Count(interleaved.Length, channels, nameof(interleaved));
            fixed (byte* file = Utf8.Path(path, nameof(path)))
            fixed (float* samples = &Pin.Reference(interleaved))
                RemoraException.Check(NativeMethods.remora_audio_write(
                    file, samples, frames, channels, rate, (int)format));
        }

        /// <summary>Samples to 16 bits: floor(x * 32768), saturated; NaN becomes 0.</summary>
        public static void ToInt16(ReadOnlySpan<float> samples, Span<short> result)
        {
            Loader.Ensure();
            if (result.Length < samples.Length)
                throw new ArgumentException("has room for " + result.Length + " samples, " +
                                            samples.Length + " are given", nameof(result));
            fixed (float* input = &Pin.Reference(samples))
            fixed (short* output = &Pin.Reference<short>(result))
                RemoraException.Check(NativeMethods.remora_audio_to_s16(
                    input, (UIntPtr)samples.Length, output));
        }

        /// <summary>The header of a WAV of unknown length, for a pipe.</summary>
        public static byte[] StreamHeader(AudioFormat format, int channels, int rate)
        {
            Loader.Ensure();
            return Buffers.Bytes((byte* dst, UIntPtr capacity, out UIntPtr needed) =>
                NativeMethods.remora_audio_stream_header(
                    (int)format, channels, rate, dst, capacity, out needed));
        }
    }

    /// <summary>What a sound file holds.</summary>
    public readonly struct AudioInfo
    {
        internal AudioInfo(remora_audio_info native)
        {
            SampleRate = native.sample_rate;
            Channels = native.channels;
            Frames = native.frames;
        }

        /// <summary>Hz.</summary>
        public int SampleRate { get; }

        public int Channels { get; }

        /// <summary>Samples of each channel.</summary>
        public ulong Frames { get; }
    }
}
