using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading.Tasks;

namespace Remora.Tests
{
    /// <summary>A public static method to be run; its name says what it proves.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class TestAttribute : Attribute { }

    internal sealed class CheckFailed : Exception
    {
        internal CheckFailed(string message) : base(message) { }
    }

    /// <summary>What tests state.</summary>
    internal static class Check
    {
        internal static void True(bool condition, string what)
        {
            if (!condition) throw new CheckFailed("not so: " + what);
        }

        internal static void Equal<T>(T expected, T found, string what = "value")
        {
            if (!EqualityComparer<T>.Default.Equals(expected, found))
                throw new CheckFailed(what + ": expected " + expected + ", found " + found);
        }

        internal static void Same<T>(IEnumerable<T> expected, IEnumerable<T> found, string what)
        {
            List<T> left = expected.ToList(), right = found.ToList();
            Equal(left.Count, right.Count, what + ": count");
            for (int i = 0; i < left.Count; ++i) Equal(left[i], right[i], what + "[" + i + "]");
        }

        internal static void Contains(string part, string text) =>
            True(text.Contains(part), "\"" + part + "\" in \"" + text + "\"");

        internal static T Throws<T>(Action action) where T : Exception
        {
            try
            {
                action();
            }
            catch (T e)
            {
                return e;
            }
            throw new CheckFailed("no " + typeof(T).Name + " was thrown");
        }

        internal static RemoraException Fails(Status status, Action action)
        {
            var e = Throws<RemoraException>(action);
            Equal(status, e.Status, e.Message);
            True(e.Message.Length > 0, "an error has a text");
            return e;
        }
    }

    internal static class Runner
    {
        /// <summary>usage: remora-tests.exe [PART-OF-A-NAME]; prints one line a test and, last,
        /// "N passed, N failed".</summary>
        private static int Main(string[] arguments)
        {
            int passed = 0, failed = 0;
            foreach (MethodInfo test in All())
            {
                string name = test.DeclaringType.Name + "." + test.Name;
                if (arguments.Length > 0 && !name.Contains(arguments[0])) continue;
                string failure = Run(test);
                Console.WriteLine((failure == null ? "ok    " : "FAIL  ") + name);
                if (failure != null) Console.WriteLine(failure);
                if (failure == null) ++passed;
                else ++failed;
            }
            Console.WriteLine(passed + " passed, " + failed + " failed");
            return failed == 0 && passed > 0 ? 0 : 1;
        }

        private static IEnumerable<MethodInfo> All() =>
            from type in typeof(Runner).Assembly.GetTypes()
            from method in type.GetMethods(BindingFlags.Static | BindingFlags.Public)
            where method.GetCustomAttribute<TestAttribute>() != null
            orderby type.Name, method.MetadataToken
            select method;

        private static string Run(MethodInfo test)
        {
            try
            {
                (test.Invoke(null, null) as Task)?.GetAwaiter().GetResult();
                return null;
            }
            catch (TargetInvocationException e)
            {
                return e.InnerException.ToString();
            }
            catch (Exception e)
            {
                return e.ToString();
            }
        }
    }
}
