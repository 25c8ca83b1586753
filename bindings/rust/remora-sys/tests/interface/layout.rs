//! Sizes, offsets and types as the C compiler sees them (`tests/abi/layout.txt`), and constants.

use std::any::type_name;
use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};

use remora_sys::*;

use crate::header;

struct Member {
    offset: usize,
    size: usize,
    kind: &'static str,
    name: &'static str,
}

struct Layout {
    size: usize,
    members: Vec<Member>,
}

fn member<T, F>(_: fn(&T) -> &F, offset: usize, name: &'static str) -> Member {
    Member { offset, size: size_of::<F>(), kind: type_name::<F>(), name }
}

macro_rules! layouts {
    ($($kind:ident { $($field:ident)* })*) => {
        BTreeMap::from([$((stringify!($kind), Layout {
            size: size_of::<$kind>(),
            members: vec![$(
                member(|s: &$kind| &s.$field, offset_of!($kind, $field), stringify!($field))
            ),*],
        })),*])
    };
}

macro_rules! constants {
    ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), i64::from($name))),*]) };
}

#[rustfmt::skip]
fn layouts() -> BTreeMap<&'static str, Layout> {
    layouts! {
        remora_reader { struct_size flags user open read_at close }
        remora_model_params {
            struct_size flags device device_index dtype weights codec_dtype int4_group progress
            progress_user
        }
        remora_model_info {
            struct_size sample_rate samples_per_frame n_codebooks codebook_size max_seq_len
            vocab_size semantic_begin semantic_end end_token device device_index dtype weights
            codec_dtype has_lm has_codec has_encoder family int4_group saved_weights
        }
        remora_device_info { struct_size flags name memory_total memory_free }
        remora_memory { struct_size flags weights codec kv_per_position }
        remora_weight_error {
            struct_size weights int4_group relative_error numbers largest_error largest_number layer
        }
        remora_session_params {
            struct_size flags capacity kv_mode sdpa codec_chunk_first codec_chunk_next reserved0
        }
        remora_sampling {
            struct_size flags temperature top_p top_k repetition_penalty max_frames
            max_frames_per_byte ras_window reserved0 seed
        }
        remora_prompt {
            struct_size flags text text_len voices n_voices tokens n_tokens split_bytes
        }
        remora_frame { struct_size n_codes position codes codes_capacity }
        remora_stats {
            struct_size finish sdpa_prefill sdpa_step kv_mode kv_len kv_capacity reserved0 seed
            prompt_tokens reused_tokens frames samples kv_bytes graph_captures text_done pieces_done
            pieces prefill_ns first_audio_ns step_ns codec_ns
        }
        remora_audio_info { struct_size sample_rate channels reserved0 frames }
    }
}

#[rustfmt::skip]
fn constants() -> BTreeMap<&'static str, i64> {
    constants! {
        REMORA_OK REMORA_END REMORA_E_INVALID_ARGUMENT REMORA_E_INVALID_STATE REMORA_E_BUSY
        REMORA_E_CANCELLED REMORA_E_OUT_OF_MEMORY REMORA_E_IO REMORA_E_FORMAT REMORA_E_UNSUPPORTED
        REMORA_E_BUFFER_TOO_SMALL REMORA_E_CONTEXT_FULL REMORA_E_DEVICE REMORA_E_ABI
        REMORA_E_CALLBACK REMORA_E_FORKED REMORA_E_NUMERIC REMORA_E_INTERNAL REMORA_SDPA_AUTO
        REMORA_SDPA_MATH REMORA_SDPA_FLASH REMORA_SDPA_EFFICIENT REMORA_SDPA_CUDNN
        REMORA_SDPA_BUILTIN
        REMORA_KV_ACTIVE_PREFIX REMORA_KV_FULL REMORA_KV_GRAPH REMORA_DEVICE_AUTO REMORA_DEVICE_CPU
        REMORA_DEVICE_CUDA REMORA_DEVICE_MPS REMORA_DTYPE_AUTO REMORA_DTYPE_F32 REMORA_DTYPE_BF16
        REMORA_DTYPE_F16 REMORA_WEIGHTS_AS_DTYPE REMORA_WEIGHTS_INT8 REMORA_WEIGHTS_INT4
        REMORA_FINISH_NONE REMORA_FINISH_END_TOKEN REMORA_FINISH_LENGTH REMORA_FINISH_CAPACITY
        REMORA_FINISH_CANCELLED REMORA_FINISH_ERROR REMORA_LOG_ERROR REMORA_LOG_WARN REMORA_LOG_INFO
        REMORA_LOG_DEBUG REMORA_AUDIO_WAV_PCM16 REMORA_AUDIO_WAV_PCM24 REMORA_AUDIO_WAV_FLOAT
        REMORA_AUDIO_FLAC16 REMORA_AUDIO_FLAC24 REMORA_AUDIO_OGG_OPUS REMORA_MODEL_NO_ENCODER
        REMORA_MODEL_NO_CODEC REMORA_MODEL_NO_LM REMORA_MODEL_TEXT_ONLY REMORA_MODEL_WEIGHT_ERRORS
        REMORA_SESSION_KEEP_LOGITS
        REMORA_PROMPT_CONTINUE REMORA_PROMPT_ALLOW_CONTROL REMORA_PROMPT_NO_SPLIT
        REMORA_PROMPT_CLEAN_TEXT
    }
}

/// What `type_name` says of a type written as in the table.
fn rust_type_name(c: &str) -> String {
    if c == "callback" || c.ends_with("_fn") {
        return "core::option::Option<unsafe extern \"C\" fn(".to_owned();
    }
    if let Some((element, count)) = c.split_once('[') {
        return format!("[{}; {count}", rust_type_name(element));
    }
    let name = header::rust_type(&c.replace("const_", "const "));
    let (pointer, base) = name.rsplit_once(' ').map_or(("", name.as_str()), |(p, b)| (p, b));
    let base = match base {
        "c_char" => type_name::<std::ffi::c_char>(),
        "c_void" => type_name::<std::ffi::c_void>(),
        "remora_voice" => type_name::<remora_voice>(),
        enumeration if enumeration.starts_with("remora_") => "i32",
        scalar => scalar,
    };
    format!("{pointer} {base}").trim().to_owned()
}

/// The golden table without blank lines: constants, and structs with their members' lines.
struct Table {
    constants: BTreeMap<String, i64>,
    structs: Vec<(String, usize, Vec<String>)>,
}

fn golden() -> Table {
    let text = crate::read(&crate::root().join("tests/abi/layout.txt"));
    let mut table = Table { constants: BTreeMap::new(), structs: Vec::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["constant", name, value] => {
                table.constants.insert(name.to_owned(), value.parse().expect("a number"));
            }
            ["struct", name, size] => {
                table.structs.push((name.to_owned(), size.parse().expect("a size"), Vec::new()));
            }
            _ => table.structs.last_mut().expect("a struct before members").2.push(line.to_owned()),
        }
    }
    table
}

#[test]
#[cfg(target_pointer_width = "64")]
fn structs_lie_in_memory_as_in_c() {
    let rust = layouts();
    let golden = golden();
    let mut compared = 0;
    for (name, size, lines) in &golden.structs {
        let layout = rust.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not declared"));
        assert_eq!(layout.size, *size, "size of {name}");
        assert_eq!(layout.members.len(), lines.len(), "members of {name}");
        for (member, line) in layout.members.iter().zip(lines) {
            let golden: Vec<&str> = line.split_whitespace().collect();
            let expected =
                [&member.offset.to_string(), &member.size.to_string(), golden[2], member.name];
            assert_eq!(golden, expected, "{name}");
            let kind = rust_type_name(golden[2]);
            assert!(member.kind.starts_with(&kind), "{name}.{}: {kind}", member.name);
            compared += 1;
        }
    }
    assert_eq!(rust.len(), golden.structs.len(), "structs that C does not know");
    assert!(compared > 90, "{compared} members were compared");
}

#[test]
fn every_struct_of_the_header_is_compared() {
    let header = header::struct_names(&header::code(&crate::header_text()));
    let mut names: Vec<&str> = header.iter().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, layouts().into_keys().collect::<Vec<_>>());
}

#[test]
fn constants_have_the_values_of_c() {
    let rust: BTreeMap<String, i64> =
        constants().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(rust, golden().constants);
}
