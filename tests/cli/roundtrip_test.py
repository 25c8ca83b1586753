"""`roundtrip` over a folder of odd sound files: the right length or the right error for each."""
import math
import struct
import unittest

from support import CODEC, CliTest, run, run_json

FRAME = 2048  # samples at 44.1 kHz
RATE = 44100


def tone(count, channels=1):
    """Interleaved samples of a tone, -1 to 1."""
    return [0.5 * math.sin(0.03 * i) for i in range(count) for _ in range(channels)]


def pack(samples, kind):
    """Samples as the bytes of a WAV data chunk, with format tag and bits."""
    if kind == "u8":
        return bytes(int(128 + 127 * s) for s in samples), 1, 8
    if kind == "s24":
        return b"".join(struct.pack("<i", int(s * 8388607))[:3] for s in samples), 1, 24
    code, scale, tag, bits = {"s16": ("h", 32767, 1, 16), "s32": ("i", 2147483647, 1, 32),
                              "f32": ("f", None, 3, 32), "f64": ("d", None, 3, 64)}[kind]
    values = samples if scale is None else [int(s * scale) for s in samples]
    return struct.pack(f"<{len(values)}{code}", *values), tag, bits


def wav(samples, rate=RATE, channels=1, kind="s16", riff_size=None, data_size=None, extra=b"",
        extensible=False, cut=0):
    data, tag, bits = pack(samples, kind)
    block = channels * bits // 8
    fmt = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate, rate * block, block,
                      bits)
    if extensible:
        fmt += struct.pack("<HHI", 22, bits, 0) + struct.pack("<H", tag) + bytes.fromhex(
            "000000001000800000aa00389b71")
    body = (b"WAVEfmt " + struct.pack("<I", len(fmt)) + fmt + extra + b"data" +
            struct.pack("<I", len(data) if data_size is None else data_size) + data)
    whole = b"RIFF" + struct.pack("<I", len(body) if riff_size is None else riff_size) + body
    return whole[:len(whole) - cut]


def aiff(samples, rate=RATE):
    data = struct.pack(f">{len(samples)}h", *(int(s * 32767) for s in samples))
    mantissa, exponent = rate << 48, 16383 + 15  # 80-bit float: rate * 2^48 has its top bit low
    while not mantissa >> 63:
        mantissa, exponent = mantissa << 1, exponent - 1
    common = struct.pack(">hIhHQ", 1, len(samples), 16, exponent, mantissa)
    sound = struct.pack(">II", 0, 0) + data
    body = (b"AIFFCOMM" + struct.pack(">I", len(common)) + common + b"SSND" +
            struct.pack(">I", len(sound)) + sound)
    return b"FORM" + struct.pack(">I", len(body)) + body


def au(samples, rate=RATE):
    data = struct.pack(f">{len(samples)}h", *(int(s * 32767) for s in samples))
    return struct.pack(">4sIIIII", b".snd", 24, len(data), 3, rate, 1) + data


SECOND = tone(RATE)
GOOD = {  # name: (bytes, samples per channel, rate)
    "plain.wav": (wav(SECOND), RATE, RATE),
    "u8.wav": (wav(SECOND, kind="u8"), RATE, RATE),
    "s24.wav": (wav(SECOND, kind="s24"), RATE, RATE),
    "s32.wav": (wav(SECOND, kind="s32"), RATE, RATE),
    "f32.wav": (wav(SECOND, kind="f32"), RATE, RATE),
    "f64.wav": (wav(SECOND, kind="f64"), RATE, RATE),
    "extensible.wav": (wav(SECOND, extensible=True), RATE, RATE),
    "stereo.wav": (wav(tone(20000, 2), channels=2), 20000, RATE),
    "five.wav": (wav(tone(9000, 5), channels=5), 9000, RATE),
    "r4000.wav": (wav(tone(4000), rate=4000), 4000, 4000),
    "r11025.wav": (wav(tone(11025), rate=11025), 11025, 11025),
    "r44099.wav": (wav(tone(30000), rate=44099), 30000, 44099),
    "r48000.wav": (wav(tone(48000), rate=48000), 48000, 48000),
    "r192000.wav": (wav(tone(96000), rate=192000), 96000, 192000),
    "data0.wav": (wav(SECOND, data_size=0), RATE, RATE),
    "dataFF.wav": (wav(SECOND, data_size=0xFFFFFFFF, riff_size=0xFFFFFFFF), RATE, RATE),
    "data10x.wav": (wav(SECOND, data_size=20 * RATE), RATE, RATE),
    "riff0.wav": (wav(SECOND, riff_size=0), RATE, RATE),
    "list.wav": (wav(SECOND, extra=b"LIST" + struct.pack("<I", 32) + bytes(32)), RATE, RATE),
    "half_sample.wav": (wav(SECOND, cut=1), RATE - 1, RATE),
    "one_sample.wav": (wav([0.5]), 1, RATE),
    "frame.wav": (wav(tone(FRAME)), FRAME, RATE),
    "frame_and_one.wav": (wav(tone(FRAME + 1)), FRAME + 1, RATE),
    "silent.wav": (wav([0.0] * 5000), 5000, RATE),
    "nan.wav": (wav([math.nan, math.inf] + tone(5000), kind="f32"), 5002, RATE),
    "big_endian.aiff": (aiff(SECOND), RATE, RATE),
    "sun.au": (au(SECOND), RATE, RATE),
    "wave_named.mp3": (wav(SECOND), RATE, RATE),
    "имя 名 é #.wav": (wav(SECOND), RATE, RATE),
}
BAD = {  # name: (bytes, a word of the message)
    "empty.wav": (b"", "empty.wav"),
    "text.wav": (b"this is no sound at all, only letters", "text.wav"),
    "header_only.wav": (wav([])[:30], "header_only.wav"),
    "no_samples.wav": (wav([]), "no samples"),
    "too_slow.wav": (wav(tone(3000), rate=3999), "3999"),
    "pointer.wav": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
                    "pointer.wav"),
}


class OddFiles(CliTest):
    def test_there_are_more_than_twenty(self):
        self.assertGreater(len(GOOD) + len(BAD), 20)

    def test_RB_31_sound_keeps_its_length(self):
        for name, (content, count, rate) in GOOD.items():
            with self.subTest(name):
                out = self.folder / "out.wav"
                report = run_json("roundtrip", self.write(name, content), "--codec", CODEC, "-o",
                                  out)
                frames = -(-math.ceil(count * RATE / rate) // FRAME)
                self.assertEqual((report["frames"], report["samples"]), (frames, frames * FRAME))
                self.assertEqual(out.stat().st_size, 44 + 2 * frames * FRAME)

    def test_RB_26_what_is_no_sound_is_an_error_that_says_why(self):
        for name, (content, word) in BAD.items():
            with self.subTest(name):
                self.assert_fails(run("roundtrip", self.write(name, content), "--codec", CODEC,
                                      "--json"), 1, word)
        self.assert_fails(run("roundtrip", self.folder, "--codec", CODEC, "--json"), 1,
                          self.folder.name)


if __name__ == "__main__":
    unittest.main()
