#!/usr/bin/env python3
"""What each analysis changes: the programs of examples/seeds with everything on, with each switch off, and with all off.

Prints a Markdown table: blocks of memory taken, copies and their bytes, copies into other layouts, peak memory, median
time and its ratio to the time with everything on. Runs are interleaved, so that what else the machine does falls on all
alike. Results are compared: they must not depend on a switch. See README.md.
"""

import argparse
import math
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SWITCHES = ["galop", "strategy", "reuse", "shortcircuit", "merge", "fusion"]
ALL_ON, ALL_OFF = "everything on", "all off"

# Program, entry point, argument in the size of the examples' README, argument for a quick look.
TASKS = [
    ("nw_lmads", "large", "32i64", "6i64"),
    ("nw_arrays", "large", "257i64", "100i64"),
    ("lu_arrays", "large", "256i64", "80i64"),
    ("hotspot", "large", "1000i64", "150i64"),
    ("lud", "large", "16i64", "4i64"),
    ("lud", "large_slices", "16i64", "4i64"),
    ("nn", "large", "1000000i64", "50000i64"),
    ("option_pricing", "large", "50000i64", "2000i64"),
    ("galop_rowsum", "large", "2000i64", "300i64"),
    ("galop_matmul", "large", "256i64", "64i64"),
    ("galop_sweep", "large", "64i64", "16i64"),
    ("galop_filter", "large", "1000i64", "150i64"),
]


@dataclass
class Figures:
    """What was seen of one program in one setting."""

    times: list = field(default_factory=list)
    blocks: int = 0
    copies: int = 0
    copied: int = 0
    layouts: int | None = None
    peak: int = 0
    results: str = ""


class Wrong(Exception):
    """A program failed, or its results changed."""


def run(args, task, size, off, figures, with_figures):
    """One process: its time in microseconds, and, if they are wanted, its figures."""
    program, entry = task
    command = [args.galopvm, "run", str(ROOT / "examples" / "seeds" / f"{program}.fut"), "-e", entry]
    command += ["--backend", args.backend] + (["--threads", str(args.threads)] if args.threads else [])
    command += ["--no", ",".join(off)] if off else []
    with tempfile.NamedTemporaryFile("r") as times:
        command += ["-t", times.name] + (["-r", str(args.warm)] if args.warm else [])
        # What is counted is one call: further ones would add to it.
        told = counted = subprocess.run(command, input=size, capture_output=True, text=True, timeout=args.timeout)
        if told.returncode == 0:
            figures.times.append(statistics.median(map(int, times.read().split())))
    if with_figures:
        single = command[: command.index("-t")] + ["--stats"]
        counted = subprocess.run(single, input=size, capture_output=True, text=True, timeout=args.timeout)
    for process in (told, counted):
        if process.returncode:
            raise Wrong(f"{' '.join(process.args)}: {process.stderr.strip() or process.returncode}")
    if with_figures:
        read_figures(counted.stderr, figures)
        figures.results = told.stdout


def read_figures(text, figures):
    """The lines of --stats. A line that this version does not print leaves its column out."""
    memory = re.search(r"^memory: peak (\d+) bytes.*?, (\d+) blocks taken", text, re.M)
    copies = re.search(r"^copies: (.*)$", text, re.M)
    if not memory or not copies:
        raise Wrong(f"--stats prints something else than it used to:\n{text}")
    figures.peak, figures.blocks = map(int, memory.groups())
    kinds = re.findall(r"(\d+) \((\d+) bytes\)", copies.group(1))
    figures.copies = sum(int(count) for count, _ in kinds)
    figures.copied = sum(int(size) for _, size in kinds)
    layouts = re.search(r"^layouts: (\d+)", text, re.M)
    figures.layouts = int(layouts.group(1)) if layouts else None


def same(a, b, tolerance):
    """Whether two texts of results are equal; numbers may differ as far as the tolerance goes."""
    if a == b:
        return True
    number = re.compile(r"-?(?:\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?)(?=f|\b)")
    if not tolerance or number.sub("#", a) != number.sub("#", b):
        return False
    pairs = zip(number.findall(a), number.findall(b))
    return all(math.isclose(float(x), float(y), rel_tol=tolerance, abs_tol=1e-9) for x, y in pairs)


def bytes_text(count):
    """A number of bytes for people."""
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count}"


def table(name, settings, found):
    """The rows of one program."""
    base = statistics.median(found[ALL_ON].times)
    layouts = any(figures.layouts is not None for figures in found.values())
    heads = ["without", "blocks", "copies", "bytes copied", *(["layout copies"] if layouts else [])]
    heads += ["peak", "time (ms)", "ratio"]
    print(f"\n### {name}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for setting in settings:
        figures = found[setting]
        time = statistics.median(figures.times)
        cells = [setting, figures.blocks, figures.copies, bytes_text(figures.copied)]
        cells += [figures.layouts or 0] if layouts else []
        cells += [bytes_text(figures.peak), f"{time / 1000:.2f}", f"{time / base:.2f}"]
        print(f"| {' | '.join(map(str, cells))} |")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--galopvm", default=str(ROOT / "target" / "release" / "galopvm"), help="the binary")
    parser.add_argument("--backend", default="interp", help="as for `galopvm run`: interp, auto, x86, ..")
    parser.add_argument("--threads", type=int, help="as for `galopvm run`")
    parser.add_argument("--rounds", type=int, default=5, help="how often each setting runs")
    parser.add_argument("--warm", type=int, metavar="N", help="time the median of N calls after a first one")
    parser.add_argument("--small", action="store_true", help="small sizes, for a quick look")
    parser.add_argument("--only", action="append", metavar="PROGRAM", help="these programs alone")
    parser.add_argument("--switches", default=",".join(SWITCHES), help="the switches that are tried one by one")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one process")
    args = parser.parse_args()
    switches = [name for name in args.switches.split(",") if name]
    settings = {ALL_ON: [], **{name: [name] for name in switches}, ALL_OFF: SWITCHES}
    # Reductions of floats may be computed in another order by machine code.
    tolerance = 0 if args.backend == "interp" else 1e-4
    how = f"median of {args.rounds} processes" + (f" of {args.warm} warm calls each" if args.warm else "")
    print(f"`--backend {args.backend}`, {how}, {platform.machine()} with {platform.system()} {platform.release()}")
    wrong = []
    for program, entry, large, small in TASKS:
        if args.only and program not in args.only:
            continue
        size = small if args.small else large
        name = f"{program}, `{entry}` of `{size}`"
        found = {setting: Figures() for setting in settings}
        try:
            for turn in range(args.rounds):
                # Another order in each round: what comes first warms caches for the others.
                order = list(settings.items())
                order = order[turn % len(order) :] + order[: turn % len(order)]
                for setting, off in order:
                    run(args, (program, entry), size, off, found[setting], turn == 0)
        except (Wrong, subprocess.TimeoutExpired, ValueError) as problem:
            wrong.append(f"{name}: {problem}")
            continue
        table(name, settings, found)
        for setting in settings:
            if not same(found[ALL_ON].results, found[setting].results, tolerance):
                wrong.append(f"{name}: other results without {setting}")
    for problem in wrong:
        print(f"WRONG: {problem}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
