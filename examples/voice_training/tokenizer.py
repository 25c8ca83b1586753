"""Makes tokenizer.json of the small voice and builds the prompts of its training.

A byte-level BPE with a few merges: those which make one token of each longer word of the fixed
prompt pieces. Everything else stays bytes (and the first pairs of those merges, such as 'er' and
'st', which are frequent enough to be learnt).
"""

import argparse
import json
import pathlib

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
# Words of the prompt as the pre-tokenizer cuts them; each row joins its parts from the inside out,
# beginning with a frequent pair, so that hardly any other word contains a half-made token.
CHAINS = ["s y s t e m:s t,st e,ste m,y stem,s ystem", "u s e r:e r,s er,u ser",
          "c o n v e r t:v er,ver t,n vert,o nvert,c onvert",
          "Ġ p r o v i d e d:i d,v id,o vid,ovid e,ovide d,r ovided,p rovided,Ġ provided",
          "Ġ t e x t:x t,e xt,t ext,Ġ text",
          "Ġ s p e e c h:e e,ee c,eec h,p eech,s peech,Ġ speech",
          "a s s i s t a n t:i st,s ist,s sist,a ssist,assist a,assista n,assistan t"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>", "<|phoneme_start|>",
           "<|phoneme_end|>", "<|text|>", "<|voice|>", "<|interleave|>", "<|audio_start|>",
           "<|audio_end|>", "<|audio_pad|>"]


def byte_alphabet():
    """Byte -> the character that stands for it in tokenizer.json."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(0x100 + i) for i, byte in enumerate(rest)}


def describe(semantic):
    """The content of tokenizer.json with `semantic` semantic tokens."""
    merges = [pair.split(" ") for chain in CHAINS for pair in chain.split(":")[1].split(",")]
    names = list(byte_alphabet().values()) + ["".join(pair) for pair in merges]
    special = SPECIAL + [f"<|semantic:{i}|>" for i in range(semantic)]
    added = [{"id": len(names) + i, "content": token, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False, "special": True}
             for i, token in enumerate(special)]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
             "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated",
             "invert": False}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "ignore_merges": False, "vocab": {name: i for i, name in enumerate(names)},
             "merges": merges}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
            "post_processor": level, "decoder": level, "model": model}


class Tokenizer:
    """Encodes plain text for training. No merge crosses a word here, so that the pre-tokenizer's
    cuts do not change the ids and need not be made: check_engine.py compares with the engine."""

    def __init__(self, described):
        model = described["model"]
        self.bytes, self.ids = byte_alphabet(), model["vocab"]
        self.ranks = {tuple(pair): rank for rank, pair in enumerate(model["merges"])}
        self.special = {token["content"]: token["id"] for token in described["added_tokens"]}
        self.size = len(self.ids) + len(self.special)
        self.semantic_begin = self.special["<|semantic:0|>"]

    def encode(self, text):
        parts = [self.bytes[byte] for byte in text.encode()]
        while len(parts) > 1:
            pairs = list(zip(parts, parts[1:]))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            parts[at:at + 2] = ["".join(best)]
        return [self.ids[part] for part in parts]

    def _turn(self, role, text):
        """<|im_start|>role, text, <|im_end|>: each piece is encoded by itself."""
        return ([self.special["<|im_start|>"]] + self.encode(role + "\n") + self.encode(text)
                + self.end_of_turn())

    def end_of_turn(self):
        return [self.special["<|im_end|>"]] + self.encode("\n")

    def system(self):
        return self._turn("system", "convert the provided text to speech")

    def request(self, text):
        """The user's turn and the start of the answer, where the codes follow."""
        return (self._turn("user", text) + [self.special["<|im_start|>"]]
                + self.encode("assistant\n") + [self.special["<|voice|>"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="tokenizer.json")
    parser.add_argument("--semantic", type=int, default=512, help="entries of the semantic table")
    args = parser.parse_args()
    described = describe(args.semantic)
    args.out.write_text(json.dumps(described, ensure_ascii=False))
    tokenizer = Tokenizer(described)
    fixed = len(tokenizer.system() + tokenizer.request(""))
    print(f"{tokenizer.size} tokens; a prompt has {fixed} columns besides its text")


if __name__ == "__main__":
    main()
