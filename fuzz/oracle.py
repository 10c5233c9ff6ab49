#!/usr/bin/env python3
"""Compares generated programs with what Futhark's own interpreter says of them.

The fuzzer compares galopvm with itself: whatever its front end makes wrong of a program is wrong in both. Here the programs
of its cases run through `futhark run` as well, which shares nothing with galopvm, on random arguments, and each way of
executing them has to give the same values, or an error where Futhark has one.

    fuzz/oracle.py                                   100 programs of `far`
    fuzz/oracle.py sessions --count 1000 --start 7   others, from a number on
    fuzz/oracle.py --futhark PATH                    where futhark is (default: in the PATH)

f16 is f32 here, since Futhark has other bits for f16 on processors without it; programs with galopvm's own accumulators are
left out. Cases of numbers that were seen before are the same again; the arguments as well.

Exit codes: 0 all agree, 1 some do not, 2 something is missing. See README.md.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WAYS = [
    ["--backend", "interp"],
    ["--backend", "auto"],
    ["--backend", "x86"],
    ["--backend", "interp", "--no", "galop,strategy,reuse,shortcircuit,merge,machine"],
]
# Values that stand for themselves, in text; the rest are brackets and commas.
TOKEN = re.compile(r"[^\s,\[\]]+")
# Digits behind the point that Futhark prints.
TOLERANCE = 1e-6


@dataclass
class Tally:
    """What was seen."""

    programs: int = 0
    calls: int = 0
    errors: int = 0
    unanswered: int = 0
    different: int = 0


def output(command, text="", seconds=60):
    """Exit code, standard output and standard error; the exit code is nothing if it takes too long."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds, check=False)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", ""


def program(fuzzer, target, number):
    """The program of a case; nothing if Futhark does not have all that is in it."""
    text = output([fuzzer, target, "--start", str(number), "--count", "1", "--threads", "1"])[1]
    begin = re.search(r"^(def |#\[noinline\]|entry )", text, re.M)
    if not begin:
        return None
    text = re.split(r"^1 cases:", text[begin.start() :], maxsplit=1, flags=re.M)[0]
    return None if "put_" in text or "_stream" in text else text.replace("f16", "f32")


def value(numbers, elem, extents):
    """A random value of a type."""
    if extents:
        rows = (value(numbers, elem, extents[1:]) for _ in range(extents[0]))
        return "[" + ", ".join(rows) + "]"
    if elem.startswith("i"):
        return f"{numbers.randint(-20, 100)}{elem}"
    return f"{numbers.randint(-80, 400) * 0.25}{elem}"


def arguments(numbers, parameters):
    """Values for the parameters of an entry point; arrays have extents of two sizes."""
    sizes = [numbers.randint(1, 7), numbers.randint(1, 7)]
    given = {"k": lambda: f"{numbers.randint(0, 12)}i64", "q": lambda: f"{numbers.randint(0, 60)}i64"}
    given["x"] = lambda: f"{numbers.randint(0, 40) * 0.25}f64"
    lines = []
    for name, dims, elem in re.findall(r"\((\w+): \*?((?:\[\])*)(\w+)\)", parameters):
        rank = dims.count("[")
        whole = given.get(name, lambda: value(numbers, elem, [numbers.choice(sizes) for _ in range(rank)]))
        lines.append(whole())
    return "\n".join(lines) + "\n"


def are_alike(ours, theirs):
    """Whether two texts are the same values."""
    if TOKEN.sub("", ours).split() != TOKEN.sub("", theirs).split():
        return False
    a, b = TOKEN.findall(ours), TOKEN.findall(theirs)
    return len(a) == len(b) and all(map(is_alike, a, b))


def is_alike(a, b):
    """Whether two scalars are the same value."""
    if a == b:
        return True
    if a[-3:] != b[-3:] or not a[-3:].startswith("f"):
        return False
    try:
        x, y = float(a[:-3]), float(b[:-3])
    except ValueError:
        # nan and inf have no sign in one of them.
        return a[:-3].strip("-").rstrip(".") == b[:-3].strip("-").rstrip(".")
    return abs(x - y) <= TOLERANCE * max(1, abs(x)) or x != x and y != y


def compare(args, folder, number, text, tally):
    """Runs all entry points of a program in all ways."""
    file = folder / f"case{number}.fut"
    file.write_text(text, encoding="utf-8")
    tally.programs += 1
    numbers = random.Random(number)
    for entry, parameters in re.findall(r"^entry (\w+) (.*)=$", text, re.M):
        for _ in range(2):
            given = arguments(numbers, parameters)
            code, theirs, _ = output([args.futhark, "run", "-w", "-e", entry, str(file)], given)
            if code is None:
                tally.unanswered += 1
                continue
            tally.errors += code != 0
            for way in WAYS:
                command = [args.galopvm, "run", "--no-warnings", "-e", entry, *way, str(file)]
                ours = output(command, given)
                tally.calls += 1
                agrees = ours[0] != 0 if code != 0 else ours[0] == 0 and are_alike(ours[1], theirs)
                if not agrees:
                    tally.different += 1
                    kept = args.keep / f"case{number}-{entry}"
                    args.keep.mkdir(parents=True, exist_ok=True)
                    kept.with_suffix(".fut").write_text(text, encoding="utf-8")
                    kept.with_suffix(".in").write_text(given, encoding="utf-8")
                    print(f"case {number}, {entry} {' '.join(way)}: {kept}.fut, .in\n  {ours[2].strip()[:200]}", flush=True)
                    break
    file.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=["far", "sessions"], default="far", help="whose programs")
    parser.add_argument("--start", type=int, default=0, help="the number of the first case (default: 0)")
    parser.add_argument("--count", type=int, default=100, help="how many cases (default: 100)")
    parser.add_argument("--futhark", default="futhark", help="the other implementation")
    parser.add_argument("--galopvm", default=str(ROOT / "target/release/galopvm"), help="default: target/release/galopvm")
    parser.add_argument("--fuzzer", default=str(ROOT / "target/release/galopvm-fuzz"), help="who makes the programs")
    parser.add_argument("--keep", type=Path, default=ROOT / "target/oracle", help="where differences are kept")
    args = parser.parse_args()
    for tool in (args.futhark, args.galopvm, args.fuzzer):
        if not shutil.which(tool):
            print(f"oracle: {tool} is not there (cargo build --release -p galopvm-cli -p galopvm-fuzz)", file=sys.stderr)
            return 2
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.start, args.start + args.count):
            text = program(args.fuzzer, args.target, number)
            if text:
                compare(args, Path(folder), number, text, tally)
    print(
        f"{tally.programs} programs, {tally.calls} calls, {tally.errors} arguments that end with an error, "
        f"{tally.unanswered} without an answer; {tally.different} differ"
    )
    return 1 if tally.different else 0


if __name__ == "__main__":
    sys.exit(main())
