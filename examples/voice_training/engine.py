"""What the checks need of libremora, by ctypes: greedy frames and the logits they come from."""

import ctypes

OK, END = 0, 1
F32 = 1  # REMORA_DTYPE_F32
NO_CODEC = 2  # REMORA_MODEL_NO_CODEC
KEEP_LOGITS = 1  # REMORA_SESSION_KEEP_LOGITS


class Prompt(ctypes.Structure):
    """remora_prompt."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("text", ctypes.c_char_p), ("text_len", ctypes.c_uint64),
                ("voices", ctypes.c_void_p), ("n_voices", ctypes.c_uint64),
                ("tokens", ctypes.c_void_p), ("n_tokens", ctypes.c_uint64),
                ("split_bytes", ctypes.c_uint64)]


class Frame(ctypes.Structure):
    """remora_frame."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("n_codes", ctypes.c_int32),
                ("position", ctypes.c_int64), ("codes", ctypes.POINTER(ctypes.c_int32)),
                ("codes_capacity", ctypes.c_uint64)]


class ModelParams(ctypes.Structure):
    """The first fields of remora_model_params."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("device", ctypes.c_int32), ("device_index", ctypes.c_int32),
                ("dtype", ctypes.c_int32), ("weights", ctypes.c_int32),
                ("codec_dtype", ctypes.c_int32), ("int4_group", ctypes.c_int32),
                ("progress", ctypes.c_void_p), ("progress_user", ctypes.c_void_p)]


class SessionParams(ctypes.Structure):
    """remora_session_params."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("rest", ctypes.c_int32 * 6)]


class Sampling(ctypes.Structure):
    """remora_sampling."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("temperature", ctypes.c_float), ("top_p", ctypes.c_float),
                ("top_k", ctypes.c_int32), ("repetition_penalty", ctypes.c_float),
                ("max_frames", ctypes.c_int32), ("max_frames_per_byte", ctypes.c_float),
                ("ras_window", ctypes.c_int32), ("reserved0", ctypes.c_int32),
                ("seed", ctypes.c_uint64)]


class Engine:
    """A model without codec in float32, and one greedy session of it."""

    def __init__(self, library, folder, num_codebooks):
        self.library, self.num_codebooks = ctypes.CDLL(str(library)), num_codebooks
        self.library.remora_last_error.restype = ctypes.c_char_p
        self.library.remora_set_threads(1)
        params = self._filled("remora_model_params_init", ModelParams())
        params.flags, params.dtype = NO_CODEC, F32
        self.model, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("remora_model_open", str(folder).encode(), ctypes.byref(params),
                   ctypes.byref(self.model))
        params = self._filled("remora_session_params_init", SessionParams())
        params.flags = KEEP_LOGITS
        self._call("remora_session_create", self.model, ctypes.byref(params),
                   ctypes.byref(self.session))
        sampling = self._filled("remora_sampling_init", Sampling())
        sampling.temperature = 0
        self._call("remora_session_set_sampling", self.session, ctypes.byref(sampling))

    def _call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status not in (OK, END):
            raise RuntimeError(f"{name}: {self.library.remora_last_error().decode()}")
        return status

    def _filled(self, function, struct):
        self._call(function, ctypes.byref(struct), ctypes.sizeof(struct))
        return struct

    def _prompt(self, text):
        prompt = self._filled("remora_prompt_init", Prompt())
        prompt.text, prompt.text_len = text.encode(), len(text.encode())
        return ctypes.byref(prompt)

    def prompt_tokens(self, text):
        """Row 0 of the prompt that the text is spoken from."""
        needed = ctypes.c_size_t()
        self._call("remora_model_prompt", self.model, self._prompt(text), None, 0,
                   ctypes.byref(needed))
        tokens = (ctypes.c_int32 * needed.value)()
        self._call("remora_model_prompt", self.model, self._prompt(text), tokens, needed.value,
                   ctypes.byref(needed))
        return list(tokens[:needed.value // (1 + self.num_codebooks)])

    def start(self, text):
        self._call("remora_session_prefill", self.session, self._prompt(text))

    def logits(self, codebook):
        """What the next code 0 is drawn from, or code 1.. of the last frame was."""
        needed = ctypes.c_size_t()
        self._call("remora_session_logits", self.session, codebook, None, 0, ctypes.byref(needed))
        values = (ctypes.c_float * needed.value)()
        self._call("remora_session_logits", self.session, codebook, values, needed.value,
                   ctypes.byref(needed))
        return list(values)

    def step(self):
        """The codes of the next frame, or None at the end."""
        codes = (ctypes.c_int32 * self.num_codebooks)()
        frame = Frame(ctypes.sizeof(Frame), 0, 0, codes, self.num_codebooks)
        status = self._call("remora_session_step", self.session, ctypes.byref(frame))
        return None if status == END else list(codes)

    def close(self):
        self.library.remora_session_destroy(self.session)
        self.library.remora_model_destroy(self.model)
