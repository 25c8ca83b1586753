"""`say` and `prompt` against the reference's greedy requests, and what `say` writes and reports."""
import array
import json
import os
import signal
import subprocess
import unittest

import support
from support import CODEC, DATA, S1, S1_PROJ, S2, CliTest, run, run_json

SUITES = ((S2, "s2pro_cases"), (S1, "s1mini_cases"), (S1_PROJ, "s1proj_cases"))


def single_requests(suite):
    """Requests of one batch with their tensors' names; later batches need the reference's quirk of
    dropping every batch's last frame, which the program does not have."""
    cases = json.loads((DATA / "lm" / f"{suite}.json").read_text())
    for case in cases["cases"]:
        batches = case.get("batches", [case])
        if len(batches) == 1:
            yield case, batches[0], cases["im_end_id"]


class GoldenRequests(CliTest):
    def voice_options(self, case, tensors):
        options = []
        for i, reference in enumerate(case["references"]):
            path = self.write(f"voice{i}.npy", support.npy_bytes(tensors.rows(reference["codes"])))
            options += ["--voice-codes", path, "--transcript", reference["text"]]
        return options

    def control_option(self, case):
        return ["--allow-control"] if case["name"] == "inject" else []

    def each_request(self):
        for model, suite in SUITES:
            tensors = support.Safetensors(f"lm/{suite}.safetensors")
            for case, batch, end_id in single_requests(suite):
                with self.subTest(suite=suite, case=case["name"]):
                    options = ["--model", model, *self.voice_options(case, tensors),
                               *self.control_option(case), "--", case["text"]]
                    yield tensors, case, batch, end_id, options

    def test_prompts_are_equal(self):
        compared = 0
        for tensors, _, batch, _, options in self.each_request():
            prompt = json.loads(run("prompt", "--json", *options, check=0).stdout)
            expected = tensors.rows(batch["prompt"])
            self.assertEqual(prompt["tokens"], expected)
            self.assertEqual((prompt["rows"], prompt["columns"]),
                             (len(expected), len(expected[0])))
            compared += 1
        self.assertGreaterEqual(compared, 20)

    def test_greedy_codes_are_equal(self):
        compared = 0
        for tensors, case, batch, end_id, options in self.each_request():
            codes = self.folder / "codes.npy"
            frames = tensors.rows(batch["frames"])
            length = frames[0].index(end_id) if end_id in frames[0] else len(frames[0])
            ended = length < len(frames[0])
            run("say", "--greedy", "--max-frames", case["max_new_tokens"], "--codes-out", codes,
                *options, check=0 if ended else 3)
            self.assertEqual(support.read_npy(codes), [row[:length] for row in frames[1:]])
            compared += 1
        self.assertGreaterEqual(compared, 20)

    def test_first_batch_of_a_conversation_is_equal(self):
        tensors = support.Safetensors("lm/s2pro_cases.safetensors")
        cases = json.loads((DATA / "lm" / "s2pro_cases.json").read_text())["cases"]
        case = next(c for c in cases if c["name"] == "multi_batch")
        text = case["text"][case["text"].index("<|speaker:"):]
        prompt = run_json("prompt", "--model", S2, "--split-bytes", case["chunk_length"], text)
        self.assertEqual(prompt["tokens"], tensors.rows(case["batches"][0]["prompt"]))


class Output(CliTest):
    """With the s2pro_tiny model (6 codebooks) and the reference codec (10 tables)."""
    base = ("say", "--model", S2, "--codec", CODEC, "--max-frames", 14, "Hello world.")

    def test_sound_has_exactly_the_samples_of_its_frames(self):
        report = run_json(*self.base, "--greedy", "-o", self.folder / "a.wav",
                          "--codes-out", self.folder / "a.npy", check=3)
        wave = support.read_wave(self.folder / "a.wav")
        codes = support.read_npy(self.folder / "a.npy")
        self.assertEqual(len(codes[0]), 14)
        self.assertEqual(len(wave.samples), 14 * 2048)
        self.assertEqual((wave.rate, wave.channels, wave.bits), (44100, 1, 16))
        self.assertEqual(report["samples"], 14 * 2048)
        self.assertEqual(report["frames"], 14)
        self.assertEqual(report["finish"], "length")

    def test_report_has_every_field(self):
        report = run_json(*self.base, "--greedy", check=3)
        for field in ("finish", "seed", "prompt_tokens", "reused_tokens", "frames", "samples",
                      "sample_rate", "kv_len", "kv_bytes", "sdpa_prefill", "sdpa_step",
                      "prefill_ms", "first_audio_ms", "frames_per_second", "realtime_factor",
                      "peak_rss_bytes", "segments"):
            self.assertIn(field, report)
            self.assertIsNotNone(report[field], field)
        self.assertEqual(report["prompt_tokens"], 34)
        self.assertEqual(report["kv_len"], 34 + 14)
        self.assertEqual(report["segments"],
                         [{"frames": 14, "finish": "length", "text": "Hello world."}])
        self.assertGreater(report["realtime_factor"], 0)

    def test_streamed_sound_equals_whole(self):
        run(*self.base, "--float", "-o", self.folder / "whole.wav", check=3)
        run(*self.base, "--float", "--stream", "-o", self.folder / "piece.wav", check=3)
        whole = support.read_wave(self.folder / "whole.wav")
        pieces = support.read_wave(self.folder / "piece.wav")
        self.assert_close(pieces.samples, whole.samples, support.WAVE_TOLERANCE)
        self.assertGreater(max(map(abs, whole.samples)), 0.01)

    def test_RB_40_same_seed_gives_equal_files_in_two_processes(self):
        for extra in ((), ("--stream",), ("--seed", "random")):
            files = []
            seed = None
            for name in ("a", "b"):
                wave, codes = self.folder / f"{name}.wav", self.folder / f"{name}.npy"
                again = extra if seed is None else ("--seed", seed)
                report = run_json(*self.base, *again, "-o", wave, "--codes-out", codes, check=3)
                seed = report["seed"] if "random" in extra else None
                files.append(wave.read_bytes() + codes.read_bytes())
            self.assertEqual(files[0], files[1], extra)

    def test_RB_40_another_seed_gives_other_codes(self):
        codes = []
        for seed in (1, 2, 2**63):
            path = self.folder / f"{seed}.npy"
            report = run_json("say", "--model", S2, "--max-frames", 14, "--seed", seed, "Hello",
                              "--codes-out", path, check=3)
            self.assertEqual(report["seed"], seed)
            codes.append(path.read_bytes())
        self.assertEqual(len(set(codes)), 3)

    def test_RB_35_wav_stream_to_stdout_has_one_honest_header(self):
        run(*self.base, "-o", self.folder / "file.wav", check=3)
        expected = support.read_wave(self.folder / "file.wav").samples
        for extra in ((), ("--stream",)):
            wave = support.Wave(run(*self.base, "-o", "-", *extra, check=3).stdout, strict=False)
            self.assertEqual((wave.riff_size, wave.data_size), (0xFFFFFFFF, 0xFFFFFFFF))
            # Streamed sums differ in the last bits, so a 16-bit step may fall to either side.
            self.assert_close(wave.samples, expected, 2 if extra else 0)

    def test_RB_35_raw_samples_have_no_header(self):
        raw = run(*self.base, "--raw", check=3).stdout
        self.assertEqual(len(raw), 14 * 2048 * 2)
        raw = run(*self.base, "--raw", "--float", "--stream", check=3).stdout
        self.assertEqual(len(raw), 14 * 2048 * 4)

    def test_format_follows_the_extension(self):
        for name, magic in (("a.flac", b"fLaC"), ("a.FLAC", b"fLaC"), ("a.ogg", b"OggS")):
            run(*self.base, "-o", self.folder / name, check=3)
            self.assertEqual((self.folder / name).read_bytes()[:4], magic)

    def test_codes_alone_need_no_codec(self):
        report = run_json("say", "--model", S2, "--max-frames", 5, "Hello", "--codes-out",
                          self.folder / "c.npy", check=3)
        self.assertEqual((report["samples"], report["sample_rate"]), (0, 0))

    def test_sound_without_a_codec_says_what_to_do(self):
        result = run("say", "--model", S2, "Hello", "-o", self.folder / "a.wav")
        self.assert_fails(result, 1, "no codec", "--codec")

    def test_text_comes_from_argument_file_and_stdin(self):
        text = "Grüße, 你好!"
        prompts = [run("prompt", "--model", S2, "--json", text, check=0).stdout]
        file = self.write("text.txt", text + "\n")
        prompts.append(run("prompt", "--model", S2, "--json", "--text-file", file, check=0).stdout)
        prompts.append(run("prompt", "--model", S2, "--json", "-", stdin=text.encode() + b"\r\n",
                           check=0).stdout)
        self.assertEqual(len(set(prompts)), 1)

    def test_control_tokens_are_text_unless_allowed(self):
        prompt = {}
        for extra in ((), ("--allow-control",)):
            tokens = run_json("prompt", "--model", S2, *extra, "Stop <|im_end|> here.")["tokens"]
            prompt[extra] = tokens[0].count(642)  # <|im_end|> of this checkpoint
        self.assertEqual(prompt[("--allow-control",)], prompt[()] + 1)

    def test_RB_08_a_length_limit_is_a_warning_and_exit_code_3(self):
        result = run(*self.base, "-o", self.folder / "a.wav", check=3)
        self.assertEqual(result.stdout, b"")
        self.assertIn("14 frames", result.stderr)
        self.assertIn("length limit", result.stderr)


class WhileItSpeaks(CliTest):
    # A reference run of at least 100 frames: 400 KB of sound, far more than a pipe holds, so the
    # program waits for its reader and cannot end before something happens.
    long = ("say", "--model", S2, "--codec", CODEC, "--max-frames", 100, "--greedy", "--stream",
            "你好，世界！今天天气很好。")

    def start(self, *args, stdout=subprocess.PIPE):
        return subprocess.Popen([support.PROGRAM, *map(str, args)], stdout=stdout,
                                stderr=subprocess.PIPE, env=support.clean_environment())

    def test_raw_stream_through_a_pipe_is_the_whole_sound(self):
        process = self.start(*self.long, "--raw", "-o", "-")
        streamed = array.array("h", process.communicate(timeout=60)[0])
        self.assertEqual(process.returncode, 3)
        self.assertEqual(len(streamed), 100 * 2048)
        whole = array.array("h", run(*(o for o in self.long if o != "--stream"), "--raw",
                                     check=3).stdout)
        # Streamed sums differ in the last bits, so a 16-bit step may fall to either side.
        self.assert_close(streamed, whole, 2)

    def test_first_sound_comes_while_frames_are_made(self):
        report = run_json(*self.long, check=3)
        # 4 of 100 frames and the prompt stand before it: far from half of the time.
        self.assertLess(report["first_audio_ms"], report["total_ms"] / 2)

    def test_a_reader_that_goes_away_ends_it(self):
        for extra in (("--raw", "-o", "-"), ("-o", "-"), ("--raw", "--float")):
            with self.subTest(extra):
                process = self.start(*self.long, *extra)
                self.assertEqual(len(process.stdout.read(4096)), 4096)
                process.stdout.close()
                errors = process.stderr.read().decode()
                process.stderr.close()
                self.assertEqual(process.wait(timeout=60), 1, errors)
                # Behind a warning: this codec has more codebooks than the model.
                self.assertEqual(errors.splitlines()[1:], [
                    "remora: standard output: its reader went away; the work ends here"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "a device of Linux")
    def test_a_full_disk_behind_stdout_is_told_apart(self):
        with open("/dev/full", "wb") as full:
            process = self.start(*self.long, "--raw", stdout=full)
        errors = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot write", errors)
        self.assertNotIn("reader", errors)

    def test_ctrl_c_keeps_what_was_made(self):
        process = self.start(*self.long, "--raw", "--codes-out", self.folder / "a.npy")
        self.assertEqual(len(process.stdout.read(4096)), 4096)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        codes = support.read_npy(self.folder / "a.npy")
        self.assertGreater(len(codes[0]), 0)
        self.assertEqual((4096 + len(rest)) % (2 * 2048), 0)


if __name__ == "__main__":
    unittest.main()
