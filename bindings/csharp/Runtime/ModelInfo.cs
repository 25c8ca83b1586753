using Remora.Native;

namespace Remora
{
    /// <summary>What a loaded model is.</summary>
    public sealed class ModelInfo
    {
        internal unsafe ModelInfo(remora_model_info* info)
        {
            Family = Utf8.ReadField(info->family, 32);
            SampleRate = info->sample_rate;
            SamplesPerFrame = info->samples_per_frame;
            Codebooks = info->n_codebooks;
            CodebookSize = info->codebook_size;
            MaxLength = info->max_seq_len;
            VocabularySize = info->vocab_size;
            SemanticBegin = info->semantic_begin;
            SemanticEnd = info->semantic_end;
            EndToken = info->end_token;
            Device = (DeviceKind)info->device;
            DeviceIndex = info->device_index;
            DType = (DType)info->dtype;
            Weights = (Weights)info->weights;
            CodecDType = (DType)info->codec_dtype;
            HasLm = info->has_lm != 0;
            HasCodec = info->has_codec != 0;
            HasEncoder = info->has_encoder != 0;
            Int4Group = info->int4_group;
            SavedWeights = info->saved_weights != 0;
        }

        /// <summary>"s2-pro", "s1-mini" or "codec".</summary>
        public string Family { get; }

        /// <summary>Hz; 0 without a codec.</summary>
        public int SampleRate { get; }

        /// <summary>0 without a codec.</summary>
        public int SamplesPerFrame { get; }

        /// <summary>Codes of one frame.</summary>
        public int Codebooks { get; }

        /// <summary>Entries of the language model's code tables.</summary>
        public int CodebookSize { get; }

        /// <summary>Columns of context the model was made for.</summary>
        public int MaxLength { get; }

        public int VocabularySize { get; }

        /// <summary>Token id of semantic code 0.</summary>
        public int SemanticBegin { get; }

        /// <summary>Token id of the last semantic code.</summary>
        public int SemanticEnd { get; }

        public int EndToken { get; }

        public DeviceKind Device { get; }

        public int DeviceIndex { get; }

        public DType DType { get; }

        public Weights Weights { get; }

        public DType CodecDType { get; }

        public bool HasLm { get; }

        public bool HasCodec { get; }

        public bool HasEncoder { get; }

        /// <summary>Columns that share a scale in 4-bit weights; 0 where there are none.</summary>
        public int Int4Group { get; }

        /// <summary>The checkpoint is quantised: its weights are mapped, not converted.</summary>
        public bool SavedWeights { get; }
    }

    /// <summary>What quantising lost, for one kind of matrix: all layers together, against the
    /// checkpoint's.</summary>
    public sealed class WeightError
    {
        internal unsafe WeightError(remora_weight_error* error)
        {
            Layer = Utf8.ReadField(error->layer, 64);
            Weights = (Weights)error->weights;
            Int4Group = error->int4_group;
            Numbers = error->numbers;
            RelativeError = error->relative_error;
            LargestError = error->largest_error;
            LargestNumber = error->largest_number;
        }

        /// <summary>Such as "layers.*.attention.wqkv".</summary>
        public string Layer { get; }

        public Weights Weights { get; }

        /// <summary>Columns that share a scale in 4-bit weights; 0 where there are none.</summary>
        public int Int4Group { get; }

        /// <summary>How many numbers were compared.</summary>
        public ulong Numbers { get; }

        /// <summary>The root of the sum of squared differences over that of squared originals.
        /// </summary>
        public float RelativeError { get; }

        public float LargestError { get; }

        /// <summary>The largest size of an original.</summary>
        public float LargestNumber { get; }
    }

    /// <summary>The memory a model takes, in bytes.</summary>
    public readonly struct ModelMemory
    {
        internal ModelMemory(remora_memory memory)
        {
            Weights = memory.weights;
            Codec = memory.codec;
            KvPerPosition = memory.kv_per_position;
        }

        /// <summary>The language model's weights.</summary>
        public ulong Weights { get; }

        /// <summary>The codec's weights.</summary>
        public ulong Codec { get; }

        /// <summary>Keys and values of one column of context, in each session.</summary>
        public ulong KvPerPosition { get; }
    }
}
