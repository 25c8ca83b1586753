using System;
using System.Collections.Concurrent;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Remora;
using UnityEngine;

/// <summary>Speaks a text through the AudioSource beside it, while the sound is still being made.
/// All work of the library runs on one thread of its own, never on Unity's. Disabling the component
/// stops it and frees everything: a domain reload does not unload native code, so nothing of it may
/// be running then.</summary>
[RequireComponent(typeof(AudioSource))]
public sealed class RemoraSpeaker : MonoBehaviour
{
    /// <summary>A checkpoint folder, absolute or below StreamingAssets. On Android StreamingAssets
    /// lie inside the package: copy the files out first, or open them with Source.AddDescriptor or
    /// Source.SetReader.</summary>
    public string ModelFolder = "model";

    [TextArea] public string Text = "Hello from remora.";

    public ulong Seed = 42;

    // Pieces go from the working thread to the one on which Unity asks for samples.
    private readonly ConcurrentQueue<float[]> _pieces = new ConcurrentQueue<float[]>();
    private CancellationTokenSource _stop;
    private Task _work;
    private AudioClip _clip;
    private float[] _piece = new float[0];
    private int _used;
    private volatile int _sampleRate;
    private volatile bool _drained;

    /// <summary>Null while all is well.</summary>
    public Exception Failure => _work != null && _work.IsFaulted ? _work.Exception.InnerException
                                                                 : null;

    /// <summary>Whether every sample was made and handed to Unity.</summary>
    public bool IsDone => _work != null && _work.IsCompleted && _drained;

    public void OnEnable()
    {
        _stop = new CancellationTokenSource();
        _sampleRate = 0;
        _drained = false;
        string folder = Path.Combine(Application.streamingAssetsPath, ModelFolder);
        string text = Text;
        ulong seed = Seed;
        CancellationToken token = _stop.Token;
        _work = Task.Factory.StartNew(() => Work(folder, text, seed, token), CancellationToken.None,
                                      TaskCreationOptions.LongRunning, TaskScheduler.Default);
    }

    public void Update()
    {
        if (_clip == null && _sampleRate > 0 && !_pieces.IsEmpty) Play();
        if (Failure != null)
        {
            Debug.LogException(Failure, this);
            enabled = false;
        }
        else if (IsDone && _clip != null)
        {
            GetComponent<AudioSource>().loop = false; // the last second plays out
        }
    }

    public void OnDisable()
    {
        _stop.Cancel();
        try
        {
            _work.Wait(); // within one step of the model
        }
        catch (AggregateException)
        {
            // Stopped on purpose, or told by Update before.
        }
        _stop.Dispose();
        if (_clip != null) GetComponent<AudioSource>().Stop();
        _clip = null;
        while (_pieces.TryDequeue(out float[] _)) { }
        _piece = new float[0];
        _used = 0;
    }

    private void Work(string folder, string text, ulong seed, CancellationToken token)
    {
        var options = new ModelOptions { Progress = fraction => !token.IsCancellationRequested };
        using (Model model = Model.Open(folder, options))
        using (var session = new Session(model))
        {
            session.SetSampling(new Sampling { Seed = seed });
            _sampleRate = model.Info.SampleRate;
            session.Generate(text, (pcm, last) =>
            {
                _pieces.Enqueue(pcm.ToArray());
                return !token.IsCancellationRequested;
            });
        }
    }

    // The length is not known yet: a clip of one second goes round and is filled again and again.
    private void Play()
    {
        var source = GetComponent<AudioSource>();
        _clip = AudioClip.Create("remora", _sampleRate, 1, _sampleRate, true, OnRead);
        source.clip = _clip;
        source.loop = true;
        source.Play();
    }

    private void OnRead(float[] samples)
    {
        int filled = 0;
        while (filled < samples.Length)
        {
            if (_used == _piece.Length)
            {
                bool made = _work.IsCompleted; // asked first: no piece comes after it
                if (!_pieces.TryDequeue(out _piece))
                {
                    _piece = new float[0];
                    _drained = made;
                    _used = 0;
                    break;
                }
                _used = 0;
            }
            int n = Math.Min(samples.Length - filled, _piece.Length - _used);
            Array.Copy(_piece, _used, samples, filled, n);
            filled += n;
            _used += n;
        }
        Array.Clear(samples, filled, samples.Length - filled); // the model is slower: silence
    }
}
