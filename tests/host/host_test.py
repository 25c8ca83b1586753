"""Runs the C host: libremora opened at run time, closed, and left behind in every way.

Names in the environment: REMORA_HOST (the program), REMORA_LIBRARY (libremora), REMORA_TINY_DIR (the
folder of the made-up checkpoints). Standard library only.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HOST = os.environ["REMORA_HOST"]
LIBRARY = os.environ["REMORA_LIBRARY"]
TINY = pathlib.Path(os.environ["REMORA_TINY_DIR"])

# What ends a process. std::terminate is not among them: the inline destructor of std::thread names
# it, whoever includes <thread>.
ENDINGS = {"exit", "_exit", "_Exit", "quick_exit", "at_quick_exit", "abort", "__assert_fail",
           "__assert_perror_fail", "__chk_fail", "__glibcxx_assert_fail", "raise", "kill",
           "pthread_kill", "pthread_exit", "err", "errx", "error"}


def run_host(mode, *folders, timeout=240):
    command = [HOST, LIBRARY, mode, *map(str, folders)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


class HostTest(unittest.TestCase):
    def expect_clean(self, mode, *folders):
        result = run_host(mode, *folders)
        self.assertEqual(result.returncode, 0, f"{mode}\n{result.stdout}\n{result.stderr}")
        self.assertEqual(result.stderr, "", "a library writes nothing")
        return result.stdout


class UnloadTest(HostTest):
    def test_RB_57_three_rounds_of_open_load_speak_destroy_close(self):
        for family in ("s2-pro", "s1-mini"):
            self.expect_clean("rounds", TINY / family)

    def test_RB_57_exit_with_a_live_session(self):
        self.expect_clean("live_session", TINY / "s2-pro")
        self.expect_clean("live_session_closed_library", TINY / "s2-pro")

    def test_RB_57_exit_from_a_second_thread(self):
        self.expect_clean("second_thread", TINY / "s2-pro")

    def test_RB_57_exit_while_threads_are_inside_the_library(self):
        for _ in range(5):
            self.expect_clean("threads_running", TINY / "s2-pro")

    @unittest.skipIf(os.environ["REMORA_SANITIZED"] == "1", "memory is the sanitizer's here")
    def test_RB_57_a_hundred_loads_leave_no_memory_behind(self):
        print(self.expect_clean("load_rounds", TINY / "s2-pro"))


class BrokenModelTest(HostTest):
    def broken_folders(self, root):
        """Missing, empty, of another kind, and each file cut at 0, 10 and 50 %."""
        yield root / "missing"
        (root / "empty").mkdir()
        yield root / "empty"
        (root / "a file").write_text("no folder")
        yield root / "a file"
        (root / "other kind").mkdir()
        (root / "other kind" / "config.json").write_text('{"model_type": "llama"}')
        yield root / "other kind"
        good = TINY / "s2-pro"
        for file in sorted(good.iterdir()):
            for percent in (0, 10, 50):
                folder = root / f"{file.name} at {percent}"
                shutil.copytree(good, folder)
                with open(folder / file.name, "r+b") as out:
                    out.truncate(file.stat().st_size * percent // 100)
                yield folder

    def test_RB_49_broken_models_end_in_an_error_and_a_good_one_works_after_each(self):
        with tempfile.TemporaryDirectory() as temp:
            folders = list(self.broken_folders(pathlib.Path(temp)))
            lines = self.expect_clean("broken_models", TINY / "s2-pro", *folders).splitlines()
        self.assertEqual(len(lines), len(folders))
        self.assertGreater(len(lines), 16)
        for line, folder in zip(lines, folders):
            self.assertIn(folder.name.split(" at ")[0], line)

    def test_RB_49_nothing_in_the_library_ends_its_host(self):
        if shutil.which("nm") is None:
            self.skipTest("no nm here")
        listing = subprocess.run(["nm", "--dynamic", "--undefined-only", LIBRARY],
                                 capture_output=True, text=True, check=True).stdout
        wanted = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line}
        self.assertIn("mmap", wanted, "the listing is one of a whole library")
        # An assert is what such a build is for.
        asserts = {"__assert_fail"} if os.environ["REMORA_ASSERTS"] == "1" else set()
        self.assertEqual(wanted & ENDINGS - asserts, set())


if __name__ == "__main__":
    unittest.main()
