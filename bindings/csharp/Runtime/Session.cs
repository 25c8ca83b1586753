using System;
using System.Collections.Generic;
using Remora.Native;

namespace Remora
{
    /// <summary>Is given each piece of sound as it is ready: mono samples, valid during the call
    /// only; <paramref name="last"/> marks the final piece, which may be empty. False stops the
    /// generation with an OperationCanceledException; what it throws, the generation throws. Of the
    /// session it may call <see cref="Session.Cancel"/> and Dispose only.</summary>
    public delegate bool AudioCallback(ReadOnlySpan<float> pcm, bool last);

    /// <summary>One speaker's state: context, random stream, codec. For one thread at a time; a
    /// second call meanwhile fails with Busy. Two levels: <see cref="Prefill"/>,
    /// <see cref="Step()"/> and <see cref="ReadPcm"/>, or all three in one by Generate, Frames and
    /// Pcm. After an error that is not about an argument, and after a cancel, call
    /// <see cref="Reset"/>.</summary>
    public sealed unsafe partial class Session : IDisposable
    {
        private readonly SessionHandle _handle;
        private readonly ModelInfo _info;

        public Session(Model model, SessionOptions options = null)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            var native = options == null ? default(remora_session_params) : options.Native;
            RemoraException.Check(NativeMethods.remora_session_create(
                model.Handle, options == null ? null : &native, out _handle));
            _info = model.Info;
            _handle.KeepReader(model.Handle.Reader);
        }

        private Session(SessionHandle handle, Session from)
        {
            _handle = handle;
            _info = from._info;
            _handle.KeepReader(from._handle.Reader);
        }

        public SessionStats Stats
        {
            get
            {
                var native = new remora_stats { struct_size = (uint)sizeof(remora_stats) };
                RemoraException.Check(NativeMethods.remora_session_stats(_handle, &native));
                return new SessionStats(native);
            }
        }

        /// <summary>Columns in the context.</summary>
        public long Position
        {
            get
            {
                long position = NativeMethods.remora_session_position(_handle);
                if (position < 0) RemoraException.Check((int)position);
                return position;
            }
        }

        /// <summary>Does the work of a first use now; leaves the session as after Reset.</summary>
        public void Warmup() =>
            RemoraException.Check(NativeMethods.remora_session_warmup(_handle));

        /// <summary>Sampling for the prompts that follow; restarts the random stream.</summary>
        public void SetSampling(Sampling sampling)
        {
            if (sampling == null) throw new ArgumentNullException(nameof(sampling));
            remora_sampling native = sampling.Native;
            RemoraException.Check(NativeMethods.remora_session_set_sampling(_handle, &native));
        }

        /// <summary>Takes a prompt and runs the model over its first piece.</summary>
        public void Prefill(Prompt prompt)
        {
            using (var pinned = new PinnedPrompt(prompt, _info))
            {
                remora_prompt native = pinned.Native;
                RemoraException.Check(NativeMethods.remora_session_prefill(_handle, &native));
            }
        }

        /// <summary>Makes one frame; false when the generation is over and none was made.</summary>
        public bool Step() =>
            RemoraException.Check(NativeMethods.remora_session_step(_handle, null)) != Status.End;

        /// <summary>The same, with the frame.</summary>
        public bool Step(out Frame frame)
        {
            var codes = new int[_info.Codebooks];
            bool made = Step(codes, out long position);
            frame = made ? new Frame(position, codes) : default(Frame);
            return made;
        }

        /// <summary>The same into the caller's memory, of Info.Codebooks elements.</summary>
        public bool Step(Span<int> codes, out long position)
        {
            fixed (int* output = &Pin.Reference<int>(codes))
            {
                var native = new remora_frame
                {
                    struct_size = (uint)sizeof(remora_frame),
                    codes = output,
                    codes_capacity = (ulong)codes.Length,
                };
                Status status =
                    RemoraException.Check(NativeMethods.remora_session_step(_handle, &native));
                position = native.position;
                return status != Status.End;
            }
        }

        /// <summary>Gives decoded samples, as many as fit and are ready: none when more steps are
        /// needed first. False when the generation is over and all was read.</summary>
        public bool ReadPcm(Span<float> pcm, out int written)
        {
            fixed (float* output = &Pin.Reference<float>(pcm))
            {
                Status status = RemoraException.Check(NativeMethods.remora_session_read_pcm(
                    _handle, output, (UIntPtr)pcm.Length, out UIntPtr count));
                written = checked((int)count);
                return status != Status.End;
            }
        }

        /// <summary>Prefill, Step and ReadPcm until the end, the sound going to
        /// <paramref name="onAudio"/> on this thread.</summary>
        public void Generate(Prompt prompt, AudioCallback onAudio)
        {
            if (onAudio == null) throw new ArgumentNullException(nameof(onAudio));
            using (var pinned = new PinnedPrompt(prompt, _info))
            using (var scope = new CallbackScope(onAudio, null))
            {
                remora_prompt native = pinned.Native;
                scope.Check(NativeMethods.remora_session_generate(_handle, &native,
                                                                  Callbacks.Audio, scope.User));
            }
        }

        /// <summary>The whole sound at once.</summary>
        public float[] Generate(Prompt prompt)
        {
            var pieces = new List<float[]>();
            int length = 0;
            Generate(prompt, (piece, last) =>
            {
                pieces.Add(piece.ToArray());
                length = checked(length + piece.Length);
                return true;
            });
            var pcm = new float[length];
            int at = 0;
            foreach (float[] part in pieces)
            {
                part.CopyTo(pcm, at);
                at += part.Length;
            }
            return pcm;
        }

        /// <summary>Asks the running call, or else the next one, to stop with an
        /// OperationCanceledException. In force until <see cref="Reset"/>. Any thread, also from
        /// callbacks, any number of times; nothing happens after Dispose.</summary>
        public void Cancel()
        {
            try
            {
                NativeMethods.remora_session_cancel(_handle);
            }
            catch (ObjectDisposedException)
            {
                // A cancel that comes too late has nothing to stop.
            }
        }

        /// <summary>Cancels a call that another thread is in, which frees the session when it
        /// returns; else frees it now.</summary>
        public void Dispose()
        {
            Cancel();
            _handle.Dispose();
        }
    }
}
