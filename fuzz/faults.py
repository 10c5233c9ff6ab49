#!/usr/bin/env python3
"""Plants mistakes in the analyses and in the passes over core, and tells for each whether the fuzzer finds it.

The mistakes are those of faults.txt. The tree is copied into a scratch folder with a target folder of its own, all of them
are planted there, each behind a switch, and the fuzzer is built once. Then it runs `far` and `sessions` side by side, or what
the record says in their place, with one mistake made at a time, until one of the runs finds something or the time is over.
Without a mistake it has to find nothing in a short run.

    fuzz/faults.py                       all of them
    fuzz/faults.py life-end key-stride   some of them
    fuzz/faults.py --seconds 60          at most a minute each instead of ten

Exit codes: 0 all were found, 1 some were not, 2 a mistake could not be planted or built, or the tree itself is wrong.
See README.md.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "fuzz" / "faults.txt"
TARGETS = ["far", "sessions"]
# Seconds of the run without a mistake.
SOUND = 30
# What stands for a mistake being made, in faults.txt; the crates that are asked, of which everything else uses one, and what they
# are asked.
SWITCH = "FAULT"
ASKED = {"galopvm_lmad": "vm/lmad/src/lib.rs", "galopvm_base": "vm/base/src/lib.rs"}
ASK = """
extern crate self as {crate};

/// Whether a mistake is made in this run.
pub fn planted(name: &str) -> bool {{
    static MADE: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    MADE.get_or_init(|| std::env::var("GALOPVM_FAULT").ok()).as_deref() == Some(name)
}}
"""
# What the fuzzer is made of: optimised a little, in pieces that are compiled again only where they changed. The rest is
# compiled once, as always.
CRATES = ["base", "lmad", "bytecode", "kir", "analysis", "check", "store", "data", "lift", "runtime", "stdlib", "frontend", "jit", "gpu", "fuzz"]
QUICK = ["--config", "profile.release.incremental=true"]
QUICK += [word for crate in CRATES for word in ("--config", f"profile.release.package.galopvm-{crate}.opt-level=1")]


@dataclass
class Fault:
    """A mistake: what it is, and where it is made."""

    name: str
    meaning: str
    file: str
    before: list = field(default_factory=list)
    after: list = field(default_factory=list)
    # What the fuzzer runs.
    targets: list = field(default_factory=lambda: TARGETS)


@dataclass
class Outcome:
    """What became of a run of the fuzzer: who found something, when, in how many cases, and what it said first."""

    target: str | None
    seconds: float
    cases: int
    words: str = ""


class Unusable(Exception):
    """The table or the tree is not as it has to be."""


def faults_of(text):
    """The records of the table."""
    found = []
    for record in re.split(r"\n\s*\n", text):
        lines = [line for line in record.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        name, colon, meaning = lines[0].partition(": ")
        before = [line[1:] for line in lines[2:] if line.startswith("-")]
        after = [line[1:] for line in lines[2:] if line.startswith("+")]
        by = [line[3:].split(", ") for line in lines[2:] if line.startswith("by ")]
        is_whole = colon and before and len(before) + len(after) + len(by) == len(lines) - 2 and len(by) < 2
        if not is_whole or sum(line.count(SWITCH) for line in after) == 0:
            raise Unusable(f"faults.txt: this is no record:\n{record}")
        found.append(Fault(name, meaning, lines[1], before, after, *by))
    return found


def planted(text, fault):
    """The text of a file with the mistake."""
    before, after = "\n".join(fault.before), "\n".join(fault.after)
    count = text.count(before)
    if count != 1:
        raise Unusable(f"{fault.name}: {fault.file} has this {count} times and should have it once:\n{before}")
    # The front end knows nothing of views of memory.
    crate = "galopvm_base" if fault.file.startswith("frontend/") else "galopvm_lmad"
    return text.replace(before, after.replace(SWITCH, f'::{crate}::planted("{fault.name}")'))


def plant(faults, scratch):
    """Plants all mistakes, and what says which one is made."""
    for file in {fault.file for fault in faults}:
        text = (ROOT / file).read_text(encoding="utf-8")
        for fault in faults:
            if fault.file == file:
                text = planted(text, fault)
        write(scratch / file, text)
    for crate, file in ASKED.items():
        write(scratch / file, (ROOT / file).read_text(encoding="utf-8") + ASK.format(crate=crate))


def write(path, text):
    """Writes a file, unless it is like that: what did not change is not compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def copy_tree(scratch, changed):
    """Brings the files of the repository that differ into the scratch folder, but for those that will be changed there, and
    takes away those that are gone."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    for folder, inner, files in os.walk(scratch):
        inner[:] = [name for name in inner if name != "target"]
        for file in files:
            path = Path(folder) / file
            if str(path.relative_to(scratch)) not in wanted:
                path.unlink()
    for name in sorted(wanted - changed):
        source, target = ROOT / name, scratch / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)


def build(scratch):
    """Builds the fuzzer; the messages of the compiler if that fails."""
    command = ["cargo", "build", "--release", "-p", "galopvm-fuzz", *QUICK]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(scratch / "target")}
    done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr


def hunt(scratch, fault, targets, seconds, start):
    """Runs targets side by side, with a mistake or without one, until one of them finds something."""
    binary, begin = scratch / "target" / "release" / "galopvm-fuzz", time.monotonic()
    environment = {**os.environ, "GALOPVM_FAULT": fault}
    runs = {}
    for target in targets:
        command = [str(binary), *target.split(), "--start", str(start), "--count", str(1 << 40)]
        command += ["--seconds", str(seconds), "--threads", "1"]
        log = open(scratch / f"{target}.log", "w", encoding="utf-8")
        runs[target] = (subprocess.Popen(command, stdout=log, stderr=log, env=environment), log)
    told = {}
    try:
        # A case that is being made smaller may take some more time.
        while len(told) < len(runs) and time.monotonic() - begin < seconds + 300:
            time.sleep(0.2)
            for target, (run, _) in runs.items():
                if target not in told and run.poll() is not None:
                    took = time.monotonic() - begin
                    words = (scratch / f"{target}.log").read_text(encoding="utf-8", errors="replace")
                    case = re.search(r"^case (\d+): wrong: (.*)", words, re.M)
                    if case or run.returncode != 0:
                        told[target] = Outcome(target, took, int(case[1]) - start + 1 if case else 0, first(words))
                    else:
                        cases = re.search(r"^(\d+) cases", words, re.M)
                        told[target] = Outcome(None, took, int(cases[1]) if cases else 0)
            if any(outcome.target for outcome in told.values()):
                break
    finally:
        for run, log in runs.values():
            run.kill()
            run.wait()
            log.close()
    found = [outcome for outcome in told.values() if outcome.target]
    if found:
        return found[0]
    return Outcome(None, time.monotonic() - begin, sum(outcome.cases for outcome in told.values()))


def first(words):
    """What a finding says first."""
    case = re.search(r"^case \d+: wrong: (.*(?:\n.*)?)", words, re.M)
    return (case[1] if case else words.strip().rpartition("\n")[2]).replace("\n", " ")[:100]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the mistakes (default: all)")
    parser.add_argument("--seconds", type=int, default=600, help="time for each (default: 600)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first case (default: 0)")
    parser.add_argument("--scratch", type=Path, default=ROOT / "target" / "faults", help="the folder to work in")
    args = parser.parse_args()
    all_faults = faults_of(TABLE.read_text(encoding="utf-8"))
    unknown = set(args.names) - {fault.name for fault in all_faults}
    if unknown:
        raise Unusable(f"not in faults.txt: {', '.join(sorted(unknown))}")
    chosen = [fault for fault in all_faults if not args.names or fault.name in args.names]
    args.scratch.mkdir(parents=True, exist_ok=True)
    copy_tree(args.scratch, {fault.file for fault in all_faults} | set(ASKED.values()))
    plant(all_faults, args.scratch)
    complaint = build(args.scratch)
    if complaint:
        raise Unusable(f"the fuzzer cannot be built:\n{complaint}")
    sound = hunt(args.scratch, "", TARGETS, min(args.seconds, SOUND), args.start)
    if sound.target:
        raise Unusable(f"`{sound.target}` finds something without any mistake: {sound.words}")
    print(f"without a mistake: nothing in {sound.cases} cases\n")
    print("| mistake | found by | seconds | cases | what was said |\n|---|---|---|---|---|", flush=True)
    missed = 0
    for fault in chosen:
        found = hunt(args.scratch, fault.name, fault.targets, args.seconds, args.start)
        missed += found.target is None
        row = [fault.name, found.target or "**NOT FOUND**", f"{found.seconds:.0f}", str(found.cases), found.words]
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"\n{len(chosen) - missed} of {len(chosen)} were found")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unusable, OSError, subprocess.SubprocessError) as error:
        print(f"faults: {error}", file=sys.stderr)
        sys.exit(2)
