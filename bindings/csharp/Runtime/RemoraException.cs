using System;
using Remora.Native;

namespace Remora
{
    /// <summary>An error of the library: its status and its text, which is always of the form
    /// "what, where, what to do".</summary>
    public sealed class RemoraException : Exception
    {
        public RemoraException(Status status, string message) : base(message) => Status = status;

        public RemoraException(Status status, string message, Exception inner)
            : base(message, inner) => Status = status;

        public Status Status { get; }

        /// <summary>"REMORA_E_IO" and the like; "REMORA_E_UNKNOWN" for a status this library does
        /// not know.</summary>
        public unsafe string StatusName => Utf8.Read(NativeMethods.remora_status_name((int)Status));

        /// <summary>Throws for a negative status. A cancelled call is an
        /// OperationCanceledException, as everywhere in .NET. Must run on the thread of the failing
        /// call, before any other call: the text of the last error belongs to the thread.</summary>
        internal static Status Check(int status)
        {
            if (status < 0) throw From(status, null);
            return (Status)status;
        }

        internal static unsafe Exception From(int status, Exception cause)
        {
            string text = Utf8.Read(NativeMethods.remora_last_error());
            var error = new RemoraException((Status)status, text, cause);
            if (error.Status != Status.Cancelled) return error;
            return new OperationCanceledException(text, error);
        }
    }
}
