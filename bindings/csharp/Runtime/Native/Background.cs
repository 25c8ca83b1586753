using System;
using System.Threading;
using System.Threading.Tasks;

namespace Remora.Native
{
    /// <summary>Native calls away from the caller's thread.</summary>
    internal static class Background
    {
        /// <summary>Runs `work`, calling `cancel` (or null) when the token is set. The whole of a
        /// native call and the reading of its error text stay on one thread. A token that was set
        /// at any time before the end makes the task a cancelled one, so that its owner always
        /// knows. `dedicated`: a thread of its own, for what takes long.</summary>
        internal static async Task<T> Run<T>(Func<T> work, Action cancel,
                                             CancellationToken token, bool dedicated)
        {
            token.ThrowIfCancellationRequested();
            T result;
            TaskCreationOptions options = dedicated ? TaskCreationOptions.LongRunning
                                                    : TaskCreationOptions.None;
            using (cancel == null ? default(CancellationTokenRegistration) : token.Register(cancel))
            {
                try
                {
                    result = await Task.Factory
                        .StartNew(work, CancellationToken.None,
                                  options | TaskCreationOptions.DenyChildAttach,
                                  TaskScheduler.Default)
                        .ConfigureAwait(false);
                }
                catch (OperationCanceledException e) when (token.IsCancellationRequested)
                {
                    throw new OperationCanceledException(e.Message, e, token);
                }
            }
            if (!token.IsCancellationRequested) return result;
            (result as IDisposable)?.Dispose();
            throw new OperationCanceledException(token);
        }
    }
}
