"""`galopvm header` on programs with types made by chance: the functions compile without a warning, and the server knows their types.

    python3 headers.py GALOPVM FOLDER SEED COUNT

GALOPVM is the binary, FOLDER an empty folder to work in. What fails is printed with its program; the same seed makes the same programs.
"""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

GALOPVM, FOLDER, SEED, COUNT = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
INCLUDE = Path(__file__).parents[2] / "hosts/c/include"
COMPILERS = [["cc", "-std=c99", "-pedantic"], ["g++", "-x", "c++"]]
SCALARS = "i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bool".split()
FIELDS = ["a", "b'", "c_1", "x10", "x9", "type1"]
CONSTRUCTORS = ["p", "q", "some", "none", "z'"]

chance = random.Random(SEED)


def type_of(depth, names, sizes):
    kind = chance.random()
    inner = lambda: type_of(depth - 1, names, sizes)
    if depth == 0 or kind < 0.3:
        return chance.choice(SCALARS)
    if kind < 0.4 and names:
        return chance.choice(names)
    if kind < 0.55:
        return f"[{chance.choice(sizes)}]{inner()}"
    if kind < 0.7:
        return f"({', '.join(inner() for _ in range(chance.choice([0, 2, 3])))})"
    if kind < 0.85:
        fields = chance.sample(FIELDS, chance.randint(1, 3))
        return "{" + ", ".join(f"{field}: {inner()}" for field in fields) + "}"
    constructors = chance.sample(CONSTRUCTORS, chance.randint(1, 3))
    payload = lambda: "".join(f" ({inner()})" for _ in range(chance.randint(0, 2)))
    return "(" + " | ".join(f"#{constructor}{payload()}" for constructor in constructors) + ")"


def program():
    lines, names = [], []
    for number in range(chance.randint(0, 3)):
        # A name that those of arrays look like as well.
        name = f"{chance.choice(['t', 'arr1d_f32'])}{number}"
        lines.append(f"type {name} = {type_of(2, names, '23')}")
        names.append(name)
    for number in range(chance.randint(1, 3)):
        found = type_of(3, names, "23nm")
        consumed = chance.choice(["", "*"])
        lines.append(f"entry e{number} [n] [m] (x: {consumed}{found}) (_: [n][m]i8): {found} = x")
    return "\n".join(lines) + "\n"


def check(source):
    (FOLDER / "p.fut").write_text(source)
    run = lambda *command, **more: subprocess.run(command, capture_output=True, text=True, cwd=FOLDER, **more)
    made = run(GALOPVM, "header", "p.fut")
    if made.returncode != 0:
        return made.stderr
    for compiler in COMPILERS:
        if shutil.which(compiler[0]):
            compiled = run(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(INCLUDE), "p.c")
            if compiled.returncode != 0:
                return compiled.stderr
    manifest = json.loads((FOLDER / "p.json").read_text())
    types = manifest["types"]
    for entry in manifest["entry_points"].values():
        (given, _), found = entry["inputs"], entry["output"]
        if given["type"] != found["type"] or given["type"] not in [*types, *SCALARS]:
            return f"{given['type']} and {found['type']} are not one type that is known"
    for name, what in types.items():
        if what["kind"] == "opaque" and not {"record", "sum", "record_array", "opaque_array"} & set(what):
            return f"nothing is known of {name}"
    served = run(GALOPVM, "server", "p.fut", input="".join(f'kind "{name}"\n' for name in types))
    if served.returncode != 0 or "FAILURE" in served.stdout:
        return served.stdout + served.stderr
    return None


for number in range(COUNT):
    source = program()
    wrong = check(source)
    if wrong:
        sys.exit(f"program {number} of seed {SEED}:\n{source}\n{wrong}")
