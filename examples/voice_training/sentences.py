"""Writes the text of the voice: one sentence a line, the last --held-out lines for validation.

The sentences are drawn from the frames of frames.py and the words of words.py; about one in ten is
short (one to four words) and one in twenty is a row of unrelated words. No sentence occurs twice,
so the held-out ones are never trained on; they come from the ordinary frames only.
"""

import argparse
import pathlib
import random
import re

import frames
import words

ORDINARY = "\n".join([frames.STATEMENTS, frames.QUESTIONS, frames.REQUESTS]).split("\n")
SHORT = frames.SHORT.replace("\n", "|").split("|")
SHARE_SHORT, SHARE_UNRELATED = 0.10, 0.05


def plain(names):
    return [name.replace("-", " ") for name in names]


def column(verbs, form):
    return [verb[form] for verb in verbs]


def word_classes():
    """Class name -> the strings it may become."""
    named = {name: plain(value) for name, value in vars(words).items()
             if name.isupper() and isinstance(value, list) and isinstance(value[0], str)}
    numbers = [words.number(n) for n in range(101)]
    hours = [words.number(n) for n in range(1, 13)]
    named.update(
        VERB=column(words.VERB, 0), PAST=column(words.VERB, 1), VERBING=column(words.VERB, 2),
        ACT=column(words.ACT, 0), ACTED=column(words.ACT, 1), ACTING=column(words.ACT, 2),
        MEAL=["breakfast", "lunch", "dinner"], INSTRUMENT=["piano", "guitar", "violin"],
        NUM=numbers, HOUR=hours,
        TIME=[f"{h} {m}" for h in hours for m in ("o'clock", "thirty", "fifteen", "forty five")])
    kinds = ("PERSON ANIMAL THING PLACE FOOD IDEA MANNER SHAPE SITE JUDGED COLOR NAME CITY ADVERB "
             "VERB PAST VERBING ACT ACTED ACTING NUM WEEKDAY MONTH FEEL")
    named["ANY"] = sorted({word for kind in kinds.split() for word in named[kind]})
    return named


def plural(word):
    irregular = {"man": "men", "woman": "women", "child": "children", "mouse": "mice",
                 "knife": "knives", "fish": "fish", "sheep": "sheep", "wolf": "wolves",
                 "person": "people"}
    if word in irregular:
        return irregular[word]
    if re.search("(s|x|ch|sh)$", word):
        return word + "es"
    return word[:-1] + "ies" if re.search("[^aeiou]y$", word) else word + "s"


def fill(frame, classes, rng):
    """One sentence of a frame: words drawn, plurals and 'an' put right, the first letter large."""
    def draw(match):
        word = rng.choice(classes[match[1]])
        return plural(word) if match[2] else word

    text = re.sub(r"\{([A-Z]+)\}(s\b)?", draw, frame)
    text = re.sub(r"\b(a)(?= [aeiou])", "an", text)
    return text[0].upper() + text[1:]


def unrelated(classes, rng):
    row = [rng.choice(classes["ANY"]) for _ in range(rng.randint(3, 8))]
    text = ", ".join(row) if rng.random() < 0.3 else " ".join(row)
    return text[0].upper() + text[1:] + "."


def sentence(classes, rng, ordinary_only=False):
    kind = 1.0 if ordinary_only else rng.random()
    if kind < SHARE_SHORT:
        return fill(rng.choice(SHORT), classes, rng)
    if kind < SHARE_SHORT + SHARE_UNRELATED:
        return unrelated(classes, rng)
    return fill(rng.choice(ORDINARY), classes, rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder for text.txt")
    parser.add_argument("--count", type=int, default=9000, help="training sentences")
    parser.add_argument("--held-out", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    classes, rng = word_classes(), random.Random(args.seed)
    lines = {}  # a set that keeps the order
    while len(lines) < args.count + args.held_out:
        lines.setdefault(sentence(classes, rng, ordinary_only=len(lines) >= args.count))
    (args.data / "text.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
