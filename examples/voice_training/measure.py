"""Word error rates on the held-out sentences: flite, flite through the codec, and remora.

    PYTHONPATH=... python3 measure.py --data DIR --out DIR/measured

The same recogniser hears all three, so what counts is the distance from flite's own figure. The
codec and the voice run in the C++ engine, through the `remora` command: `roundtrip` for the one, `say`
with a seed of its own for each sentence for the other. The sound files stay in --out, as
{flite,codec,remora}/NNN.wav, for pictures.py and for ears; --json keeps the figures.

Intervals: 95 %, by drawing the sentences again with replacement. The engine's defaults are used unless
--say-option says otherwise (repeat it: --say-option=--temperature --say-option=0.5).
"""

import argparse
import json
import os
import subprocess
import threading
import wave
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from recognise import RATE, Recogniser, read_wave, word_errors, words

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("flite", "codec", "remora")
RESAMPLINGS = 10000
SILENT = 0.005  # RMS of full scale; flite speaks at about 0.1
CLIPPED = 3     # samples at full scale in a row
FULL = 32760    # of 32767

of_thread = threading.local()


def held_out(data: Path, count: int) -> tuple[list[str], list[np.ndarray]]:
    """The last sentences and flite's sound of each."""
    lines = (data / "text.txt").read_text(encoding="utf-8").splitlines()
    audio = np.load(data / "audio.npy", mmap_mode="r")
    offsets = np.load(data / "offsets.npy")
    if len(offsets) != len(lines) + 1:
        raise SystemExit(f"{data}: offsets.npy is for {len(offsets) - 1} sentences, text.txt has "
                         f"{len(lines)}; make the sound again with make_audio.py")
    first = len(lines) - count
    return lines[first:], [np.array(audio[offsets[i]:offsets[i + 1]])
                           for i in range(first, len(lines))]


def write_wave(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def remora(args, command: str, *options) -> dict:
    """One run of the program on one thread; its report. A length stop (3) is a report, too."""
    run = subprocess.run([args.remora, command, *args.model_options, "--threads", "1", "--json",
                          *map(str, options)], capture_output=True, text=True, check=False,
                         env=dict(os.environ, OMP_NUM_THREADS="1"))
    if run.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(run.args)}\nended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def make_sounds(args, number: int, text: str, samples: np.ndarray) -> dict:
    """The three files of one sentence; what `say` reports."""
    flite, codec, spoken = (args.out / kind / f"{number:03}.wav" for kind in KINDS)
    write_wave(flite, samples)
    if "codec" in args.kinds:
        remora(args, "roundtrip", flite, "-o", codec)
    if "remora" not in args.kinds:
        return {}
    return remora(args, "say", "-o", spoken, "--seed", args.seed + number, *args.say_option, "--",
                  text)


def heard_in(path: Path, pcm: bytes) -> list[str]:
    """The words in a file; kept beside it, so that the same sound is heard once."""
    kept, checksum = path.with_suffix(".txt"), f"{zlib.crc32(pcm):08x}"
    if kept.exists() and kept.read_text().startswith(checksum):
        return kept.read_text().split()[1:]
    if not hasattr(of_thread, "recogniser"):
        of_thread.recogniser = Recogniser()
    heard = of_thread.recogniser.heard(pcm)
    kept.write_text(" ".join([checksum, *heard]))
    return heard


def hear(args, number: int, text: str) -> dict:
    """Errors and words heard, for each kind."""
    result = {}
    for kind in args.kinds:
        path = args.out / kind / f"{number:03}.wav"
        pcm = read_wave(path)
        samples = np.frombuffer(pcm, "<i2").astype(np.float64)
        heard = heard_in(path, pcm)
        full = (np.abs(samples) >= FULL).astype(int)
        result[kind] = {
            "heard": " ".join(heard), "errors": word_errors(words(text), heard),
            "seconds": len(samples) / RATE,
            "rms": float(np.sqrt(np.mean(samples ** 2))) / 32768 if len(samples) else 0.0,
            "clipped": bool(np.any(np.convolve(full, np.ones(CLIPPED)) >= CLIPPED))}
    return result


def interval(errors: np.ndarray, lengths: np.ndarray) -> tuple[float, float, float]:
    """Errors for each word, in percent, and the bounds of 95 of 100 resamplings."""
    rng = np.random.default_rng(1)
    draws = rng.integers(0, len(errors), (RESAMPLINGS, len(errors)))
    rates = errors[draws].sum(1) / lengths[draws].sum(1)
    low, high = np.percentile(rates, [2.5, 97.5])
    return tuple(100 * float(x) for x in (errors.sum() / lengths.sum(), low, high))


def summarise(args, sentences: list[dict]) -> dict:
    lengths = np.array([len(words(s["text"])) for s in sentences])
    figures = {"sentences": len(sentences), "words": int(lengths.sum()), "seed": args.seed,
               "say_options": args.say_option}
    errors = {kind: np.array([s[kind]["errors"] for s in sentences]) for kind in args.kinds}
    for kind in args.kinds:
        parts = [s[kind] for s in sentences]
        figures[kind] = {
            "wer": interval(errors[kind], lengths),
            "above_flite": interval(errors[kind] - errors["flite"], lengths),
            "silent": sum(p["rms"] < SILENT for p in parts),
            "clipped": sum(p["clipped"] for p in parts),
            "rms_median": float(np.median([p["rms"] for p in parts])),
            "seconds": sum(p["seconds"] for p in parts)}
    if "remora" in args.kinds:
        figures["finish"] = dict(Counter(s["report"]["finish"] for s in sentences))
        figures["length_stops"] = sum(s["report"]["finish"] == "length" for s in sentences)
        for name in ("realtime_factor", "first_audio_ms"):
            figures[f"{name}_median"] = float(np.median([s["report"][name] for s in sentences]))
    return figures


def print_summary(args, figures: dict) -> None:
    print(f"{figures['sentences']} sentences, {figures['words']} words, seeds from "
          f"{figures['seed']}, `say` options: {' '.join(figures['say_options']) or 'none'}")
    print("\n| sound | word error rate | 95 % interval | above flite | silent | clipped | seconds |")
    print("|---|---|---|---|---|---|---|")
    for kind in args.kinds:
        f = figures[kind]
        rate, low, high = f["wer"]
        above, above_low, above_high = f["above_flite"]
        print(f"| {kind} | {rate:.1f} % | {low:.1f} to {high:.1f} | {above:+.1f} ({above_low:+.1f} "
              f"to {above_high:+.1f}) | {f['silent']} | {f['clipped']} | {f['seconds']:.0f} |")
    if "finish" in figures:
        print(f"\nfinish: {figures['finish']}; length stops: {figures['length_stops']}; median "
              f"realtime factor {figures['realtime_factor_median']:.2f}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="text.txt, audio.npy, offsets.npy")
    parser.add_argument("--out", type=Path, required=True, help="folder for the sound files")
    parser.add_argument("--model", help="checkpoint folder (default: the voice that ships)")
    parser.add_argument("--codec", help="folder of another codec; with --kinds codec it is enough")
    parser.add_argument("--remora", default=str(ROOT / "build/release/examples/cli/remora"))
    parser.add_argument("--count", type=int, default=100, help="held-out sentences: the last N")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=1, help="of the first sentence; counts up")
    parser.add_argument("--say-option", action="append", default=[], help="handed to `remora say`")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--json", type=Path, help="keep figures and every sentence here")
    args = parser.parse_args()
    args.kinds = [kind for kind in KINDS if kind in args.kinds or kind == "flite"]
    args.model_options = ["--model", args.model] if args.model else []
    args.model_options += ["--codec", args.codec] if args.codec else []
    return args


def main() -> None:
    args = parse_arguments()
    texts, sounds = held_out(args.data, args.count)
    for kind in args.kinds:
        (args.out / kind).mkdir(parents=True, exist_ok=True)

    def one(number: int) -> dict:
        report = make_sounds(args, number, texts[number], sounds[number])
        return {"text": texts[number], "report": report, **hear(args, number, texts[number])}

    with ThreadPoolExecutor(args.jobs) as pool:
        sentences = list(pool.map(one, range(len(texts))))
    figures = summarise(args, sentences)
    print_summary(args, figures)
    if args.json:
        args.json.write_text(json.dumps({"figures": figures, "sentences": sentences}, indent=1))


if __name__ == "__main__":
    main()
