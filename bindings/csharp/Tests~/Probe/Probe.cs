using System;

namespace Remora.Tests
{
    /// <summary>A process of its own for what can be tried only once in one: which library is
    /// found. Prints, for two tries, the type and text of what was thrown, or the version.</summary>
    internal static class Probe
    {
        private static void Main()
        {
            for (int i = 0; i < 2; ++i)
            {
                try
                {
                    Console.WriteLine("version " + RemoraLibrary.Version);
                }
                catch (Exception e)
                {
                    Console.WriteLine(e.GetType().Name + ": " + e.Message);
                }
            }
        }
    }
}
