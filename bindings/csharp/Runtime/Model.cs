using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Remora.Native;

namespace Remora
{
    /// <summary>Weights, tokenizer and codec: immutable, for any number of sessions and threads.
    /// Sessions and voices made from it stay valid after Dispose.</summary>
    public sealed unsafe class Model : IDisposable
    {
        private Model(ModelHandle handle)
        {
            Handle = handle;
            var info = new remora_model_info { struct_size = (uint)sizeof(remora_model_info) };
            RemoraException.Check(NativeMethods.remora_model_describe(handle, &info));
            Info = new ModelInfo(&info);
        }

        internal ModelHandle Handle { get; }

        public ModelInfo Info { get; }

        public ModelMemory Memory
        {
            get
            {
                var memory = new remora_memory { struct_size = (uint)sizeof(remora_memory) };
                RemoraException.Check(NativeMethods.remora_model_memory(Handle, &memory));
                return new ModelMemory(memory);
            }
        }

        /// <summary>Loads a checkpoint folder; null options are the defaults.</summary>
        /// <exception cref="RemoraException">Io: the folder or a file is missing. Format: a file is
        /// damaged or does not belong; the text names file, tensor and reason. Unsupported: model
        /// type, device or precision.</exception>
        public static Model Open(string folder, ModelOptions options = null) =>
            Open(folder, options, options?.Progress);

        /// <summary>The same from a source.</summary>
        public static Model Open(Source source, ModelOptions options = null) =>
            Open(source, options, options?.Progress);

        /// <summary>What <see cref="Memory"/> of a model loaded so would be, before it is loaded: no
        /// weights are read.</summary>
        public static ModelMemory Estimate(Source source, ModelOptions options = null)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            using (var scope = new CallbackScope(null, null))
            {
                remora_model_params native;
                remora_model_params* parameters = Fill(options, scope, null, &native);
                var memory = new remora_memory { struct_size = (uint)sizeof(remora_memory) };
                ReaderState reader = source.Handle.Reader;
                reader?.Take();
                int status = NativeMethods.remora_model_estimate(source.Handle, parameters,
                                                                 &memory);
                Exception cause = reader?.Take();
                if (status < 0 && cause != null) throw RemoraException.From(status, cause);
                scope.Check(status);
                return new ModelMemory(memory);
            }
        }

        /// <summary>Loads on a thread of its own; the token stops the load.</summary>
        public static Task<Model> OpenAsync(
            string folder, ModelOptions options = null,
            CancellationToken cancellation = default(CancellationToken)) =>
            OpenAsync(progress => Open(folder, options, progress), options, cancellation);

        /// <summary>The same from a source, which must be left alone meanwhile.</summary>
        public static Task<Model> OpenAsync(
            Source source, ModelOptions options = null,
            CancellationToken cancellation = default(CancellationToken)) =>
            OpenAsync(progress => Open(source, options, progress), options, cancellation);

        /// <summary>What quantising the weights lost, for each kind of matrix, of a model loaded with
        /// <see cref="ModelFlags.WeightErrors"/>.</summary>
        /// <exception cref="RemoraException">InvalidState: nothing was measured.</exception>
        public IReadOnlyList<WeightError> WeightErrors()
        {
            var errors = new List<WeightError>();
            while (true)
            {
                var error = new remora_weight_error
                {
                    struct_size = (uint)sizeof(remora_weight_error),
                };
                int status = NativeMethods.remora_model_weight_error(
                    Handle, (UIntPtr)errors.Count, &error);
                RemoraException.Check(status);
                if (status == (int)Status.End) return errors;
                errors.Add(new WeightError(&error));
            }
        }

        /// <summary>Writes the 8 or 4 bit weights as the model.safetensors of a quantised checkpoint:
        /// beside the other files of its checkpoint it loads without converting. `progress` is given
        /// the part that is written; false stops with an OperationCanceledException.</summary>
        /// <exception cref="RemoraException">Unsupported: the weights are not quantised. Io: the
        /// file cannot be written; nothing is left behind.</exception>
        public void SaveWeights(string path, Func<float, bool> progress = null)
        {
            using (var scope = new CallbackScope(null, progress))
            fixed (byte* utf8 = Utf8.Path(path, nameof(path)))
            {
                scope.Check(NativeMethods.remora_model_save_weights(
                    Handle, utf8, progress == null ? IntPtr.Zero : Callbacks.Progress, scope.User));
            }
        }

        /// <summary>Text to token ids, as inside a prompt. Flags: None, or AllowControl to let
        /// typed control tokens act.</summary>
        public int[] Tokenize(string text, PromptFlags flags = PromptFlags.None)
        {
            fixed (byte* bytes = Utf8.Text(text, nameof(text), out UIntPtr length))
            {
                byte* utf8 = bytes;
                return Buffers.Ints((int* dst, UIntPtr capacity, out UIntPtr needed) =>
                    NativeMethods.remora_model_tokenize(
                        Handle, utf8, length, (uint)flags, dst, capacity, out needed));
            }
        }

        /// <summary>The matrix that the prompt's first piece becomes: 1 + Info.Codebooks rows, row
        /// by row.</summary>
        public int[] PromptMatrix(Prompt prompt)
        {
            using (var pinned = new PinnedPrompt(prompt, Info))
            {
                remora_prompt native = pinned.Native;
                remora_prompt* address = &native;
                return Buffers.Ints((int* dst, UIntPtr capacity, out UIntPtr needed) =>
                    NativeMethods.remora_model_prompt(
                        Handle, address, dst, capacity, out needed));
            }
        }

        /// <summary>Sound to codes: interleaved samples, mixed to mono and resampled, to
        /// Info.Codebooks rows of codes, row by row.</summary>
        public int[] Encode(ReadOnlySpan<float> interleaved, int channels, int rate)
        {
            UIntPtr frames = Buffers.Count(interleaved.Length, channels, nameof(interleaved));
            fixed (float* samples = &Pin.Reference(interleaved))
            {
                float* pcm = samples;
                return Buffers.Ints((int* dst, UIntPtr capacity, out UIntPtr needed) =>
                    NativeMethods.remora_codec_encode(
                        Handle, pcm, frames, channels, rate, dst, capacity, out needed));
            }
        }

        /// <summary>A clip of codes (Info.Codebooks rows, row by row) to mono sound.</summary>
        public float[] Decode(ReadOnlySpan<int> codes)
        {
            UIntPtr frames = Buffers.Count(codes.Length, Info.Codebooks, nameof(codes));
            fixed (int* pinned = &Pin.Reference(codes))
            {
                int* input = pinned;
                return Buffers.Floats((float* dst, UIntPtr capacity, out UIntPtr needed) =>
                    NativeMethods.remora_codec_decode(
                        Handle, input, frames, dst, capacity, out needed));
            }
        }

        /// <summary>The same into the caller's memory; returns the number of samples.</summary>
        /// <exception cref="RemoraException">BufferTooSmall: nothing was written.</exception>
        public int Decode(ReadOnlySpan<int> codes, Span<float> pcm)
        {
            UIntPtr frames = Buffers.Count(codes.Length, Info.Codebooks, nameof(codes));
            fixed (int* input = &Pin.Reference(codes))
            fixed (float* output = &Pin.Reference<float>(pcm))
            {
                RemoraException.Check(NativeMethods.remora_codec_decode(
                    Handle, input, frames, output, (UIntPtr)pcm.Length, out UIntPtr needed));
                return checked((int)needed);
            }
        }

        public void Dispose() => Handle.Dispose();

        private static Model Open(string folder, ModelOptions options, Func<float, bool> progress)
        {
            Loader.Ensure();
            using (var scope = new CallbackScope(null, progress))
            fixed (byte* path = Utf8.Path(folder, nameof(folder)))
            {
                remora_model_params native;
                remora_model_params* parameters = Fill(options, scope, progress, &native);
                scope.Check(NativeMethods.remora_model_open(path, parameters,
                                                            out ModelHandle handle));
                return new Model(handle);
            }
        }

        private static Model Open(Source source, ModelOptions options, Func<float, bool> progress)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            using (var scope = new CallbackScope(null, progress))
            {
                remora_model_params native;
                remora_model_params* parameters = Fill(options, scope, progress, &native);
                ReaderState reader = source.Handle.Reader;
                reader?.Take();
                int status = NativeMethods.remora_model_create(source.Handle, parameters,
                                                               out ModelHandle handle);
                Exception cause = reader?.Take();
                if (status < 0 && cause != null) throw RemoraException.From(status, cause);
                scope.Check(status);
                handle.KeepReader(reader);
                return new Model(handle);
            }
        }

        private static remora_model_params* Fill(ModelOptions options, CallbackScope scope,
                                                 Func<float, bool> progress,
                                                 remora_model_params* native)
        {
            if (options == null && progress == null) return null;
            *native = (options ?? new ModelOptions()).Native(scope, progress != null);
            return native;
        }

        private static Task<Model> OpenAsync(Func<Func<float, bool>, Model> open,
                                             ModelOptions options, CancellationToken cancellation)
        {
            Func<float, bool> progress = options?.Progress;
            Func<float, bool> both = fraction =>
                !cancellation.IsCancellationRequested && (progress == null || progress(fraction));
            return Background.Run(() => open(both), null, cancellation, true);
        }
    }
}
