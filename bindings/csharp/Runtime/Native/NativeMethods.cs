namespace Remora.Native
{
    /// <summary>
    /// The functions of remora.h, one import each, written by hand. Signatures are blittable:
    /// pointers, numbers, and safe handles (a destroy function alone takes the bare pointer, since
    /// only its handle calls it). Enumerations are int, so a value of a newer library stays legal.
    /// Text crosses as UTF-8 bytes with a length. Where NULL is allowed for a struct the
    /// parameter is a pointer.
    /// </summary>
    internal static unsafe partial class NativeMethods
    {
        // On iOS and in WebGL the library is linked into the program itself.
#if !UNITY_EDITOR && (UNITY_IOS || UNITY_WEBGL)
        internal const string Library = "__Internal";
#else
        internal const string Library = "remora";
#endif
    }
}
