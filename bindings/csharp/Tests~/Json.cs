using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Remora.Tests
{
    /// <summary>Reads the JSON that this repository's own scripts write: objects become
    /// Dictionary&lt;string, object&gt;, arrays List&lt;object&gt;, numbers double.</summary>
    internal sealed class Json
    {
        private readonly string _text;
        private int _at;

        private Json(string text) => _text = text;

        internal static object Parse(string text)
        {
            var reader = new Json(text);
            object value = reader.Value();
            reader.SkipSpace();
            if (reader._at != text.Length) throw reader.Error("something after the end");
            return value;
        }

        private Exception Error(string what) =>
            new FormatException("JSON, character " + _at + ": " + what);

        private void SkipSpace()
        {
            while (_at < _text.Length && char.IsWhiteSpace(_text[_at])) ++_at;
        }

        private char Peek()
        {
            SkipSpace();
            if (_at >= _text.Length) throw Error("ends too early");
            return _text[_at];
        }

        private bool Accept(char wanted)
        {
            if (Peek() != wanted) return false;
            ++_at;
            return true;
        }

        private void Expect(char wanted)
        {
            if (!Accept(wanted)) throw Error("expected " + wanted);
        }

        private object Value()
        {
            switch (Peek())
            {
                case '{': return Object();
                case '[': return Array();
                case '"': return String();
                case 't': return Word("true", true);
                case 'f': return Word("false", false);
                case 'n': return Word("null", null);
                default: return Number();
            }
        }

        private object Word(string word, object value)
        {
            if (string.CompareOrdinal(_text, _at, word, 0, word.Length) != 0)
                throw Error("expected " + word);
            _at += word.Length;
            return value;
        }

        private Dictionary<string, object> Object()
        {
            var result = new Dictionary<string, object>();
            Expect('{');
            if (Accept('}')) return result;
            do
            {
                Peek();
                string key = String();
                Expect(':');
                result.Add(key, Value());
            } while (Accept(','));
            Expect('}');
            return result;
        }

        private List<object> Array()
        {
            var result = new List<object>();
            Expect('[');
            if (Accept(']')) return result;
            do result.Add(Value());
            while (Accept(','));
            Expect(']');
            return result;
        }

        private double Number()
        {
            int start = _at;
            while (_at < _text.Length && "+-.eE0123456789".IndexOf(_text[_at]) >= 0) ++_at;
            return double.Parse(_text.Substring(start, _at - start), NumberStyles.Float,
                                CultureInfo.InvariantCulture);
        }

        private string String()
        {
            var result = new StringBuilder();
            Expect('"');
            while (true)
            {
                if (_at >= _text.Length) throw Error("a string without its end");
                char c = _text[_at++];
                if (c == '"') return result.ToString();
                result.Append(c == '\\' ? Escaped() : c);
            }
        }

        private char Escaped()
        {
            const string Short = "\"\\/bfnrt";
            const string Meaning = "\"\\/\b\f\n\r\t";
            if (_at >= _text.Length) throw Error("a string without its end");
            char c = _text[_at++];
            int index = Short.IndexOf(c);
            if (index >= 0) return Meaning[index];
            if (c != 'u' || _at + 4 > _text.Length) throw Error("an unknown escape");
            _at += 4;
            return (char)int.Parse(_text.Substring(_at - 4, 4), NumberStyles.HexNumber,
                                   CultureInfo.InvariantCulture);
        }
    }
}
