#!/usr/bin/env python3
"""What derivatives cost: the programs of derivatives/ and, beside each, how many times longer its derivative takes.

Prints a Markdown table: the times of the program and of its derivative, and their ratio. With --futhark the same programs are
compiled by Futhark's compiler for its backends c and multicore and stand beside it, if they compile. All columns take turns, so that
what else the machine does falls on all alike; a time is the least of all runs, a median with --median. See README.md.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Program, and the sizes that its input is made of: those of the inputs that are published for such programs, and a quick look.
TASKS = [
    ("gmm", "10000i64 10i64 25i64", "200i64 4i64 5i64"),
    ("ba", "49i64 7776i64 31843i64", "5i64 20i64 100i64"),
    ("lstm", "1024i64 14i64 2i64", "20i64 4i64 2i64"),
    ("kmeans", "100000i64 10i64 20i64", "500i64 4i64 5i64"),
]
ENTRIES = ["primal", "derivative"]


def run(command, data=None):
    done = subprocess.run(command, input=data, capture_output=True, check=False)
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

    def command(self, entry, file, runs, times):
        common = ["-e", entry, "-i", str(file), "-n", "-r", str(runs), "-t", times]
        return [self.galopvm, "run", str(self.program), *common, *self.options], None


class Compiled:
    """An executable that Futhark's compiler makes."""

    def __init__(self, futhark, backend, folder):
        self.name, self.futhark, self.backend, self.folder = f"futhark {backend}", futhark, backend, Path(folder)

    def take(self, program):
        self.program = self.folder / f"{program}-{self.backend}"
        source = HERE / "derivatives" / f"{program}.fut"
        command = [self.futhark, self.backend, str(source), "-o", str(self.program)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def command(self, entry, file, runs, times):
        return [str(self.program), "-e", entry, "-n", "-r", str(runs), "-t", times], file.read_bytes()


def times(machine, entry, file, runs):
    """Milliseconds of each run."""
    with tempfile.NamedTemporaryFile("r", suffix=".times") as found:
        command, data = machine.command(entry, file, runs, found.name)
        run(command, data)
        return [int(line) / 1000 for line in found.read().split()]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--galopvm", default=str(ROOT / "target/release/galopvm"))
    options.add_argument("--futhark", help="Futhark's compiler, for the columns beside")
    options.add_argument("--threads", default="1", help="threads of galopvm; several with commas are columns of their own")
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
        for threads in chosen.threads.split(","):
            own = ["--backend", chosen.backend, "--threads", threads]
            machines.append(Machine(f"galopvm, {threads} thread{'s' * (threads != '1')}", chosen.galopvm, own))
        if chosen.futhark:
            machines += [Compiled(chosen.futhark, backend, folder) for backend in ("c", "multicore")]
        print("| program | by | primal ms | derivative ms | ratio |\n|---|---|---|---|---|")
        for program, published, small in TASKS:
            if chosen.only and program not in chosen.only:
                continue
            sizes = small if chosen.small else published
            source = str(HERE / "derivatives" / f"{program}.fut")
            file = Path(folder) / f"{program}.in"
            file.write_bytes(run([chosen.galopvm, "run", source, "-e", "input", "-b"], sizes.encode()))
            able = [machine for machine in machines if machine.take(program)]
            found = {(machine.name, entry): [] for machine in able for entry in ENTRIES}
            for _ in range(chosen.rounds):
                for machine in able:
                    for entry in ENTRIES:
                        found[machine.name, entry] += times(machine, entry, file, chosen.runs)
            for machine in able:
                primal, derivative = (middle(found[machine.name, entry]) for entry in ENTRIES)
                print(f"| {program} | {machine.name} | {primal:.2f} | {derivative:.2f} | {derivative / primal:.1f} |", flush=True)


if __name__ == "__main__":
    main()
