"""`bench` and `bench --matrix`: every figure is there and hangs together; how large it is, is not
tested."""
import unittest

from support import CODEC, S1, S2, CliTest, run, run_json


class Speed(CliTest):
    def test_report_has_every_figure(self):
        report = run_json("bench", "--model", S2, "--codec", CODEC, "--prompts", "32,64",
                          "--repeat", 3, "--threads", 1)
        for field in ("model", "weights", "dtype", "threads", "prompt", "prefill_tok_s",
                      "frame_ms", "slow_ms", "fast_ms", "codec", "chain_rtf", "first_audio_ms",
                      "load_ms", "read_bandwidth_gb_s", "bytes_per_frame", "percent_of_limit",
                      "peak_rss_bytes", "command", "versions"):
            self.assertIsNotNone(report.get(field), field)
        self.assertEqual(set(report["frame_ms"]), {"32", "64"})
        for frame in report["frame_ms"].values():
            self.assertGreater(frame["min"], 0)
            self.assertTrue(frame["min"] <= frame["median"] <= frame["max"], frame)
        frame = report["frame_ms"]["32"]["median"]
        self.assertAlmostEqual(report["slow_ms"] + report["fast_ms"], frame, places=2)
        limit = report["bytes_per_frame"] / report["read_bandwidth_gb_s"] / 1e6
        percent = 100 * limit / frame  # of rounded figures
        self.assertAlmostEqual(report["percent_of_limit"], percent, delta=max(0.1, percent / 100))
        self.assertEqual((report["threads"], report["prompt"]), (1, 32))
        self.assertEqual(report["codec"]["chunk_frames"], 12)
        self.assertIn("--prompts 32,64", report["command"])

    def test_language_model_alone_and_sessions_together(self):
        report = run_json("bench", "--model", S1, "--prompts", 40, "--repeat", 2, "--no-codec",
                          "--sessions", "1,3")
        self.assertEqual(set(report["together_ms"]), {"1", "3"})
        for count, times in report["together_ms"].items():
            self.assertLessEqual(times["min"], times["median"])
            # The median is rounded to microseconds, of a few hundred.
            self.assertAlmostEqual(times["frames_per_second"] * times["median"] / 1e3 / int(count),
                                   1, delta=0.01)
        self.assert_fails(run("bench", "--model", S1, "--sessions", "9"), 2)
        self.assertIsNone(report["codec"])
        self.assertIsNone(report["chain_rtf"])
        self.assertGreater(report["prefill_tok_s"], 0)

    def test_plain_report_has_a_line_for_each_figure(self):
        lines = run("bench", "--model", S2, "--prompts", 40, "--repeat", 2, check=0).stdout
        self.assertIn("frame_ms.40.median: ", lines.decode())


class Matrix(CliTest):
    def test_rows_cover_every_way_prompt_and_capacity(self):
        table = self.folder / "matrix.md"
        report = run_json("bench", "--matrix", "--model", S2, "--prompts", "20,100",
                          "--capacities", "64,256", "--repeat", 3, "--markdown", table)
        for field in ("command", "versions", "hardware", "rows"):
            self.assertIn(field, report)
        pairs = {p["prompt"]: p for p in report["capacity_cost"]}
        self.assertEqual(pairs[20]["capacities"], [64, 256])
        self.assertNotIn(100, pairs)  # fits one capacity only
        self.assertLessEqual(pairs[20]["ratio"]["q1"], pairs[20]["ratio"]["q3"])
        self.assertEqual(pairs[20]["rounds"], 24)
        ways = {("eager", "full", "math"), ("eager", "full", "auto"), ("eager", "active", "math"),
                ("eager", "active", "auto"), ("graph", "graph", "math")}
        cells = {}
        for row in report["rows"]:
            cells.setdefault((row["prompt"], row["capacity"]), []).append(row)
        self.assertEqual(set(cells), {(20, 64), (20, 256), (100, 256)})  # 100 does not fit 64
        for rows in cells.values():
            self.assertEqual({(r["mode"], r["kv"], r["sdpa"]) for r in rows}, ways)
            for row in rows:
                self.assertNotIn("error", row)
                self.assertTrue(row["step_ms_min"] <= row["step_ms"] <= row["step_ms_max"], row)
                self.assertGreater(row["first_step_ms"], 0)
                self.assertGreater(row["peak_rss_bytes"], 0)
                self.assertTrue(row["finite"])
                # float32: every way draws the same codes
                self.assertTrue(row["argmax_agree"])
                self.assertIsNone(row["first_diverging_frame"])
                # Logits of magnitude 1 after three layers of float32 sums in another order.
                self.assertLess(row["max_logit_diff"], 1e-4)
                if row["sdpa"] == "math":
                    self.assertEqual(row["sdpa_ran"], "math")
        lines = table.read_text().splitlines()
        self.assertEqual(sum(line.startswith("| eager") or line.startswith("| graph")
                             for line in lines), len(report["rows"]))

    def test_one_way_can_be_picked(self):
        rows = run_json("bench", "--matrix", "--model", S2, "--prompts", 20, "--capacities", 64,
                        "--repeat", 1, "--kv", "active", "--sdpa", "math")["rows"]
        self.assertEqual([(r["kv"], r["sdpa"], r["argmax_agree"]) for r in rows],
                         [("active", "math", None)])

    def test_matrix_options_need_the_matrix(self):
        self.assert_fails(run("bench", "--model", S2, "--capacities", "64"), 2)


if __name__ == "__main__":
    unittest.main()
