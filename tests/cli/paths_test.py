"""Every path that the program takes, under names of many scripts and of every kind."""
import os
import pathlib
import shutil
import unittest

import support
from support import CliTest, clean_environment, run
from voice_test import wav_bytes

ODD = "модель 模型 é #1"
TONE = [int(9000 * ((i * 220 / 44100) % 1 - 0.5)) for i in range(22050)]


class Paths(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        holder = support.tempfile.TemporaryDirectory(prefix="remora-cli-")
        cls.addClassCleanup(holder.cleanup)
        cls.tiny = pathlib.Path(holder.name) / "tiny"
        run("make-tiny", cls.tiny, check=0)

    def everything_works(self, folder, **more):
        """Model, recording, saved voice and outputs all lie in `folder`, which may be relative to
        the working folder `more["cwd"]`; returns what was said on stderr."""
        here = pathlib.Path(more.get("cwd", "."))
        shutil.copytree(self.tiny, here / folder / "tiny", dirs_exist_ok=True)
        (here / folder / "эталон 声.wav").write_bytes(wav_bytes(TONE))
        f = str(folder)
        run("voice", f"{f}/эталон 声.wav", "--model", f"{f}/tiny", "--transcript", "Words.", "-o",
            f"{f}/голос.voice", check=0, **more)
        said = run("say", "--model", f"{f}/tiny/", "--voice", f"{f}/голос.voice", "--max-frames", 3,
                   "-o", f"{f}/звук.wav", "--codes-out", f"{f}/码.npy", "Hello.", check=3, **more)
        self.assertEqual(len(support.read_wave(here / folder / "звук.wav").samples), 3 * 2048)
        self.assertEqual(len(support.read_npy(here / folder / "码.npy")[0]), 3)
        names = {p.name for p in (here / folder).iterdir()}
        self.assertEqual(names, {"tiny", "эталон 声.wav", "голос.voice", "звук.wav", "码.npy"},
                         "nothing is left of a file on its way")
        return said.stderr

    def test_RB_52_names_of_many_scripts(self):
        folder = self.folder / ODD
        folder.mkdir()
        # The folder for temporary files has such a name too.
        env = clean_environment(TMPDIR=str(folder / "временное 临时"))
        (folder / "временное 临时").mkdir()
        (folder / "work").mkdir()
        self.assertIn(ODD, self.everything_works(folder / "work", env=env))

    def test_RB_52_a_path_of_three_hundred_characters(self):
        folder = self.folder
        while len(str(folder)) < 300:
            folder = folder / ("длинный" * 8)
        folder.mkdir(parents=True)
        self.everything_works(folder)

    def test_RB_52_relative_paths_trailing_slashes_and_links(self):
        (self.folder / "там").mkdir()
        self.everything_works("там", cwd=self.folder)
        self.everything_works("./там/../там/", cwd=self.folder)
        os.symlink("там", self.folder / "ссылка")
        self.everything_works("ссылка", cwd=self.folder)

    def test_RB_52_messages_show_the_path_as_it_is_written(self):
        nowhere = self.folder / ODD / "нет"
        for result in (run("say", "--model", nowhere, "Hi", "--codes-out", self.folder / "c.npy"),
                       run("encode", nowhere, "--model", self.tiny, "-o", self.folder / "c.npy"),
                       run("prompt", "--model", self.tiny, "Hi", "--voice", f"{nowhere}.voice"),
                       run("say", "--model", self.tiny, "Hi", "-o", nowhere / "a.wav")):
            self.assert_fails(result, 1, str(nowhere))


if __name__ == "__main__":
    unittest.main()
