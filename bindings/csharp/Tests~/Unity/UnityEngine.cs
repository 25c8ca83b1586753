using System;

// As much of UnityEngine as the sample names, so that it can be compiled and run without Unity.
namespace UnityEngine
{
    [AttributeUsage(AttributeTargets.Class)]
    public sealed class RequireComponent : Attribute
    {
        public RequireComponent(Type type) { }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TextArea : Attribute { }

    public class Object { }

    public class MonoBehaviour : Object
    {
        private readonly AudioSource _source = new AudioSource();

        public bool enabled { get; set; } = true;

        public T GetComponent<T>() where T : class => _source as T;
    }

    public sealed class AudioClip : Object
    {
        public delegate void PCMReaderCallback(float[] data);

        public PCMReaderCallback Reader { get; private set; }

        public int Frequency { get; private set; }

        public static AudioClip Create(string name, int lengthSamples, int channels, int frequency,
                                       bool stream, PCMReaderCallback reader) =>
            new AudioClip { Reader = reader, Frequency = frequency };
    }

    public sealed class AudioSource : Object
    {
        public AudioClip clip { get; set; }

        public bool loop { get; set; }

        public bool IsPlaying { get; private set; }

        public void Play() => IsPlaying = true;

        public void Stop() => IsPlaying = false;
    }

    public static class Application
    {
        public static string streamingAssetsPath => "StreamingAssets";
    }

    public static class Debug
    {
        public static void LogException(Exception exception, Object context) { }
    }
}
