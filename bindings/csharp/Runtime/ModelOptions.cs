using System;
using Remora.Native;

namespace Remora
{
    /// <summary>How to load a model. A new object holds the library's defaults.</summary>
    public sealed unsafe class ModelOptions
    {
        private remora_model_params _native;

        public ModelOptions()
        {
            Loader.Ensure();
            fixed (remora_model_params* native = &_native)
                RemoraException.Check(NativeMethods.remora_model_params_init(
                    native, (uint)sizeof(remora_model_params)));
        }

        public ModelFlags Flags
        {
            get => (ModelFlags)_native.flags;
            set => _native.flags = (uint)value;
        }

        /// <summary>Auto: the CPU.</summary>
        public DeviceKind Device
        {
            get => (DeviceKind)_native.device;
            set => _native.device = (int)value;
        }

        public int DeviceIndex
        {
            get => _native.device_index;
            set => _native.device_index = value;
        }

        /// <summary>Auto on the CPU: F32 up to 4 GiB of F32 weights; larger and quantised ones
        /// BF16.</summary>
        public DType DType
        {
            get => (DType)_native.dtype;
            set => _native.dtype = (int)value;
        }

        public Weights Weights
        {
            get => (Weights)_native.weights;
            set => _native.weights = (int)value;
        }

        /// <summary>Columns that share a scale in 4-bit weights: 32 or 64; 0: the library's choice.
        /// </summary>
        public int Int4Group
        {
            get => _native.int4_group;
            set => _native.int4_group = value;
        }

        /// <summary>Auto: F32.</summary>
        public DType CodecDType
        {
            get => (DType)_native.codec_dtype;
            set => _native.codec_dtype = (int)value;
        }

        /// <summary>Is given the part that is loaded, 0 to 1, on the loading thread; false stops
        /// with an OperationCanceledException. What it throws, the load throws.</summary>
        public Func<float, bool> Progress { get; set; }

        /// <summary>For one call: with the callback when there is one.</summary>
        internal remora_model_params Native(CallbackScope scope, bool progress)
        {
            remora_model_params native = _native;
            if (!progress) return native;
            native.progress = Callbacks.Progress;
            native.progress_user = scope.User;
            return native;
        }
    }
}
