using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Remora.Native
{
    /// <summary>Text to and from UTF-8 by hand: the marshaller's default charset is ANSI on
    /// Windows, and a half surrogate pair must not become a question mark unseen.</summary>
    internal static unsafe class Utf8
    {
        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        /// <summary>The bytes and a closing NUL (so the array is never empty, and `fixed` never
        /// gives NULL); `length` leaves the NUL out. NULs inside are part of the text.</summary>
        internal static byte[] Text(string text, string name, out UIntPtr length)
        {
            if (text == null) throw new ArgumentNullException(name);
            byte[] bytes;
            try
            {
                bytes = new byte[Strict.GetByteCount(text) + 1];
                Strict.GetBytes(text, 0, text.Length, bytes, 0);
            }
            catch (EncoderFallbackException e)
            {
                throw new ArgumentException("holds half of a surrogate pair, at index " + e.Index +
                                            "; give whole characters", name, e);
            }
            length = (UIntPtr)(bytes.Length - 1);
            return bytes;
        }

        /// <summary>A path or a file name, closed by NUL.</summary>
        internal static byte[] Path(string path, string name)
        {
            if (path != null && path.IndexOf('\0') >= 0)
                throw new ArgumentException("holds a NUL character; a path cannot", name);
            return Text(path, name, out UIntPtr _);
        }

        /// <summary>A NUL-terminated text of the library.</summary>
        internal static string Read(byte* text)
        {
            if (text == null) return "";
            int length = 0;
            while (text[length] != 0) ++length;
            return Encoding.UTF8.GetString(text, length);
        }

        /// <summary>A text of the library with a length in bytes.</summary>
        internal static string Read(byte* text, UIntPtr length) =>
            Encoding.UTF8.GetString(text, checked((int)length));

        /// <summary>A fixed field of `capacity` bytes that holds a NUL-terminated text.</summary>
        internal static string ReadField(byte* text, int capacity)
        {
            int length = 0;
            while (length < capacity && text[length] != 0) ++length;
            return Encoding.UTF8.GetString(text, length);
        }
    }
}
