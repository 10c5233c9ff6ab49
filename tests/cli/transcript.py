"""Types lines at the prompt of galopvm in a terminal, and prints each with what appears below it.

Usage: python3 transcript.py GALOPVM FOLDER < LINES
What differs from run to run has a word in its place, and of answers that depend on the machine the first lines are shown.
"""

import os
import re
import sys

from terminal import Terminal, write

# Their answers are about this machine and this run; a golden file can have their first lines.
OF_THE_MACHINE = {":stats": 2, ":explain": 1, ":profile": 1, ":asm": 1}

# `:watch` goes on until Ctrl-C.
GOES_ON = ":watch"

# What stands for numbers that differ from run to run.
DIFFERS = [
    (r"\d[\d.]* (?:ns|us|ms|s)\b", "TIME"),
    (r"\d[\d.]* (?:bytes|KiB|MiB|GiB)\b", "SIZE"),
    (r"\d+ evaluations", "N evaluations"),
    (r"at most [\d.e-]+ apart", "at most SOME apart"),
]

PROMPT = r"\n\[\d+\]> $"


def answer(at, line, folder):
    """What appears below a line."""
    at.types(line + "\r")
    if line.startswith(GOES_ON):
        at.waits_for(r"is loaded")
        at.types("\x03")
    # The line is drawn again with each key, and once more without the prompt; what counts is below its last form.
    below = re.sub(r"\n+", "\n", at.waits_for(PROMPT).rpartition("]> " + line)[2])
    below = below.lstrip("\n").removeprefix(line).rpartition("\n")[0].strip("\n").replace(os.path.realpath(folder), "FOLDER")
    lines = OF_THE_MACHINE.get(line.split()[0])
    below = "\n".join(below.split("\n")[:lines])
    for differs, shown in DIFFERS:
        below = re.sub(differs, shown, below)
    return below


def main():
    galopvm, folder = sys.argv[1:]
    write(os.path.join(folder, "numbers.txt"), "[1i32, 2i32]")
    os.mkdir(os.path.join(folder, "elsewhere"))
    at = Terminal([galopvm, "repl", "--threads", "1"], folder)
    at.waits_for(r"\[0\]> $")
    for line in sys.stdin.read().splitlines():
        if line == ":quit":
            at.types(line + "\r")
            sys.exit(at.ends())
        print("\n".join(filter(None, ["> " + line, answer(at, line, folder)])), flush=True)


if __name__ == "__main__":
    main()
