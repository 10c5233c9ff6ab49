#!/usr/bin/env python3
"""What derivatives cost: the programs of derivatives/ and, beside each, how many times longer its derivative takes.

Prints a Markdown table: the times of the program and of its derivative, and their ratio. With --futhark the same programs are
compiled by Futhark's compiler for its backends c and multicore and stand beside it, if they compile; with --jax so do those of
derivatives/peers.py. All take turns, so that what else the machine does falls on all alike; a time is the least of all runs, a median
with --median. Results are compared with the first row's; it ends with an error if they differ. See README.md.
"""

import argparse
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Name, program, and the sizes that its input is made of: those of the inputs that are published for such programs, and a quick look.
TASKS = [
    ("gmm", "gmm", "10000i64 10i64 25i64", "200i64 4i64 5i64"),
    ("ba", "ba", "49i64 7776i64 31843i64", "5i64 20i64 100i64"),
    ("lstm", "lstm", "1024i64 14i64 2i64", "20i64 4i64 2i64"),
    ("kmeans", "kmeans", "100000i64 10i64 20i64", "500i64 4i64 5i64"),
    ("hand", "hand", "22i64 544i64 1000i64 100000i64 false", "22i64 20i64 10i64 50i64 false"),
    ("hand, big", "hand", "22i64 10000i64 1000i64 100000i64 false", "22i64 40i64 10i64 50i64 false"),
    ("hand, shares", "hand", "22i64 544i64 1000i64 100000i64 true", "22i64 20i64 10i64 50i64 true"),
    ("hand, big, shares", "hand", "22i64 10000i64 1000i64 100000i64 true", "22i64 40i64 10i64 50i64 true"),
    ("mnist", "mnist", "256i64 784i64 128i64 10i64", "8i64 12i64 5i64 3i64"),
]
ENTRIES = ["primal", "derivative"]
# How far results may be apart, in units of the greatest number of an array: sums are made in different orders.
TOLERANCE = 1e-10


def run(command, data=None, threads=None):
    """What a command prints; with a number of threads it has as many processors."""
    own = sorted(os.sched_getaffinity(0))[:threads]
    done = subprocess.run(command, input=data, capture_output=True, check=False, preexec_fn=lambda: os.sched_setaffinity(0, own))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr.decode()}")
    return done.stdout


class Machine:
    """galopvm with some options."""

    def __init__(self, name, galopvm, options):
        self.name, self.galopvm, self.options = name, galopvm, options

    def take(self, program):
        self.program = HERE / "derivatives" / f"{program}.fut"
        return True

    def call(self, entry, file, *more):
        return run([self.galopvm, "run", str(self.program), "-e", entry, "-i", str(file), *more, *self.options])


class Compiled:
    """An executable that Futhark's compiler makes."""

    def __init__(self, futhark, backend, folder):
        self.name, self.futhark, self.backend, self.folder = f"futhark {backend}", futhark, backend, Path(folder)

    def take(self, program):
        self.program = self.folder / f"{program}-{self.backend}"
        if self.program.exists():
            return True
        source = HERE / "derivatives" / f"{program}.fut"
        command = [self.futhark, self.backend, str(source), "-o", str(self.program)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def call(self, entry, file, *more):
        return run([str(self.program), "-e", entry, *more], file.read_bytes())


class Peer:
    """A program of derivatives/peers.py, which has as many processors as it is to have threads: XLA makes a thread for each."""

    def __init__(self, name, python, threads):
        self.name, self.python, self.threads = name, python, threads

    def take(self, program):
        self.program = program
        return True

    def call(self, entry, file, *more):
        peers = str(HERE / "derivatives" / "peers.py")
        return run([self.python, peers, self.program, "-e", entry, *more], file.read_bytes(), self.threads)


def measured(machine, entry, file, runs):
    """Milliseconds of each run, and the results in the binary format."""
    with tempfile.NamedTemporaryFile("r", suffix=".times") as found:
        data = machine.call(entry, file, "-b", "-r", str(runs), "-t", found.name)
        return [int(line) / 1000 for line in found.read().split()], data


def arrays(data):
    """Arrays of doubles with their shapes, of the binary format."""
    found, at = [], 0
    while at < len(data):
        if data[at : at + 1].isspace():
            at += 1
            continue
        rank = data[at + 2]
        shape = struct.unpack_from(f"<{rank}q", data, at + 7)
        start = at + 7 + 8 * rank
        at = start + 8 * math.prod(shape)
        found.append((shape, array("d", data[start:at])))
    return found


def agree(ours, theirs):
    if [shape for shape, _ in ours] != [shape for shape, _ in theirs]:
        return False
    for (_, a), (_, b) in zip(ours, theirs):
        allowed = TOLERANCE * max(map(abs, a), default=0)
        if not all(abs(x - y) <= allowed for x, y in zip(a, b)):
            return False
    return True


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--galopvm", default=str(ROOT / "target/release/galopvm"))
    options.add_argument("--futhark", help="Futhark's compiler, for its rows")
    options.add_argument("--jax", metavar="PYTHON", help="a Python that has JAX, for its rows")
    options.add_argument("--threads", default="1", help="threads of galopvm and JAX; several with commas are rows of their own")
    options.add_argument("--backend", default="auto")
    options.add_argument("--only", action="append", help="this program, perhaps several times")
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--median", action="store_true")
    options.add_argument("--small", action="store_true", help="a quick look")
    chosen = options.parse_args()
    middle = statistics.median if chosen.median else min
    with tempfile.TemporaryDirectory() as folder:
        machines = []
        several = {int(n): f"{n} thread{'s' * (n != '1')}" for n in chosen.threads.split(",")}
        for threads, words in several.items():
            own = ["--backend", chosen.backend, "--threads", str(threads)]
            machines.append(Machine(f"galopvm, {words}", chosen.galopvm, own))
        if chosen.futhark:
            machines += [Compiled(chosen.futhark, backend, folder) for backend in ("c", "multicore")]
        if chosen.jax:
            machines += [Peer(f"JAX, {words}", chosen.jax, threads) for threads, words in several.items()]
        print("| program | by | primal ms | derivative ms | ratio |\n|---|---|---|---|---|")
        for name, program, published, small in TASKS:
            if chosen.only and program not in chosen.only:
                continue
            sizes = small if chosen.small else published
            source = str(HERE / "derivatives" / f"{program}.fut")
            file = Path(folder) / f"{program}.in"
            file.write_bytes(run([chosen.galopvm, "run", source, "-e", "input", "-b"], sizes.encode()))
            able = [machine for machine in machines if machine.take(program)]
            found, first = {(machine.name, entry): [] for machine in able for entry in ENTRIES}, {}
            for number in range(chosen.rounds):
                for machine in able:
                    for entry in ENTRIES:
                        times, data = measured(machine, entry, file, chosen.runs)
                        found[machine.name, entry] += times
                        if number > 0:
                            continue
                        own = arrays(data)
                        if not agree(first.setdefault(entry, own), own):
                            sys.exit(f"{name}, {entry}: the results of {machine.name} differ from those of {able[0].name}")
            for machine in able:
                primal, derivative = (middle(found[machine.name, entry]) for entry in ENTRIES)
                print(f"| {name} | {machine.name} | {primal:.2f} | {derivative:.2f} | {derivative / primal:.1f} |", flush=True)


if __name__ == "__main__":
    main()
