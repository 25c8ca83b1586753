using System;
using System.Collections.Generic;
using Remora.Native;

namespace Remora
{
    /// <summary>What one session made in <see cref="Session.StepTogether"/>.</summary>
    public readonly struct StepOutcome
    {
        internal StepOutcome(Status status, Frame frame)
        {
            Status = status;
            Frame = frame;
        }

        /// <summary>Ok: there is a frame. End: the generation is over. Else the error.</summary>
        public Status Status { get; }

        public Frame Frame { get; }
    }

    public sealed unsafe partial class Session
    {
        /// <summary>Sessions that one StepTogether takes.</summary>
        public const int MaxTogether = 8;

        /// <summary>Experimental: may change in any release. One frame for each of several sessions
        /// of one model; what bounds a step on a CPU is reading the weights, so a few sessions
        /// together take little longer than one. An end or an error of one leaves the others going.
        /// Throws when there are none or more than <see cref="MaxTogether"/>, one of them twice, or
        /// of another model; no session was stepped then.</summary>
        public static StepOutcome[] StepTogether(IReadOnlyList<Session> sessions)
        {
            if (sessions == null) throw new ArgumentNullException(nameof(sessions));
            int count = sessions.Count;
            if (count < 1 || count > MaxTogether)
                throw new ArgumentException("1 to 8 sessions are needed", nameof(sessions));
            var handles = new IntPtr[count];
            var held = 0;
            try
            {
                for (; held < count; ++held)
                {
                    bool added = false;
                    sessions[held]._handle.DangerousAddRef(ref added);
                    handles[held] = sessions[held]._handle.DangerousGetHandle();
                }
                return Step(handles, sessions[0]._info.Codebooks);
            }
            finally
            {
                while (held > 0) sessions[--held]._handle.DangerousRelease();
            }
        }

        private static StepOutcome[] Step(IntPtr[] sessions, int codebooks)
        {
            int count = sessions.Length;
            remora_frame* frames = stackalloc remora_frame[MaxTogether];
            remora_frame** places = stackalloc remora_frame*[MaxTogether];
            int* statuses = stackalloc int[MaxTogether];
            var drawn = new int[count * codebooks];
            fixed (int* room = drawn)
            fixed (IntPtr* natives = sessions)
            {
                for (int i = 0; i < count; ++i)
                {
                    frames[i] = new remora_frame
                    {
                        struct_size = (uint)sizeof(remora_frame),
                        codes = room + i * codebooks,
                        codes_capacity = (ulong)codebooks,
                    };
                    places[i] = frames + i;
                }
                RemoraException.Check(NativeMethods.remora_sessions_step(
                    natives, (UIntPtr)count, places, statuses));
            }
            var outcomes = new StepOutcome[count];
            for (int i = 0; i < count; ++i)
            {
                var codes = new int[codebooks];
                Array.Copy(drawn, i * codebooks, codes, 0, codebooks);
                outcomes[i] =
                    new StepOutcome((Status)statuses[i], new Frame(frames[i].position, codes));
            }
            return outcomes;
        }
    }
}
