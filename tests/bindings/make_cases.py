"""Writes cases.json beside this script: results of the C library that every binding must reproduce.

usage: make_cases.py LIBRARY TINY_DIR [OUTPUT]
  LIBRARY   libremora.so
  TINY_DIR  the build's tiny checkpoints: a folder with s2-pro/ and s1-mini/
  OUTPUT    the file to write; by default cases.json beside this script
"""

import ctypes
import json
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from remora_c import Library  # noqa: E402

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
ALLOW_CONTROL = 2

MODELS = {
    "golden": {"dir": "lm/s2pro_tiny", "codec_dir": "codec"},
    "tiny": {"tiny": "s2-pro"},
}
# name, model, text, flags, frames. For the golden texts with control tokens allowed it is known that
# the best two logits of every choice are at least 0.004 apart, so that another machine's rounding
# changes no code; the others are kept short instead.
SPEECH = [
    ("ascii", "golden", "Hello world.", ALLOW_CONTROL, 14),
    ("chinese", "golden", "你好，世界！今天天气很好。", ALLOW_CONTROL, 14),
    ("emoji", "golden", "I love it 😀👍🏽 👨\u200d👩\u200d👧\u200d👦!", ALLOW_CONTROL, 14),
    ("mixed", "golden", "Fish 语音 TTS テスト v2.0 — café ñandú 12345, don't stop!", ALLOW_CONTROL, 8),
    ("tags", "golden", "[whisper] come closer [excited] now! [pitch up]", ALLOW_CONTROL, 8),
    ("control", "golden", "Ignore <|im_end|> this <|semantic:5|> and <|voice|> that.",
     ALLOW_CONTROL, 8),
    ("typed control is text", "golden", "Ignore <|im_end|> this.", 0, 4),
    ("cyrillic", "golden", "Привет, мир!", 0, 4),
    # Cyrillic, Han, an emoji, an accent as a mark of its own (NFD), and a tag.
    ("many scripts", "golden", "[whisper] Привет, 世界 😀 cafe\u0301!", 0, 4),
    ("tiny ascii", "tiny", "Hello from remora.", 0, 10),
    ("tiny cyrillic", "tiny", "Съешь ещё этих мягких булок.", 0, 6),
]
# A text of more than a megabyte: this unit, again and again.
LONG_UNIT = "Привет, 世界 😀 cafe\u0301! "
LONG_REPEATS = 32000
ERRORS = [
    {"name": "a folder that is not there", "call": "open_model", "path": "no such model"},
    {"name": "a folder with a name of many scripts", "call": "open_model", "path": "нет/没有/😀"},
    {"name": "the memory of nothing", "call": "estimate"},
    {"name": "nothing to say", "call": "prefill", "prompt": ""},
    {"name": "only white space", "call": "prefill", "prompt": " \n\t"},
    {"name": "a step before any prompt", "call": "step"},
    {"name": "logits that the session was not asked to keep", "call": "logits", "codebook": 0},
    {"name": "logits of a codebook that is not there", "call": "logits", "codebook": 6},
    {"name": "more than everything", "call": "set_sampling", "field": "top_p", "value": 1.5},
    {"name": "no candidate", "call": "set_sampling", "field": "top_k", "value": 0},
    {"name": "a context that is too short", "call": "prefill", "prompt": "Hello world.",
     "max_frames": 100000},
    {"name": "cancelled before it began", "call": "cancelled_prefill", "prompt": "Hello world."},
    {"name": "a negative code", "call": "decode", "codes": [0, 0, 0, 0, 0, -1], "frames": 1},
    {"name": "a voice without words", "call": "voice", "codes": [0, 0, 0, 0, 0, 0], "frames": 1,
     "transcript": ""},
    {"name": "bytes that are no voice", "call": "load_voice", "bytes": [1, 2, 3]},
]


def open_model(library: Library, tiny_dir: Path, model: dict) -> ctypes.c_void_p:
    if "tiny" in model:
        return library.open_dirs(tiny_dir / model["tiny"])
    return library.open_dirs(DATA / model["dir"], DATA / model["codec_dir"])


def speech_case(library: Library, model: ctypes.c_void_p, case: tuple) -> dict:
    name, model_name, text, flags, frames = case
    session = library.greedy_session(model, frames)
    library.check(library.prefill(session, text, flags))
    codes = library.all_frames(session, model)
    pcm = library.all_pcm(session)
    rms = math.sqrt(sum(x * x for x in pcm) / len(pcm))
    library.call.remora_session_destroy(session)
    return {"name": name, "model": model_name, "text": text, "flags": flags, "max_frames": frames,
            "ids": library.tokenize(model, text, flags),
            "prompt_elements": library.prompt_elements(model, text, flags), "codes": codes,
            "samples": len(pcm), "rms": float(f"{rms:.6g}")}


def long_text_case(library: Library, model: ctypes.c_void_p) -> dict:
    """Too many ids to write down: how many there are, and a sum over them modulo 2^32."""
    ids = library.tokenize(model, LONG_UNIT * LONG_REPEATS, 0)
    rolling = 0
    for token in ids:
        rolling = (rolling * 31 + token) % 2**32
    return {"model": "golden", "unit": LONG_UNIT, "repeats": LONG_REPEATS, "ids": len(ids),
            "rolling": rolling}


def failing_status(library: Library, model: ctypes.c_void_p, case: dict) -> int:
    """Runs what `case` names, on the golden model, and returns its status."""
    call, out = library.call, ctypes.c_void_p()
    if case["call"] == "open_model":
        return call.remora_model_open(case["path"].encode(), None, ctypes.byref(out))
    if case["call"] == "estimate":
        return library.estimate_nothing()
    if case["call"] in {"decode", "voice"}:
        return library.use_codes(model, case)
    if case["call"] == "load_voice":
        data = bytes(case["bytes"])
        return call.remora_voice_load(model, data, ctypes.c_size_t(len(data)), ctypes.byref(out))
    session = library.greedy_session(model, case.get("max_frames", 4))
    if case["call"] == "set_sampling":
        status = library.set_sampling(session, **{case["field"]: case["value"]})
    elif case["call"] == "step":
        status = call.remora_session_step(session, None)
    elif case["call"] == "logits":
        status = call.remora_session_logits(session, case["codebook"], None, ctypes.c_size_t(0),
                                            ctypes.byref(ctypes.c_size_t()))
    else:
        if case["call"] == "cancelled_prefill":
            call.remora_session_cancel(session)
        status = library.prefill(session, case["prompt"], 0)
    library.call.remora_session_destroy(session)
    return status


def error_case(library: Library, model: ctypes.c_void_p, case: dict) -> dict:
    status = failing_status(library, model, case)
    if status >= 0:
        raise SystemExit(f"{case['name']}: did not fail")
    return {**case, "status": status, "text": library.last_error()}


def write(path: Path, cases: dict) -> None:
    """One case is one line, so that a change shows as the cases it touches."""
    blocks = []
    for key, value in cases.items():
        if isinstance(value, list):
            lines = ",\n".join("    " + json.dumps(item, ensure_ascii=False) for item in value)
            blocks.append(f'  "{key}": [\n{lines}\n  ]')
        else:
            blocks.append(f'  "{key}": {json.dumps(value, ensure_ascii=False)}')
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    library = Library(sys.argv[1])
    library.check(library.call.remora_set_threads(1))  # the last bits depend on the thread count
    models = {name: open_model(library, Path(sys.argv[2]), model)
              for name, model in MODELS.items()}
    cases = {
        "models": MODELS,
        # Other piece lengths and other vector units change the sound by less than 2e-5 a sample.
        "rms_tolerance": 1e-3,
        "speech": [speech_case(library, models[case[1]], case) for case in SPEECH],
        "long_text": long_text_case(library, models["golden"]),
        "errors_model": "golden",
        "errors": [error_case(library, models["golden"], case) for case in ERRORS],
    }
    write(Path(sys.argv[3]) if len(sys.argv) > 3 else HERE / "cases.json", cases)


if __name__ == "__main__":
    main()
