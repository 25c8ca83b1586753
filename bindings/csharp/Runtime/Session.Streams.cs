using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Remora.Native;

namespace Remora
{
    // Streams are pulls: nothing runs between two of the consumer's steps. A stream left before its
    // end costs nothing more; the session takes the next prompt as it is.
    public sealed partial class Session
    {
        private const int FramesPerRead = 8;

        /// <summary>The frames of a prompt, made one by one as they are asked for.</summary>
        public IEnumerable<Frame> Frames(Prompt prompt)
        {
            Prefill(prompt);
            foreach (Frame frame in Frames()) yield return frame;
        }

        /// <summary>The frames that the generation under way still has.</summary>
        public IEnumerable<Frame> Frames()
        {
            while (Step(out Frame frame)) yield return frame;
        }

        /// <summary>The sound of a prompt in pieces, made as they are asked for. Each is an array
        /// of its own.</summary>
        public IEnumerable<float[]> Pcm(Prompt prompt)
        {
            Prefill(prompt);
            foreach (float[] piece in Pcm()) yield return piece;
        }

        /// <summary>The sound that the generation under way still has.</summary>
        public IEnumerable<float[]> Pcm()
        {
            var buffer = new float[Math.Max(1, _info.SamplesPerFrame) * FramesPerRead];
            bool going = true;
            while (true)
            {
                if (going) going = Step();
                bool more = true;
                int written = buffer.Length;
                while (more && written == buffer.Length)
                {
                    more = ReadPcm(buffer, out written);
                    if (written > 0) yield return buffer.AsSpan(0, written).ToArray();
                }
                if (!more) yield break;
            }
        }

        /// <summary>The sound of a prompt in pieces, each made on a thread of the pool. The token
        /// ends the stream with an OperationCanceledException.</summary>
        public IAsyncEnumerable<float[]> PcmAsync(
            Prompt prompt, CancellationToken cancellation = default(CancellationToken)) =>
            new PcmSequence(this, prompt, cancellation);

        /// <summary>Generates on a thread of its own, where <paramref name="onAudio"/> is called
        /// too. Once the token was set the task is a cancelled one, and the session needs
        /// <see cref="Reset"/>.</summary>
        public Task GenerateAsync(Prompt prompt, AudioCallback onAudio,
                                  CancellationToken cancellation = default(CancellationToken)) =>
            Background.Run(() =>
            {
                Generate(prompt, onAudio);
                return true;
            }, Cancel, cancellation, true);

        /// <summary>The whole sound at once.</summary>
        public Task<float[]> GenerateAsync(
            Prompt prompt, CancellationToken cancellation = default(CancellationToken)) =>
            Background.Run(() => Generate(prompt), Cancel, cancellation, true);

        private sealed class PcmSequence : IAsyncEnumerable<float[]>
        {
            private readonly Session _session;
            private readonly Prompt _prompt;
            private readonly CancellationToken _token;

            internal PcmSequence(Session session, Prompt prompt, CancellationToken token)
            {
                _session = session;
                _prompt = prompt;
                _token = token;
            }

            public IAsyncEnumerator<float[]> GetAsyncEnumerator(
                CancellationToken token = default(CancellationToken)) =>
                new PcmEnumerator(_session, _session.Pcm(_prompt).GetEnumerator(),
                                  CancellationTokenSource.CreateLinkedTokenSource(_token, token));
        }

        private sealed class PcmEnumerator : IAsyncEnumerator<float[]>
        {
            private readonly Session _session;
            private readonly IEnumerator<float[]> _pieces;
            private readonly CancellationTokenSource _cancellation;

            internal PcmEnumerator(Session session, IEnumerator<float[]> pieces,
                                   CancellationTokenSource cancellation)
            {
                _session = session;
                _pieces = pieces;
                _cancellation = cancellation;
            }

            public float[] Current => _pieces.Current;

            public ValueTask<bool> MoveNextAsync() =>
                new ValueTask<bool>(Background.Run(_pieces.MoveNext, _session.Cancel,
                                                   _cancellation.Token, false));

            public ValueTask DisposeAsync()
            {
                _pieces.Dispose();
                _cancellation.Dispose();
                return default(ValueTask);
            }
        }
    }
}
