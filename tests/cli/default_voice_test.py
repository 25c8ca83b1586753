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
        self.env = clean_environment()

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
        self.assertEqual(len(result.stderr.splitlines()), 1)  # what it made, no warning
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

    def test_without_a_voice_it_says_where_it_looked_and_what_to_do(self):
        wave = self.folder / "a.wav"
        for command in (("say", HELLO, "-o", wave), ("info",), ("tokenize", HELLO), ("bench",)):
            self.assert_fails(self.call(*command), 1, str(self.voice), "--model", "REMORA_MODEL",
                              "remora-voice-slt")
        self.assertFalse(wave.exists())
        self.call("info", "--model", S1, check=0)


if __name__ == "__main__":
    unittest.main()
