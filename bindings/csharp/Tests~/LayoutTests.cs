using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace Remora.Tests
{
    /// <summary>The binding against the C tests' golden table and against the header.</summary>
    public static class LayoutTests
    {
        private const BindingFlags Any =
            BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public |
            BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

        // In the C names of constants: what stands between REMORA_ and the enumerator.
        private static readonly Dictionary<string, Type> Enumerations = new Dictionary<string, Type>
        {
            { "SDPA", typeof(SdpaPolicy) }, { "KV", typeof(KvMode) },
            { "DEVICE", typeof(DeviceKind) }, { "DTYPE", typeof(DType) },
            { "WEIGHTS", typeof(Weights) }, { "FINISH", typeof(Finish) },
            { "LOG", typeof(LogLevel) }, { "AUDIO", typeof(AudioFormat) },
            { "MODEL", typeof(ModelFlags) }, { "SESSION", typeof(SessionFlags) },
            { "PROMPT", typeof(PromptFlags) }, { "E", typeof(Status) },
        };

        [Test]
        public static void StructsLieAsInTheGoldenTable()
        {
            Type current = null;
            int fields = 0, expected = 0;
            foreach (string[] words in Table())
            {
                if (words[0] == "constant") continue;
                if (words[0] == "struct")
                {
                    Check.Equal(expected, fields, current + ": fields");
                    current = Native(words[1]);
                    Check.Equal(int.Parse(words[2]), Marshal.SizeOf(current), words[1]);
                    expected = current.GetFields(Any).Length;
                    fields = 0;
                    continue;
                }
                string name = words[3];
                FieldInfo field = current.GetField(name, Any);
                Check.True(field != null, current.Name + "." + name + " is there");
                Check.Equal(int.Parse(words[0]), (int)Marshal.OffsetOf(current, name), name);
                Check.Equal(int.Parse(words[1]), SizeOf(field.FieldType), name + ": size");
                ++fields;
            }
            Check.Equal(expected, fields, current + ": fields");
            Check.True(current != null, "the table has structs");
        }

        [Test]
        public static void ConstantsHaveTheGoldenValuesAndNoneIsMissing()
        {
            var seen = new HashSet<string>();
            foreach (string[] words in Table().Where(line => line[0] == "constant"))
            {
                string name = words[1].Substring("REMORA_".Length);
                string prefix = name.Split('_')[0];
                if (Enumerations.TryGetValue(prefix, out Type type))
                    name = name.Substring(prefix.Length + 1);
                else
                    type = typeof(Status); // REMORA_OK and REMORA_END
                object value = Enum.Parse(type, name.Replace("_", ""), true);
                Check.Equal(long.Parse(words[2]), Convert.ToInt64(value), words[1]);
                seen.Add(type.Name + "." + value);
            }
            foreach (Type type in Enumerations.Values)
                foreach (object value in Enum.GetValues(type))
                    Check.True(seen.Contains(type.Name + "." + value) ||
                                   value.Equals(ModelFlags.None) ||
                                   value.Equals(SessionFlags.None) ||
                                   value.Equals(PromptFlags.None),
                               type.Name + "." + value + " is in the table");
        }

        [Test]
        public static void EveryFunctionOfTheHeaderIsImportedWithItsSignature()
        {
            var imports = NativeMethods().ToDictionary(method => method.Name);
            var declared = new HashSet<string>();
            foreach (Match match in Regex.Matches(
                         Header(), @"REMORA_API\s+([\w\s\*]+?)\s*REMORA_CALL\s+(\w+)\(([^;]*)\);"))
            {
                string name = match.Groups[2].Value;
                declared.Add(name);
                Check.True(imports.ContainsKey(name), name + " is imported");
                MethodInfo import = imports[name];
                Check.Equal(CType(match.Groups[1].Value), NetType(import.ReturnType), name);
                var expected = match.Groups[3].Value.Trim() == "void"
                    ? new string[0]
                    : match.Groups[3].Value.Split(',')
                          .Select(Parameter).ToArray();
                var found = import.GetParameters().Select(p => NetType(p.ParameterType)).ToList();
                if (name.EndsWith("_destroy", StringComparison.Ordinal))
                    Check.Same(new[] { "address" }, found, name); // the bare pointer
                else
                    Check.Same(expected, found, name);
            }
            Check.True(declared.Count > 50, "the header was read");
            Check.Same(declared.OrderBy(name => name), imports.Keys.OrderBy(name => name),
                       "imports");
        }

        [Test]
        public static void ImportsAreCdeclAndTakeHandlesNotPointers()
        {
            foreach (MethodInfo method in NativeMethods())
            {
                var import = method.GetCustomAttribute<DllImportAttribute>();
                Check.Equal(CallingConvention.Cdecl, import.CallingConvention, method.Name);
                Check.True(import.ExactSpelling && !import.SetLastError, method.Name);
                foreach (ParameterInfo parameter in method.GetParameters())
                    Check.True(parameter.ParameterType != typeof(string) &&
                                   parameter.ParameterType != typeof(bool) &&
                                   !typeof(Delegate).IsAssignableFrom(parameter.ParameterType),
                               method.Name + "." + parameter.Name + " needs no marshalling");
            }
        }

        private static IEnumerable<string[]> Table() =>
            File.ReadLines(Path.Combine(Fixture.Root, "tests/abi/layout.txt"))
                .Select(line => line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries))
                .Where(words => words.Length > 0);

        private static string Header() =>
            Regex.Replace(File.ReadAllText(Path.Combine(Fixture.Variable("REMORA_INCLUDE_DIR"),
                                                        "remora/remora.h")),
                          @"/\*.*?\*/|^#.*?$", "",
                          RegexOptions.Singleline | RegexOptions.Multiline);

        private static Type Native(string name)
        {
            Type type = typeof(Model).Assembly.GetType("Remora.Native." + name);
            Check.True(type != null, name + " is in the binding");
            return type;
        }

        private static IEnumerable<MethodInfo> NativeMethods() =>
            Native("NativeMethods").GetMethods(Any)
                .Where(method => method.GetCustomAttribute<DllImportAttribute>() != null);

        private static int SizeOf(Type type) => type.IsPointer ? IntPtr.Size : Marshal.SizeOf(type);

        private static string Parameter(string c) =>
            Regex.IsMatch(c, @"\buser\s*$") ? "address" : CType(Regex.Replace(c, @"\w+\s*$", ""));

        /// <summary>A C type in the words of <see cref="NetType"/>.</summary>
        private static string CType(string c)
        {
            string type = Regex.Replace(c, @"\bconst\b|\s", "");
            int stars = type.Count(letter => letter == '*');
            type = type.Trim('*');
            bool handle =
                Regex.IsMatch(type, "^remora_(source|model|voice|session|codec_stream)$");
            if (handle && Regex.IsMatch(c, @"\*\s*const\s*\*")) return "address*"; // an array
            if (handle)
                return (stars == 2 ? "out " : "") + type.Replace("remora_", "").Replace("_", "");
            if (type.EndsWith("_fn", StringComparison.Ordinal)) return "address";
            if (type == "void" && stars == 1) return "bytes";
            if (type == "char") return "bytes";
            if (type == "size_t") return (stars == 1 ? "out " : "") + "size";
            if (Regex.IsMatch(type, "^remora_(status|log_level|device_kind|audio_format)$"))
                type = "int32_t";
            return type + new string('*', stars);
        }

        private static string NetType(Type type)
        {
            if (type.IsByRef) return "out " + NetType(type.GetElementType());
            if (type.Name.EndsWith("Handle", StringComparison.Ordinal))
                return type.Name.Replace("Handle", "").ToLowerInvariant();
            if (type == typeof(byte*)) return "bytes";
            if (type.IsPointer) return NetType(type.GetElementType()) + "*";
            if (type == typeof(IntPtr)) return "address";
            if (type == typeof(UIntPtr)) return "size";
            if (type == typeof(int)) return "int32_t";
            if (type == typeof(uint)) return "uint32_t";
            if (type == typeof(long)) return "int64_t";
            if (type == typeof(ulong)) return "uint64_t";
            if (type == typeof(short)) return "int16_t";
            if (type == typeof(float)) return "float";
            if (type == typeof(void)) return "void";
            return type.Name;
        }
    }
}
