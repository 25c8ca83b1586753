"""What speaks when no model is named, in a tree like an installed one: the program in bin/, and at its
way from there the voice that ships. Whether the sources hold a trained voice makes no difference."""
import os
import shutil
import unittest

import support
from support import S1, CliTest, clean_environment, run, run_json

HELLO = "Hello from remora."
VOICE = os.path.join("bin", os.environ["REMORA_VOICES"], "slt")  # below the prefix


class DefaultVoice(CliTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "a prefix"
        self.program = self.prefix / "bin" / "remora"
        self.program.parent.mkdir(parents=True)
        shutil.copy2(support.PROGRAM, self.program)
        self.voice = (self.prefix / VOICE).resolve()
        self.env = clean_environment(XDG_CACHE_HOME=str(self.folder / "cache"))

    def install_voice(self):
        self.voice.parent.mkdir(parents=True)
        run("make-tiny", self.voice, "--family", "s2-pro-16k", check=0)

    def call(self, *args, reader=run, **more):
        return reader(*args, **{"program": self.program, "env": self.env, **more})

    def model_of(self, *args, **more):
        return self.call("info", *args, reader=run_json, **more)["model"]

    def test_the_voice_beside_the_program_speaks(self):
        self.install_voice()
        wave = self.folder / "hello.wav"
        result = self.call("say", HELLO, "-o", wave, check=0)
        self.assertNotIn("babbles", result.stderr)
        self.assertEqual(support.read_wave(wave).rate, 16000)
        self.assertEqual(self.model_of(), str(self.voice))
        for command in ("tokenize", "prompt"):
            given = self.call(command, "--model", self.voice, HELLO, check=0).stdout
            self.assertEqual(self.call(command, HELLO, check=0).stdout, given)

    def test_a_link_to_the_program_finds_it(self):
        self.install_voice()
        link = self.folder / "remora"
        link.symlink_to(self.program)
        self.assertEqual(self.model_of(program=link), str(self.voice))

    def test_a_named_model_goes_first(self):
        self.install_voice()
        env = dict(self.env, REMORA_MODEL=str(S1))
        self.assertEqual(self.model_of(env=env), str(S1))
        self.assertEqual(self.model_of("--model", self.voice, env=env), str(self.voice))
        self.assertEqual(self.model_of(env=dict(self.env, REMORA_MODEL="")), str(self.voice))

    def test_sound_without_a_name_is_kept_where_one_stands(self):
        self.install_voice()
        result = self.call("say", HELLO, cwd=self.folder, check=0)
        self.assertEqual(result.stdout, b"")
        self.assertIn("remora.wav", result.stderr)
        self.assertGreater(len(support.read_wave(self.folder / "remora.wav").samples), 16000)

    def test_without_a_voice_it_says_that_it_babbles(self):
        result = self.call("say", HELLO, "-o", self.folder / "a.wav", check=0)
        self.assertIn("babbles", result.stderr)
        self.assertIn(str(self.voice), result.stderr)

    def test_what_babbles_is_kept_in_the_cache_and_needs_none(self):
        ids = self.call("tokenize", HELLO, check=0).stdout
        self.assertEqual(len(list((self.folder / "cache" / "remora").glob("tiny-0.1.0-*"))), 1)
        self.assertEqual(self.call("tokenize", HELLO, check=0).stdout, ids)
        blocked = self.write("blocked", "a file where a folder should be")
        env = clean_environment(XDG_CACHE_HOME=str(blocked))
        self.assertEqual(self.call("tokenize", HELLO, env=env, check=0).stdout, ids)


if __name__ == "__main__":
    unittest.main()
