/* remora.h - text to 44.1 kHz speech with Fish Speech models, behind a C ABI.
 *
 * INTRODUCTION
 *
 * remora loads a checkpoint folder (Fish Speech S2-Pro or OpenAudio S1-mini layout) and speaks text
 * in one process, without Python. A complete program:
 *
 *   #include <remora/remora.h>
 *   #include <stdio.h>
 *
 *   static int fail(void) {
 *     fprintf(stderr, "remora: %s\n", remora_last_error());
 *     return 1;
 *   }
 *
 *   static int32_t REMORA_CALL on_audio(void *user, const float *pcm, size_t n, int32_t last) {
 *     (void)last;
 *     return fwrite(pcm, sizeof *pcm, n, (FILE *)user) == n ? 0 : 1;
 *   }
 *
 *   int main(int argc, char **argv) {
 *     remora_model *model = NULL;
 *     remora_session *session = NULL;
 *     remora_prompt prompt;
 *     if (argc < 3) return 2;
 *     if (remora_model_open(argv[1], NULL, &model) != REMORA_OK) return fail();
 *     if (remora_session_create(model, NULL, &session) != REMORA_OK) return fail();
 *     remora_prompt_init(&prompt, sizeof prompt);
 *     prompt.text = argv[2];
 *     prompt.text_len = REMORA_NUL_TERMINATED;
 *     if (remora_session_generate(session, &prompt, on_audio, stdout) != REMORA_OK) return fail();
 *     remora_session_destroy(session);
 *     remora_model_destroy(model);
 *     return 0;
 *   }
 *
 * OBJECTS. A model (weights, tokenizer, codec) is immutable and shared by any number of sessions
 * and threads. A voice (an encoded reference) is immutable and shared too. A session (KV cache,
 * random generator, codec state) is used by one thread at a time. All are reference counted inside:
 * destroy them in any order; destroying NULL does nothing. There is no library-wide init or
 * shutdown.
 *
 * ERRORS. Functions that can fail return a remora_status: 0 is success, 1 the end of a generation,
 * negative values are errors. The text of the last error of the calling thread, always of the form
 * `what, where, what to do`, is remora_last_error(). Nothing here prints, exits, aborts or throws.
 * REMORA_E_INVALID_ARGUMENT, REMORA_E_BUSY, REMORA_E_FORKED, REMORA_E_ABI and
 * REMORA_E_OUT_OF_MEMORY can come from every function that returns a status and are listed at a
 * function only where they mean something special.
 *
 * MEMORY. The library never hands out memory for the caller to free. Functions with a buffer take
 * its capacity and set `needed` (in elements) always; with too little room they return
 * REMORA_E_BUFFER_TOO_SMALL and write nothing; NULL with capacity 0 asks for the size and returns
 * REMORA_OK. Out-pointers of create functions are set to NULL first.
 *
 * STRUCTS start with struct_size. Fill them with their *_init function, passing sizeof; defaults
 * live in the library, never in a binding. Where a params pointer is optional, NULL means the
 * defaults. Structs grow at the end only; an older, smaller struct is accepted.
 *
 * TEXT is UTF-8 with a length in bytes; REMORA_NUL_TERMINATED as the length measures up to the NUL.
 * Paths and names are NUL-terminated UTF-8.
 *
 * THREADS. Each function names its rule: "any thread", or "session thread" (one thread at a time; a
 * second call while one runs returns REMORA_E_BUSY). LibTorch's intra-op thread count is one number
 * per process and belongs to the host; see remora_set_threads().
 *
 * FORK. LibTorch does not survive fork(). In a forked child every call returns REMORA_E_FORKED.
 *
 * CALLBACKS get their user pointer first, run on the calling thread, must not unwind (no C++
 * exception, no longjmp) and may call remora_session_cancel() and remora_session_destroy() only.
 */
#ifndef REMORA_H_
#define REMORA_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define REMORA_CALL __cdecl
#if defined(REMORA_BUILDING)
#define REMORA_API __declspec(dllexport)
#else
#define REMORA_API __declspec(dllimport)
#endif
#else
#define REMORA_CALL
#define REMORA_API __attribute__((visibility("default")))
#endif

/* The number in the SONAME. It stays 0, with no promise between minor versions, until 1.0. */
#define REMORA_ABI_VERSION 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Scalars. Enumerations are int32_t in signatures, so an unknown value stays legal in bindings.
 * ------------------------------------------------------------------------------------------- */

typedef int32_t remora_status;
enum {
  REMORA_OK = 0,
  REMORA_END = 1,                 /* generation is finished; nothing was written */
  REMORA_E_INVALID_ARGUMENT = -1, /* a parameter is out of its range; the text names it */
  REMORA_E_INVALID_STATE = -2,    /* not valid now: no prompt yet, or the session failed before */
  REMORA_E_BUSY = -3,             /* another call runs on this session */
  REMORA_E_CANCELLED = -4,        /* stopped by remora_session_cancel or by a callback */
  REMORA_E_OUT_OF_MEMORY = -5,
  REMORA_E_IO = -6,          /* a file is missing or cannot be read or written */
  REMORA_E_FORMAT = -7,      /* a file's content is damaged or not what it should be */
  REMORA_E_UNSUPPORTED = -8, /* asked for something this build, device or model lacks */
  REMORA_E_BUFFER_TOO_SMALL = -9,
  REMORA_E_CONTEXT_FULL = -10, /* prompt and wanted frames do not fit the capacity */
  REMORA_E_DEVICE = -11,
  REMORA_E_ABI = -12,      /* struct_size or library versions do not fit together */
  REMORA_E_CALLBACK = -13, /* a reader callback failed */
  REMORA_E_FORKED = -14,
  REMORA_E_NUMERIC = -15, /* NaN or infinite logits, or nothing left to sample from */
  REMORA_E_INTERNAL = -16 /* a fault in the library: please report the text */
};

typedef int32_t remora_sdpa_policy;
enum {
  REMORA_SDPA_AUTO = 0,
  REMORA_SDPA_MATH = 1,
  REMORA_SDPA_FLASH = 2,
  REMORA_SDPA_EFFICIENT = 3,
  REMORA_SDPA_CUDNN = 4,
  REMORA_SDPA_BUILTIN = 5 /* reported only: remora's own attention, part of AUTO on the CPU */
};

typedef int32_t remora_kv_mode;
enum { REMORA_KV_ACTIVE_PREFIX = 0, REMORA_KV_FULL = 1, REMORA_KV_GRAPH = 2 };

typedef int32_t remora_device_kind;
enum {
  REMORA_DEVICE_AUTO = 0,
  REMORA_DEVICE_CPU = 1,
  REMORA_DEVICE_CUDA = 2,
  REMORA_DEVICE_MPS = 3
};

typedef int32_t remora_dtype;
enum { REMORA_DTYPE_AUTO = 0, REMORA_DTYPE_F32 = 1, REMORA_DTYPE_BF16 = 2, REMORA_DTYPE_F16 = 3 };

typedef int32_t remora_weights;
enum { REMORA_WEIGHTS_AS_DTYPE = 0, REMORA_WEIGHTS_INT8 = 1, REMORA_WEIGHTS_INT4 = 2 };

typedef int32_t remora_finish;
enum {
  REMORA_FINISH_NONE = 0,      /* still going, or nothing was asked yet */
  REMORA_FINISH_END_TOKEN = 1, /* the model ended by itself */
  REMORA_FINISH_LENGTH = 2,    /* max_frames or max_frames_per_byte was reached */
  REMORA_FINISH_CAPACITY = 3,  /* the context was full */
  REMORA_FINISH_CANCELLED = 4,
  REMORA_FINISH_ERROR = 5
};

typedef int32_t remora_log_level;
enum { REMORA_LOG_ERROR = 0, REMORA_LOG_WARN = 1, REMORA_LOG_INFO = 2, REMORA_LOG_DEBUG = 3 };

typedef int32_t remora_audio_format;
enum {
  REMORA_AUDIO_WAV_PCM16 = 0,
  REMORA_AUDIO_WAV_PCM24 = 1,
  REMORA_AUDIO_WAV_FLOAT = 2,
  REMORA_AUDIO_FLAC16 = 3,
  REMORA_AUDIO_FLAC24 = 4,
  REMORA_AUDIO_OGG_OPUS = 5
};

/* As a text length: measure up to the terminating NUL. */
#define REMORA_NUL_TERMINATED ((size_t)-1)

/* As a seed: draw one from the system; read it back in remora_stats.seed. */
#define REMORA_SEED_RANDOM UINT64_MAX

/* Sessions that one remora_sessions_step() takes. */
#define REMORA_STEP_SESSIONS_MAX 8

/* ---------------------------------------------------------------------------------------------
 * Opaque objects.
 * ------------------------------------------------------------------------------------------- */

typedef struct remora_source remora_source;   /* where a checkpoint's files come from */
typedef struct remora_model remora_model;     /* weights, tokenizer, codec */
typedef struct remora_voice remora_voice;     /* an encoded reference + its transcript */
typedef struct remora_session remora_session; /* one speaker's state: KV cache, RNG, codec */
typedef struct remora_codec_stream remora_codec_stream; /* exact piecewise decode */

/* ---------------------------------------------------------------------------------------------
 * Callbacks.
 * ------------------------------------------------------------------------------------------- */

typedef void(REMORA_CALL* remora_log_fn)(void* user, remora_log_level level, const char* utf8,
                                         size_t len);

/* fraction: 0 to 1. Non-zero stops the work with REMORA_E_CANCELLED. */
typedef int32_t(REMORA_CALL* remora_progress_fn)(void* user, float fraction);

/* n mono float samples at the model's sample rate, valid during the call only; `last` is non-zero
 * for the final piece (which may be empty). Non-zero stops with REMORA_E_CANCELLED. */
typedef int32_t(REMORA_CALL* remora_audio_fn)(void* user, const float* pcm, size_t n, int32_t last);

/* Called once when the memory lent to remora_source_add_memory is no longer needed. */
typedef void(REMORA_CALL* remora_release_fn)(void* user, const void* data, size_t len);

/* ---------------------------------------------------------------------------------------------
 * Structs.
 * ------------------------------------------------------------------------------------------- */

/* Files by callback: an asset pack, an encrypted archive, the network. Calls may come from the
 * threads that load or use a model made from it, one at a time per file. */
typedef struct remora_reader {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  void* user;
  /* Sets a handle and the size in bytes. REMORA_E_IO when there is no such file. */
  remora_status(REMORA_CALL* open)(void* user, const char* name, void** file, uint64_t* size);
  /* Reads exactly n bytes at offset and returns n; anything else is an error. */
  int64_t(REMORA_CALL* read_at)(void* user, void* file, uint64_t offset, void* dst, uint64_t n);
  void(REMORA_CALL* close)(void* user, void* file);
} remora_reader;

/* remora_model_params.flags */
enum {
  REMORA_MODEL_NO_ENCODER = 1, /* leave the codec's encoder out: voices from codes only */
  REMORA_MODEL_NO_CODEC = 2,   /* codes only, no sound */
  REMORA_MODEL_NO_LM = 4,      /* codec only: the folder may hold nothing else */
  REMORA_MODEL_TEXT_ONLY = 8,  /* configuration and tokenizer only: no weights are read */
  /* Measure what INT8 or INT4 loses while the weights are converted: remora_model_weight_error. */
  REMORA_MODEL_WEIGHT_ERRORS = 16
};

typedef struct remora_model_params {
  uint32_t struct_size;
  uint32_t flags;            /* REMORA_MODEL_* */
  remora_device_kind device; /* AUTO: CPU */
  int32_t device_index;
  remora_dtype dtype;          /* AUTO, CPU: F32 up to 4 GiB of it; BF16 above, and if quantised */
  remora_weights weights;      /* AS_DTYPE asked of a quantised checkpoint: as it holds them */
  remora_dtype codec_dtype;    /* AUTO: F32 */
  int32_t int4_group;          /* INT4: columns that share a scale, 32 or 64; 0 = 64 */
  remora_progress_fn progress; /* or NULL */
  void* progress_user;
} remora_model_params;

typedef struct remora_model_info {
  uint32_t struct_size;
  int32_t sample_rate;       /* Hz; 0 without a codec */
  int32_t samples_per_frame; /* 0 without a codec */
  int32_t n_codebooks;       /* codes per frame of the language model, else of the codec */
  int32_t codebook_size;     /* entries of the language model's code tables */
  int32_t max_seq_len;       /* columns the model was made for */
  int32_t vocab_size;
  int32_t semantic_begin; /* token id of semantic code 0 */
  int32_t semantic_end;   /* token id of the last semantic code */
  int32_t end_token;      /* id of <|im_end|> */
  remora_device_kind device;
  int32_t device_index;
  remora_dtype dtype;
  remora_weights weights;
  remora_dtype codec_dtype;
  int32_t has_lm;
  int32_t has_codec;
  int32_t has_encoder;
  char family[32];       /* "s2-pro", "s1-mini", "codec" */
  int32_t int4_group;    /* INT4: columns that share a scale; else 0 */
  int32_t saved_weights; /* the checkpoint is quantised: its weights are mapped, not converted */
} remora_model_info;

typedef struct remora_device_info {
  uint32_t struct_size;
  uint32_t flags;        /* 0 */
  char name[120];        /* UTF-8, NUL-terminated */
  uint64_t memory_total; /* bytes; 0 where it is not known */
  uint64_t memory_free;
} remora_device_info;

/* Mapped files count too. A session's cache is kv_per_position times its columns. */
typedef struct remora_memory {
  uint32_t struct_size;
  uint32_t flags;           /* 0 */
  uint64_t weights;         /* bytes of the language model's weights */
  uint64_t codec;           /* bytes of the codec's weights */
  uint64_t kv_per_position; /* bytes of K and V for one column */
} remora_memory;

/* What quantising lost, for one kind of matrix: all layers together, against the checkpoint's. */
typedef struct remora_weight_error {
  uint32_t struct_size;
  remora_weights weights;
  int32_t int4_group;   /* INT4: columns that share a scale; else 0 */
  float relative_error; /* root of sum (kept - original)^2 over sum original^2 */
  uint64_t numbers;     /* how many were compared */
  float largest_error;  /* |kept - original| */
  float largest_number; /* |original| */
  char layer[64];       /* "layers.*.attention.wqkv" */
} remora_weight_error;

/* remora_session_params.flags */
enum {
  REMORA_SESSION_KEEP_LOGITS = 1 /* keep what frames are drawn from: remora_session_logits */
};

typedef struct remora_session_params {
  uint32_t struct_size;
  uint32_t flags;   /* REMORA_SESSION_* */
  int32_t capacity; /* KV positions, 1 to max_seq_len; 0: follows the request and grows */
  remora_kv_mode kv_mode;
  remora_sdpa_policy sdpa;
  int32_t codec_chunk_first; /* frames of the first decoded piece, >= 1 */
  int32_t codec_chunk_next;  /* pieces grow to this many frames, >= codec_chunk_first */
  int32_t reserved0;
} remora_session_params;

/* Defaults: temperature 0.7, top_p 0.7, top_k 30, ras_window 10, max_frames_per_byte 5, seed 42,
 * the rest 0. */
typedef struct remora_sampling {
  uint32_t struct_size;
  uint32_t flags;            /* 0 */
  float temperature;         /* 0 to 2; 0 = greedy (argmax everywhere, no penalty) */
  float top_p;               /* above 0, to 1; the entry that crosses it goes too */
  int32_t top_k;             /* 1 or more; 1 = argmax */
  float repetition_penalty;  /* S1-mini only, 0.5 to 2; 0 = the family's default, 1 = off */
  int32_t max_frames;        /* frames per prompt piece; 0 = until the context is full */
  float max_frames_per_byte; /* bound tied to the text: 64 + this * bytes of the piece; 0 = off */
  int32_t ras_window;        /* S2-Pro: frames looked back at for repetitions, 0 to 64; 0 = off */
  int32_t reserved0;
  uint64_t seed; /* or REMORA_SEED_RANDOM */
} remora_sampling;

/* remora_prompt.flags */
enum {
  REMORA_PROMPT_CONTINUE = 1,      /* keep this session's earlier turns as context */
  REMORA_PROMPT_ALLOW_CONTROL = 2, /* control tokens typed in the text act as tokens */
  REMORA_PROMPT_NO_SPLIT = 4,      /* one piece, however long */
  REMORA_PROMPT_CLEAN_TEXT = 8     /* collapse white space (see docs/text.md) */
};

typedef struct remora_prompt {
  uint32_t struct_size;
  uint32_t flags;                    /* REMORA_PROMPT_* */
  const char* text;                  /* UTF-8 */
  uint64_t text_len;                 /* bytes, or REMORA_NUL_TERMINATED */
  const remora_voice* const* voices; /* speaker i is voices[i] */
  uint64_t n_voices;
  const int32_t* tokens; /* instead of text: [1 + n_codebooks, n_tokens] row-major */
  uint64_t n_tokens;     /* columns of `tokens` */
  uint64_t split_bytes;  /* long text is cut near this many bytes; 0 = 512 */
} remora_prompt;

typedef struct remora_frame {
  uint32_t struct_size;
  int32_t n_codes;         /* out: codes of the frame */
  int64_t position;        /* out: column of the frame in the context */
  int32_t* codes;          /* in: room for the codes, or NULL */
  uint64_t codes_capacity; /* in: elements of `codes` */
} remora_frame;

typedef struct remora_stats {
  uint32_t struct_size;
  remora_finish finish;
  remora_sdpa_policy sdpa_prefill; /* the backend that really ran in the last prefill */
  remora_sdpa_policy sdpa_step;    /* ... and in the last step */
  remora_kv_mode kv_mode;
  int32_t kv_len;      /* columns in the cache */
  int32_t kv_capacity; /* columns it has room for now */
  int32_t reserved0;
  uint64_t seed;          /* the seed in force */
  uint64_t prompt_tokens; /* columns of the last prompt */
  uint64_t reused_tokens; /* of them found in the cache already */
  uint64_t frames;        /* frames since the last prefill call, all pieces */
  uint64_t samples;       /* samples given to the caller since then */
  uint64_t kv_bytes;      /* bytes of the cache allocated now */
  uint64_t graph_captures;
  uint64_t text_done; /* bytes of the text whose pieces are finished */
  uint64_t pieces_done;
  uint64_t pieces;         /* pieces the text was cut into */
  uint64_t prefill_ns;     /* time in prefill since the last prefill call */
  uint64_t first_audio_ns; /* prefill call to the first samples; 0 before them */
  uint64_t step_ns;        /* time in steps */
  uint64_t codec_ns;       /* time in codec decoding */
} remora_stats;

/* ---------------------------------------------------------------------------------------------
 * Library.
 * ------------------------------------------------------------------------------------------- */

/* Version as major << 16 | minor << 8 | patch. Any thread. Since 0.1. */
REMORA_API uint32_t REMORA_CALL remora_version(void);

/* REMORA_ABI_VERSION of the loaded library: compare it with the header's. Any thread. Since 0.1. */
REMORA_API uint32_t REMORA_CALL remora_abi_version(void);

/* One line: remora's version, compiler, LibTorch built against and LibTorch loaded. Never NULL;
 * lives as long as the process. Any thread. Since 0.1. */
REMORA_API const char* REMORA_CALL remora_build_info(void);

/* "REMORA_E_IO" and the like; "REMORA_E_UNKNOWN" for other values. Any thread. Since 0.1. */
REMORA_API const char* REMORA_CALL remora_status_name(remora_status status);

/* The text of the calling thread's last error, "" before any. It is replaced by this thread's next
 * failing call and not cleared by a successful one. Never NULL. Any thread. Since 0.1. */
REMORA_API const char* REMORA_CALL remora_last_error(void);

/* Sends log lines up to `max_level` to `fn`, process-wide; NULL silences the log, which is the
 * state at start. Lines carry no trailing newline. The callback may come from any thread that calls
 * into the library. After this returns the old callback is not called again.
 * Returns REMORA_OK. Any thread, not from inside the callback. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_set_log(remora_log_fn fn, void* user,
                                                    remora_log_level max_level);

/* Sets LibTorch's intra-op thread count (1 to 1024) for the whole process: every user of LibTorch
 * in it is affected, which is why nothing else here does so. Results can differ in the last bits
 * between thread counts. Returns REMORA_E_INVALID_ARGUMENT outside the range. Any thread. Since
 * 0.1. */
REMORA_API remora_status REMORA_CALL remora_set_threads(int32_t intra_op);

/* How many devices of a kind this process can use: 1 for the CPU and AUTO. 0 for unknown kinds.
 * Any thread. Since 0.1. */
REMORA_API int32_t REMORA_CALL remora_device_count(remora_device_kind kind);

/* Name and memory of a device. REMORA_E_UNSUPPORTED for a kind that is not here,
 * REMORA_E_INVALID_ARGUMENT for an index that this kind does not have.
 * Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_device_describe(remora_device_kind kind, int32_t index,
                                                            remora_device_info* out);

/* Gives memory that freed models and sessions left with the allocator back to the system, where
 * that can be done. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_trim_memory(void);

/* ---------------------------------------------------------------------------------------------
 * Source: where a checkpoint's files come from. Needed only when one folder is not the answer.
 * ------------------------------------------------------------------------------------------- */

/* An empty source. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_create(remora_source** out);

/* All files of a folder, under their own names. Names already in the source keep their first
 * meaning. REMORA_E_IO when it is no folder. One thread at a time per source. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_add_dir(remora_source* source,
                                                           const char* utf8_dir);

/* The codec of another folder: its codec.safetensors or codec.pth, and as the codec's configuration
 * its codec.json, else its config.json when that one describes a codec. Takes the place of a codec
 * in a folder added before. REMORA_E_IO when there is no codec. One thread at a time. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_add_codec_dir(remora_source* source,
                                                                 const char* utf8_dir);

/* One file under the name a checkpoint gives it ("config.json", "model.safetensors", ...).
 * REMORA_E_IO when it cannot be opened. One thread at a time. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_add_path(remora_source* source, const char* name,
                                                            const char* utf8_path);

/* A file in memory, used in place without a copy. `release` (or NULL) is called once, when source
 * and models no longer need it, and also when this call fails. One thread at a time. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_add_memory(remora_source* source,
                                                              const char* name, const void* data,
                                                              size_t len, remora_release_fn release,
                                                              void* user);

/* `len` bytes at `offset` of an open file descriptor (an Android asset); it is duplicated, the
 * caller may close its own. REMORA_E_IO when the range is not readable. One thread at a time. Since
 * 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_add_fd(remora_source* source, const char* name,
                                                          int32_t fd, uint64_t offset,
                                                          uint64_t len);

/* Names that were not added are asked of the reader, which is copied. The user pointer must outlive
 * the source and every model made from it. One thread at a time. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_source_set_reader(remora_source* source,
                                                              const remora_reader* reader);

/* Any thread; models made from it stay valid. Since 0.1. */
REMORA_API void REMORA_CALL remora_source_destroy(remora_source* source);

/* ---------------------------------------------------------------------------------------------
 * Model.
 * ------------------------------------------------------------------------------------------- */

/* Fills in the defaults. REMORA_E_ABI when struct_size is smaller than any released one.
 * Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_params_init(remora_model_params* params,
                                                              uint32_t struct_size);

/* Loads a checkpoint folder. `params` may be NULL. A folder without a codec gives a model without
 * sound. Weights are mapped, not read, where their type is the one computed with.
 * REMORA_E_IO: folder or file missing. REMORA_E_FORMAT: damaged or mismatched file; the text names
 * file, tensor and reason. REMORA_E_UNSUPPORTED: unknown model type, device or precision,
 * or weights that a quantised checkpoint does not hold.
 * REMORA_E_CANCELLED: the progress callback asked to stop. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_open(const char* utf8_dir,
                                                       const remora_model_params* params,
                                                       remora_model** out);

/* The same from a source. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_create(remora_source* source,
                                                         const remora_model_params* params,
                                                         remora_model** out);

/* What remora_model_memory of a model created so would report, before it is loaded: configuration,
 * tokenizer and the headers of the weight files are read, no weights, and `progress` is not called.
 * Fails as remora_model_create does, of missing or misshaped tensors too. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_estimate(remora_source* source,
                                                           const remora_model_params* params,
                                                           remora_memory* out);

/* Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_describe(const remora_model* model,
                                                           remora_model_info* out);

/* Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_memory(const remora_model* model,
                                                         remora_memory* out);

/* Text to token ids, as inside a prompt. `flags`: 0, or REMORA_PROMPT_ALLOW_CONTROL to let typed
 * control tokens act. REMORA_E_UNSUPPORTED for a codec-only model. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_tokenize(const remora_model* model,
                                                           const char* utf8, size_t len,
                                                           uint32_t flags, int32_t* ids,
                                                           size_t capacity, size_t* needed);

/* The prompt matrix that remora_session_prefill would feed for the first piece of `prompt`:
 * [1 + n_codebooks, columns] row-major; `needed` is the number of elements. Any thread. Since 0.1.
 */
REMORA_API remora_status REMORA_CALL remora_model_prompt(const remora_model* model,
                                                         const remora_prompt* prompt,
                                                         int32_t* tokens, size_t capacity,
                                                         size_t* needed);

/* Writes the language model's INT8 or INT4 weights as the model.safetensors of a quantised
 * checkpoint (docs/quantised-format.md): beside the other files of its checkpoint it loads by
 * mapping, without converting. The file appears under its name when it is whole; after an error
 * nothing is left behind. `progress` may be NULL.
 * REMORA_E_UNSUPPORTED: the weights are not quantised. REMORA_E_IO: cannot be written.
 * REMORA_E_CANCELLED: `progress` asked to stop. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_save_weights(const remora_model* model,
                                                               const char* utf8_path,
                                                               remora_progress_fn progress,
                                                               void* user);

/* What quantising lost, for the kind of matrix that has this number, from 0 on in the model's
 * order. REMORA_END: there are no more. REMORA_E_INVALID_STATE: nothing was measured: the model was
 * loaded without REMORA_MODEL_WEIGHT_ERRORS, or its weights are not quantised, or were so in the
 * checkpoint. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_model_weight_error(const remora_model* model,
                                                               size_t index,
                                                               remora_weight_error* out);

/* Any thread; sessions and voices of it stay valid. Since 0.1. */
REMORA_API void REMORA_CALL remora_model_destroy(remora_model* model);

/* ---------------------------------------------------------------------------------------------
 * Voice.
 * ------------------------------------------------------------------------------------------- */

/* A voice from codes: [n_codebooks, n_frames] row-major, with the words spoken in it.
 * REMORA_E_INVALID_ARGUMENT: a code out of range (named by position), no frames, or an empty
 * transcript. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_voice_from_codes(const remora_model* model,
                                                             const int32_t* codes, size_t n_frames,
                                                             const char* transcript,
                                                             size_t transcript_len,
                                                             remora_voice** out);

/* A voice from sound: interleaved float samples of `channels` (mixed to mono) at `rate` Hz (4000 to
 * 192000, resampled), and the words spoken in it. At least 0.2 s; more than 90 s is allowed with a
 * warning in the log. REMORA_E_INVALID_ARGUMENT: too short, silent, or an empty transcript.
 * REMORA_E_UNSUPPORTED: the model has no encoder. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_voice_create(const remora_model* model,
                                                         const float* interleaved, size_t n_frames,
                                                         int32_t channels, int32_t rate,
                                                         const char* transcript,
                                                         size_t transcript_len, remora_voice** out);

/* The same from a sound file of any kind that libsndfile reads; the content decides, not the name.
 * REMORA_E_IO: missing. REMORA_E_FORMAT: not a readable sound file. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_voice_open(const remora_model* model,
                                                       const char* utf8_path,
                                                       const char* transcript,
                                                       size_t transcript_len, remora_voice** out);

/* The voice as bytes, to keep and to load again. `needed` is in bytes. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_voice_save(const remora_voice* voice, void* dst,
                                                       size_t capacity, size_t* needed);

/* REMORA_E_FORMAT: damaged, cut or no voice. REMORA_E_INVALID_ARGUMENT: made for a model of another
 * shape or with another codec. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_voice_load(const remora_model* model, const void* src,
                                                       size_t len, remora_voice** out);

/* Any thread; sessions that use it stay valid. Since 0.1. */
REMORA_API void REMORA_CALL remora_voice_destroy(remora_voice* voice);

/* ---------------------------------------------------------------------------------------------
 * Session. prefill takes a prompt, step makes one frame of codes, read_pcm gives the sound that is
 * ready. A long text is cut into pieces; step goes on to the next by itself. generate is sugar over
 * the three. After an error that is not about an argument only reset, stats and destroy are valid.
 * ------------------------------------------------------------------------------------------- */

/* Fills in the defaults. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_params_init(remora_session_params* params,
                                                                uint32_t struct_size);
/* Fills in the defaults. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_sampling_init(remora_sampling* sampling,
                                                          uint32_t struct_size);
/* An empty prompt. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_prompt_init(remora_prompt* prompt,
                                                        uint32_t struct_size);

/* `params` may be NULL. REMORA_E_UNSUPPORTED: the model has no language model, or the device lacks
 * the SDPA backend asked for. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_create(const remora_model* model,
                                                           const remora_session_params* params,
                                                           remora_session** out);

/* Does the first-use work (memory, kernels, threads) now in place of in the first request: a short
 * prompt, one frame, one codec piece; leaves the session as after reset. Session thread. Since 0.1.
 */
REMORA_API remora_status REMORA_CALL remora_session_warmup(remora_session* session);

/* Sampling for the prompts that follow; restarts the random stream from the seed. Without it the
 * defaults hold. REMORA_E_INVALID_ARGUMENT names the field; REMORA_E_UNSUPPORTED for a repetition
 * penalty on a family that has none. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_set_sampling(remora_session* session,
                                                                 const remora_sampling* sampling);

/* Takes a prompt and runs the model over its first piece. Columns the session already holds are
 * reused. Ends a generation that was still going. The random stream restarts from the seed, so
 * equal requests give equal results whatever ran before. REMORA_E_INVALID_ARGUMENT: invalid UTF-8
 * (with byte offset), nothing to say, a voice of another model. REMORA_E_CONTEXT_FULL: prompt and
 * max_frames do not fit; nothing was done. REMORA_E_CANCELLED. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_prefill(remora_session* session,
                                                            const remora_prompt* prompt);

/* Makes one frame. `out` may be NULL. REMORA_END: no frame was made, the generation is over; stats
 * tell why. REMORA_E_INVALID_STATE: no prompt yet. REMORA_E_BUFFER_TOO_SMALL: `out` has room for
 * fewer codes (n_codes is set, no frame was made). REMORA_E_NUMERIC. REMORA_E_CANCELLED.
 * Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_step(remora_session* session,
                                                         remora_frame* out);

/* EXPERIMENTAL: may change in any release. One frame for each of several sessions of one model,
 * over one read of its weights: what bounds a step on a CPU is reading them, so a few sessions
 * together take little longer than one. 1 to REMORA_STEP_SESSIONS_MAX sessions, each once.
 *
 * For each session i: statuses[i] becomes what remora_session_step() would have returned (an end,
 * an error or a cancel of one leaves the others going), and frames[i] takes its frame; `frames`
 * and its entries may be NULL. Codes equal those of remora_session_step() within rounding: two
 * results that nearly tie may swap. Where steps do not run in one go (a GPU, another KV mode or
 * SDPA policy) the sessions are stepped one after the other.
 *
 * Returns REMORA_OK when the sessions were stepped, whatever became of each; remora_last_error()
 * then tells about the last one that failed. REMORA_E_INVALID_ARGUMENT: too many sessions, one of
 * them twice, or of another model; REMORA_E_BUSY: a call is running on one of them;
 * REMORA_E_BUFFER_TOO_SMALL as above. No session was stepped then and no status set. Session thread
 * of all of them. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_sessions_step(remora_session* const* sessions,
                                                          size_t n_sessions,
                                                          remora_frame* const* frames,
                                                          remora_status* statuses);

/* The logits that frames are drawn from, before penalty, temperature and filters. Only with
 * REMORA_SESSION_KEEP_LOGITS. `needed` is in floats.
 *
 * Codebook 0: what the next frame's code 0 is drawn from. There once the context has columns, and
 * still after REMORA_END: an end token was drawn from these. One entry for each semantic token and
 * one for the end token, by ascending id (model_info: semantic_begin to semantic_end, end_token);
 * code 0 is the drawn token less semantic_begin.
 *
 * Codebook 1 and up: what that code of the last frame was drawn from, until the next prefill,
 * rewind, load or reset. Entry i is code i; codes that are never drawn have none.
 *
 * REMORA_E_INVALID_ARGUMENT: no such codebook. REMORA_E_INVALID_STATE: nothing was kept yet, or the
 * session was made without the flag. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_logits(const remora_session* session,
                                                           int32_t codebook, float* out,
                                                           size_t capacity, size_t* needed);

/* Gives decoded samples: up to `capacity` floats, mono. Decodes when enough frames have gathered
 * for the next piece (codec_chunk_first, growing to codec_chunk_next), and all that is left once
 * step has returned REMORA_END. Writes 0 samples when more steps are needed, and returns REMORA_END
 * when the generation is over and everything was read. The sum is frames * samples_per_frame.
 * REMORA_E_UNSUPPORTED: the model has no codec. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_read_pcm(remora_session* session, float* dst,
                                                             size_t capacity, size_t* written);

/* prefill, then step and read_pcm until the end, sound going to `on_audio` as it is ready.
 * REMORA_OK when the generation ended (also by a length limit: see stats.finish).
 * REMORA_E_CANCELLED when `on_audio` returned non-zero. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_generate(remora_session* session,
                                                             const remora_prompt* prompt,
                                                             remora_audio_fn on_audio, void* user);

/* Asks the running call, or else the next one, to stop with REMORA_E_CANCELLED: within one step,
 * one prefill chunk or one codec piece. Stays in force until reset. Any thread, also from
 * callbacks; any number of times. Since 0.1. */
REMORA_API void REMORA_CALL remora_session_cancel(remora_session* session);

/* Back to the state after create; sampling stays. Clears an error and a cancel.
 * Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_reset(remora_session* session);

/* Columns in the context, or a negative status. Session thread. Since 0.1. */
REMORA_API int64_t REMORA_CALL remora_session_position(const remora_session* session);

/* Forgets the columns from `position` (0 to remora_session_position) on, and ends a generation that
 * was going; the next prefill reuses what is left. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_rewind(remora_session* session,
                                                           int64_t position);

/* An independent session in the same state, mid-generation too: both go on alike.
 * Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_clone(const remora_session* session,
                                                          remora_session** out);

/* The whole state (columns, cache, random stream, codec) as bytes. `needed` is in bytes.
 * Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_save(const remora_session* session, void* dst,
                                                         size_t capacity, size_t* needed);

/* Takes up a saved state. REMORA_E_FORMAT: damaged, or of another version.
 * REMORA_E_INVALID_ARGUMENT: saved with another model or precision, or too long for this capacity;
 * the session is then unchanged. Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_load(remora_session* session, const void* src,
                                                         size_t len);

/* Session thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_session_stats(const remora_session* session,
                                                          remora_stats* out);

/* Cancels a running call of another thread, waits for it to return, and frees the session. From
 * inside a callback of this session it is freed when that call returns. Any thread. Since 0.1. */
REMORA_API void REMORA_CALL remora_session_destroy(remora_session* session);

/* ---------------------------------------------------------------------------------------------
 * Codec.
 * ------------------------------------------------------------------------------------------- */

/* Sound to codes: interleaved samples as in remora_voice_create (any length of at least one sample)
 * to [n_codebooks, ceil(samples / samples_per_frame)] row-major. `needed` is in codes.
 * REMORA_E_UNSUPPORTED: no encoder. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_codec_encode(const remora_model* model,
                                                         const float* interleaved, size_t n_frames,
                                                         int32_t channels, int32_t rate,
                                                         int32_t* codes, size_t capacity,
                                                         size_t* needed);

/* Whole clip: codes [n_codebooks, n_frames] row-major to n_frames * samples_per_frame samples.
 * `needed` is in samples. REMORA_E_INVALID_ARGUMENT: a negative code (a code past its table is
 * clamped). REMORA_E_UNSUPPORTED: no codec. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_codec_decode(const remora_model* model,
                                                         const int32_t* codes, size_t n_frames,
                                                         float* pcm, size_t capacity,
                                                         size_t* needed);

/* Exact piecewise decode: the pieces joined equal the whole clip within 2e-5. Any thread.
 * Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_codec_stream_create(const remora_model* model,
                                                                remora_codec_stream** out);

/* The next frames, any number; layout and result as in remora_codec_decode. With too small a
 * buffer nothing is consumed. One thread at a time. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_codec_stream_push(remora_codec_stream* stream,
                                                              const int32_t* codes, size_t n_frames,
                                                              float* pcm, size_t capacity,
                                                              size_t* needed);

/* Back to the start of a clip. One thread at a time. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_codec_stream_reset(remora_codec_stream* stream);

/* Since 0.1. */
REMORA_API void REMORA_CALL remora_codec_stream_destroy(remora_codec_stream* stream);

/* ---------------------------------------------------------------------------------------------
 * Audio files.
 * ------------------------------------------------------------------------------------------- */

typedef struct remora_audio_info {
  uint32_t struct_size;
  int32_t sample_rate; /* Hz */
  int32_t channels;
  int32_t reserved0;
  uint64_t frames; /* samples per channel that are really there */
} remora_audio_info;

/* Rate, channels and length of a sound file; the length is counted, not taken from the header.
 * REMORA_E_IO: missing. REMORA_E_FORMAT: not readable. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_audio_describe(const char* utf8_path,
                                                           remora_audio_info* out);

/* A whole sound file as interleaved float samples. `needed` is in samples (frames * channels).
 * Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_audio_read(const char* utf8_path, float* interleaved,
                                                       size_t capacity, size_t* needed);

/* Float samples to 16 bits: floor(x * 32768), saturated; NaN becomes 0. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_audio_to_s16(const float* samples, size_t n,
                                                         int16_t* out);

/* The WAV header to send before samples of unknown number into a pipe: sizes 0xFFFFFFFF. `format`
 * is one of the WAV formats. `needed` is in bytes. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_audio_stream_header(remora_audio_format format,
                                                                int32_t channels, int32_t rate,
                                                                void* dst, size_t capacity,
                                                                size_t* needed);

/* Writes interleaved samples (-1 to 1; louder ones saturate, NaN becomes 0). The file appears under
 * its name only when it is complete. channels 1 to 64, rate 1 to 768000 (Opus: 8000, 12000, 16000,
 * 24000, 48000). REMORA_E_IO: cannot be written. Any thread. Since 0.1. */
REMORA_API remora_status REMORA_CALL remora_audio_write(const char* utf8_path,
                                                        const float* interleaved, size_t n_frames,
                                                        int32_t channels, int32_t rate,
                                                        remora_audio_format format);

#ifdef __cplusplus
}
#endif

#endif /* REMORA_H_ */
