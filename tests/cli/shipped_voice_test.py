"""The voice that ships, as a newcomer hears it: five sentences that it was not trained on."""
import os
import pathlib
import sys
import unittest

import support
from support import CliTest, run, run_json

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VOICE = SOURCE / "examples" / "voices" / "slt"
TRAINING = SOURCE / "examples" / "voice_training"

SENTENCES = ("What time does the museum open on Friday?",
             "Nancy used the yellow engine under the harbor.",
             "The weather in China is good and dark.",
             "Can I have one hundred bottles and some salad?",
             "Our neighbor works in the church under the village.")
SEED = 1
MOST_BYTES = 25_000_000  # of all its files
FULL_SCALE = 32760       # of 32767


def usual_seconds(text):
    """How long flite, which the voice has its pace from, takes for so many letters; it varies by 30 %."""
    return 0.43 + 0.049 * len(text)


def recogniser():
    """The one of the training recipe, or None where pocketsphinx is not installed."""
    sys.path.insert(0, str(TRAINING))
    try:
        import recognise
    except ImportError:
        return None
    return recognise


class Voice(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(support.shared_folder(cls).cleanup)
        cls.reports = [run_json("say", text, "--seed", SEED + i, "-o", cls.file(i))
                       for i, text in enumerate(SENTENCES)]
        cls.waves = [support.read_wave(cls.file(i)) for i in range(len(SENTENCES))]

    @classmethod
    def file(cls, i):
        return cls.shared / f"{i}.wav"

    def each(self):
        for text, report, wave in zip(SENTENCES, self.reports, self.waves):
            with self.subTest(text):
                yield text, report, wave

    def test_it_is_what_speaks_by_default(self):
        for report in self.reports:
            self.assertEqual(pathlib.Path(report["model"]).resolve(), VOICE)

    def test_it_is_small(self):
        self.assertLessEqual(sum(f.stat().st_size for f in VOICE.iterdir()), MOST_BYTES)

    def test_sentences_end_by_themselves_in_the_usual_time(self):
        for text, report, wave in self.each():
            self.assertEqual(report["finish"], "end_token")
            pace = len(wave.samples) / wave.rate / usual_seconds(text)
            self.assertTrue(0.5 <= pace <= 2, f"{pace} x the usual time")

    def test_they_are_neither_silent_nor_too_loud(self):
        for _, _, wave in self.each():
            rms = (sum(s * s for s in wave.samples) / len(wave.samples)) ** 0.5 / 32768
            # flite's own sentences have 0.13 to 0.21.
            self.assertTrue(0.05 <= rms <= 0.4, rms)

    def test_they_are_not_clipped(self):
        for _, _, wave in self.each():
            full = [abs(s) >= FULL_SCALE for s in wave.samples]
            self.assertFalse(any(map(all, zip(full, full[1:], full[2:]))))

    def test_streamed_is_not_streamed(self):
        run("say", SENTENCES[0], "--seed", SEED, "--stream", "-o", self.folder / "a.wav", check=0)
        # Streamed sums differ in the last bits, so a 16-bit step may fall to either side.
        self.assert_close(support.read_wave(self.folder / "a.wav").samples, self.waves[0].samples, 2)

    def test_their_words_are_recognised(self):
        recognise = recogniser()
        if recognise is None:
            self.skipTest("no recogniser: pip install pocketsphinx")
        ears, expected, wrong, heard = recognise.Recogniser(), 0, 0, []
        for i, text in enumerate(SENTENCES):
            heard.append(ears.heard(recognise.read_wave(self.file(i))))
            wrong += recognise.word_errors(recognise.words(text), heard[-1])
            expected += len(recognise.words(text))
        # It had 0.60 when it was made; where sums round otherwise other codes are drawn, and other
        # seeds gave 0.69. A voice whose words cannot be made out has 0.3.
        self.assertGreaterEqual(1 - wrong / expected, 0.45, heard)


if __name__ == "__main__":
    if not (VOICE / "model.safetensors").is_file():
        print(f"skipped: no voice in {VOICE.relative_to(SOURCE)}")
        sys.exit(77)
    os.environ.pop("REMORA_MODEL", None)
    unittest.main()
