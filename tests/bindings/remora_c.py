"""The few calls of the C interface that make_cases.py needs, by ctypes."""

import ctypes
from pathlib import Path


class Sampling(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("temperature", ctypes.c_float), ("top_p", ctypes.c_float),
                ("top_k", ctypes.c_int32), ("repetition_penalty", ctypes.c_float),
                ("max_frames", ctypes.c_int32), ("max_frames_per_byte", ctypes.c_float),
                ("ras_window", ctypes.c_int32), ("reserved0", ctypes.c_int32),
                ("seed", ctypes.c_uint64)]


class Prompt(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("text", ctypes.c_char_p), ("text_len", ctypes.c_uint64),
                ("voices", ctypes.c_void_p), ("n_voices", ctypes.c_uint64),
                ("tokens", ctypes.c_void_p), ("n_tokens", ctypes.c_uint64),
                ("split_bytes", ctypes.c_uint64)]


class Frame(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("n_codes", ctypes.c_int32),
                ("position", ctypes.c_int64), ("codes", ctypes.POINTER(ctypes.c_int32)),
                ("codes_capacity", ctypes.c_uint64)]


class ModelInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("sample_rate", ctypes.c_int32),
                ("samples_per_frame", ctypes.c_int32), ("n_codebooks", ctypes.c_int32),
                ("rest", ctypes.c_int32 * 14), ("family", ctypes.c_char * 32)]


class Memory(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("weights", ctypes.c_uint64), ("codec", ctypes.c_uint64),
                ("kv_per_position", ctypes.c_uint64)]


class Library:
    """libremora with failures as exceptions. Handles are c_void_p: never plain ints, which ctypes
    would cut to 32 bits."""

    def __init__(self, path: str) -> None:
        self.call = ctypes.CDLL(path)
        self.call.remora_last_error.restype = ctypes.c_char_p

    def last_error(self) -> str:
        return self.call.remora_last_error().decode()

    def check(self, status: int) -> None:
        if status != 0:
            raise RuntimeError(f"status {status}: {self.last_error()}")

    def open_dirs(self, folder: Path, codec: Path | None = None) -> ctypes.c_void_p:
        source, model = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.call.remora_source_create(ctypes.byref(source)))
        self.check(self.call.remora_source_add_dir(source, str(folder).encode()))
        if codec is not None:
            self.check(self.call.remora_source_add_codec_dir(source, str(codec).encode()))
        self.check(self.call.remora_model_create(source, None, ctypes.byref(model)))
        self.call.remora_source_destroy(source)
        return model

    def estimate_nothing(self) -> int:
        source, memory = ctypes.c_void_p(), Memory(struct_size=ctypes.sizeof(Memory))
        self.check(self.call.remora_source_create(ctypes.byref(source)))
        status = self.call.remora_model_estimate(source, None, ctypes.byref(memory))
        self.call.remora_source_destroy(source)
        return status

    def n_codebooks(self, model: ctypes.c_void_p) -> int:
        info = ModelInfo(struct_size=ctypes.sizeof(ModelInfo))
        self.check(self.call.remora_model_describe(model, ctypes.byref(info)))
        return info.n_codebooks

    def tokenize(self, model: ctypes.c_void_p, text: str, flags: int) -> list[int]:
        data, needed = text.encode(), ctypes.c_size_t()
        ids = (ctypes.c_int32 * (len(data) + 1))()
        self.check(self.call.remora_model_tokenize(
            model, data, ctypes.c_size_t(len(data)), ctypes.c_uint32(flags), ids,
            ctypes.c_size_t(len(ids)), ctypes.byref(needed)))
        return list(ids[:needed.value])

    def prompt(self, text: str, flags: int) -> Prompt:
        prompt = Prompt()
        self.check(self.call.remora_prompt_init(ctypes.byref(prompt), ctypes.sizeof(prompt)))
        data = text.encode()
        prompt.text, prompt.text_len, prompt.flags = data, len(data), flags
        return prompt

    def prompt_elements(self, model: ctypes.c_void_p, text: str, flags: int) -> int:
        needed = ctypes.c_size_t()
        self.check(self.call.remora_model_prompt(model, ctypes.byref(self.prompt(text, flags)), None,
                                                 ctypes.c_size_t(0), ctypes.byref(needed)))
        return needed.value

    def set_sampling(self, session: ctypes.c_void_p, **fields: float) -> int:
        sampling = Sampling()
        self.check(self.call.remora_sampling_init(ctypes.byref(sampling), ctypes.sizeof(sampling)))
        for name, value in fields.items():
            setattr(sampling, name, value)
        return self.call.remora_session_set_sampling(session, ctypes.byref(sampling))

    def greedy_session(self, model: ctypes.c_void_p, max_frames: int) -> ctypes.c_void_p:
        session = ctypes.c_void_p()
        self.check(self.call.remora_session_create(model, None, ctypes.byref(session)))
        self.check(self.set_sampling(session, temperature=0, repetition_penalty=1,
                                     max_frames=max_frames, max_frames_per_byte=0))
        return session

    def prefill(self, session: ctypes.c_void_p, text: str, flags: int) -> int:
        return self.call.remora_session_prefill(session, ctypes.byref(self.prompt(text, flags)))

    def all_frames(self, session: ctypes.c_void_p, model: ctypes.c_void_p) -> list[list[int]]:
        codes = (ctypes.c_int32 * self.n_codebooks(model))()
        frame = Frame(struct_size=ctypes.sizeof(Frame), codes=codes, codes_capacity=len(codes))
        frames = []
        while (status := self.call.remora_session_step(session, ctypes.byref(frame))) == 0:
            frames.append(list(codes))
        if status != 1:
            self.check(status)
        return frames

    def all_pcm(self, session: ctypes.c_void_p) -> list[float]:
        block, written, pcm = (ctypes.c_float * 8192)(), ctypes.c_size_t(), []
        while (status := self.call.remora_session_read_pcm(
                session, block, ctypes.c_size_t(len(block)), ctypes.byref(written))) == 0:
            pcm += block[:written.value]
        if status != 1:
            self.check(status)
        return pcm

    def use_codes(self, model: ctypes.c_void_p, case: dict) -> int:
        """`codes` of `case` as a voice where it has a transcript, else decoded to sound."""
        codes = (ctypes.c_int32 * len(case["codes"]))(*case["codes"])
        frames = ctypes.c_size_t(case["frames"])
        if "transcript" in case:
            words = case["transcript"].encode()
            return self.call.remora_voice_from_codes(model, codes, frames, words,
                                                     ctypes.c_size_t(len(words)),
                                                     ctypes.byref(ctypes.c_void_p()))
        pcm = (ctypes.c_float * (8192 * case["frames"]))()
        return self.call.remora_codec_decode(model, codes, frames, pcm, ctypes.c_size_t(len(pcm)),
                                             ctypes.byref(ctypes.c_size_t()))
