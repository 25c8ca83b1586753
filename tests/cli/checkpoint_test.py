"""Damaged and wrong checkpoints: each a clear error and exit code 1, never a crash."""
import json
import shutil
import struct
import unittest

from support import CODEC, S1, S2, CliTest, run


class BadCheckpoints(CliTest):
    def copy(self, model):
        folder = self.folder / "model"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(model, folder)
        for file in folder.iterdir():
            file.chmod(0o644)
        return folder

    def say(self, folder, *options):
        return run("say", "--model", folder, "--max-frames", 2, "--codes-out",
                   self.folder / "c.npy", *options, "Hello.")

    def test_missing_folder(self):
        self.assert_fails(self.say(self.folder / "nowhere"), 1, "nowhere")

    def test_a_file_in_place_of_a_folder(self):
        self.assert_fails(self.say(self.write("file", "x")), 1, "file")

    def test_empty_folder(self):
        (self.folder / "empty").mkdir()
        self.assert_fails(self.say(self.folder / "empty"), 1, "config.json")

    def test_each_file_cut(self):
        needed = {S2: ["config.json", "tokenizer.json", "model-00001-of-00002.safetensors",
                       "model-00002-of-00002.safetensors", "model.safetensors.index.json"],
                  S1: ["config.json", "model.pth", "tokenizer.tiktoken", "special_tokens.json"]}
        for model, names in needed.items():
            for name in names:
                for share in (0, 10, 50):
                    with self.subTest(model=model.name, file=name, percent=share):
                        folder = self.copy(model)
                        raw = (folder / name).read_bytes()
                        (folder / name).write_bytes(raw[:len(raw) * share // 100])
                        self.assert_fails(self.say(folder), 1)

    def test_each_codec_file_cut(self):
        for name in ("codec.safetensors", "codec.pth"):
            for share in (0, 10, 50):
                with self.subTest(file=name, percent=share):
                    folder = self.folder / "codec"
                    shutil.rmtree(folder, ignore_errors=True)
                    folder.mkdir()
                    shutil.copy(CODEC / "config.json", folder / "codec.json")
                    raw = (CODEC / name).read_bytes()
                    (folder / name).write_bytes(raw[:len(raw) * share // 100])
                    result = run("say", "--model", S2, "--codec", folder, "--raw", "Hello.")
                    self.assert_fails(result, 1, name)

    def test_RB_45_missing_shard_is_named(self):
        folder = self.copy(S2)
        (folder / "model-00002-of-00002.safetensors").unlink()
        self.assert_fails(self.say(folder), 1, "model-00002-of-00002.safetensors")

    def test_wrong_model_type(self):
        folder = self.copy(S2)
        config = json.loads((folder / "config.json").read_text())
        config["model_type"] = "gpt2"
        (folder / "config.json").write_text(json.dumps(config))
        self.assert_fails(self.say(folder), 1, "config.json", "gpt2")

    def test_tokenizer_without_semantic_tokens(self):
        folder = self.copy(S2)
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        tokenizer["added_tokens"] = [t for t in tokenizer["added_tokens"]
                                     if "semantic" not in t["content"]]
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        self.assert_fails(self.say(folder), 1, "tokenizer.json", "semantic")

    def test_RB_43_safetensors_with_a_wild_header(self):
        one = b'{"a":{"dtype":"F32","shape":[2],"data_offsets":'
        headers = {
            "length near 2^64": struct.pack("<Q", 2**64 - 1) + b"{}",
            "length 0": struct.pack("<Q", 0),
            "longer than the file": struct.pack("<Q", 4096) + b"{}",
            "no JSON": struct.pack("<Q", 4) + b"####",
            "offsets past the end": self.with_header(one + b"[0,40000]}}"),
            "offsets backwards": self.with_header(one + b"[24,8]}}"),
            "one offset": self.with_header(one + b"[8]}}"),
            "Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        }
        for name, content in headers.items():
            with self.subTest(name):
                folder = self.copy(S2)
                (folder / "model-00001-of-00002.safetensors").write_bytes(content)
                self.assert_fails(self.say(folder), 1, "model-00001-of-00002.safetensors")

    @staticmethod
    def with_header(text):
        return struct.pack("<Q", len(text)) + text + b"\0" * 8

    def test_RB_52_folder_names_may_hold_any_character(self):
        folder = self.folder / "модель 模型 é #1"
        shutil.copytree(S2, folder)
        run("tokenize", "--model", folder, "Hello", check=0)


if __name__ == "__main__":
    unittest.main()
