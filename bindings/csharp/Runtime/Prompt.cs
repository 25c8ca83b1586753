using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Remora.Native;

namespace Remora
{
    /// <summary>What to say, and with which voices. A plain object: it may be used again and
    /// changed between calls. Text converts to a prompt by itself.</summary>
    public sealed unsafe class Prompt
    {
        private remora_prompt _native;

        public Prompt() : this(null) { }

        public Prompt(string text, params Voice[] voices)
        {
            Loader.Ensure();
            fixed (remora_prompt* native = &_native)
                RemoraException.Check(
                    NativeMethods.remora_prompt_init(native, (uint)sizeof(remora_prompt)));
            Text = text;
            Voices = new List<Voice>(voices);
        }

        public string Text { get; set; }

        /// <summary>Speaker i is Voices[i].</summary>
        public IList<Voice> Voices { get; }

        /// <summary>Instead of a text: a matrix of 1 + Info.Codebooks rows, row by row.</summary>
        public int[] Tokens { get; set; }

        public PromptFlags Flags
        {
            get => (PromptFlags)_native.flags;
            set => _native.flags = (uint)value;
        }

        /// <summary>Long text is cut near this many bytes; 0 is the library's choice.</summary>
        public ulong SplitBytes
        {
            get => _native.split_bytes;
            set => _native.split_bytes = value;
        }

        internal remora_prompt Plain => _native;

        public static implicit operator Prompt(string text) => new Prompt(text);
    }

    /// <summary>A prompt's text, tokens and voices held in place for one native call.</summary>
    internal sealed unsafe class PinnedPrompt : IDisposable
    {
        private readonly List<VoiceHandle> _held = new List<VoiceHandle>();
        private GCHandle _text;
        private GCHandle _tokens;
        private GCHandle _voices;

        internal PinnedPrompt(Prompt prompt, ModelInfo info)
        {
            if (prompt == null) throw new ArgumentNullException(nameof(prompt));
            try
            {
                Native = Fill(prompt, info);
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        internal remora_prompt Native { get; }

        public void Dispose()
        {
            foreach (VoiceHandle voice in _held) voice.DangerousRelease();
            _held.Clear();
            if (_text.IsAllocated) _text.Free();
            if (_tokens.IsAllocated) _tokens.Free();
            if (_voices.IsAllocated) _voices.Free();
        }

        private remora_prompt Fill(Prompt prompt, ModelInfo info)
        {
            remora_prompt native = prompt.Plain;
            if (prompt.Text != null)
            {
                byte[] text = Utf8.Text(prompt.Text, "prompt.Text", out UIntPtr length);
                native.text = (byte*)Address(ref _text, text);
                native.text_len = (ulong)length;
            }
            if (prompt.Tokens != null && prompt.Tokens.Length > 0)
            {
                native.n_tokens = (ulong)Buffers.Count(prompt.Tokens.Length, 1 + info.Codebooks,
                                                       "prompt.Tokens");
                native.tokens = (int*)Address(ref _tokens, prompt.Tokens);
            }
            if (prompt.Voices.Count > 0)
            {
                native.voices = (IntPtr*)Address(ref _voices, Hold(prompt.Voices));
                native.n_voices = (ulong)prompt.Voices.Count;
            }
            return native;
        }

        private IntPtr[] Hold(IList<Voice> voices)
        {
            var pointers = new IntPtr[voices.Count];
            for (int i = 0; i < pointers.Length; ++i)
            {
                if (voices[i] == null)
                    throw new ArgumentException("Voices[" + i + "] is null; give a voice",
                                                "prompt");
                VoiceHandle handle = voices[i].Handle;
                bool held = false;
                handle.DangerousAddRef(ref held);
                _held.Add(handle);
                pointers[i] = handle.DangerousGetHandle();
            }
            return pointers;
        }

        private static IntPtr Address(ref GCHandle pin, Array array)
        {
            pin = GCHandle.Alloc(array, GCHandleType.Pinned);
            return pin.AddrOfPinnedObject();
        }
    }
}
