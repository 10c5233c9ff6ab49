#!/usr/bin/env python3
"""Runs programs of Futhark's public benchmark collection, beside the packaged Futhark if it is there.

    git clone https://github.com/diku-dk/futhark-benchmarks DIR
    python3 benches/upstream.py --programs DIR --futhark futhark --threads 1

A row of TASKS is a program, an entry point, and its arguments: made here from numbers that are the same everywhere, or a file
that the collection brings. Each program is called by every engine on the same file of arguments; results are compared with the
first engine's; times are the least of --runs after one that is not measured. An engine's time of nothing but start and reading
is not in them: each engine measures its calls itself. Compiling is told apart. Needs NumPy.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(HERE), "target", "upstream")

NAMES = {
    "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8", "bool": "?",
}


class Maker:
    """Arguments, the same for the same task on every machine."""

    def __init__(self):
        self.random = np.random.Generator(np.random.PCG64(20))

    def f32(self, *shape, low=0.0, high=1.0):
        return self.random.uniform(low, high, shape).astype("<f4")

    def f64(self, *shape, low=0.0, high=1.0):
        return self.random.uniform(low, high, shape)

    def whole(self, kind, *shape, low=0, high=100):
        return self.random.integers(low, high, shape).astype(NAMES[kind])

    def graph(self, nodes, most):
        """Where the edges of each node begin, how many it has, where they go; each node has one to its neighbour."""
        counts = self.whole("i32", nodes, low=1, high=most)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype("<i4")
        ends = self.whole("i32", int(counts.sum()), high=nodes)
        ends[starts] = (np.arange(nodes) + 1) % nodes
        return starts, counts, ends

    def both_ways(self, nodes, each):
        """A graph without directions: edges once, and by node where its edges begin and where they go."""
        there = np.stack([np.repeat(np.arange(nodes), each), self.random.integers(0, nodes, nodes * each)], axis=1)
        there = there[there[:, 0] != there[:, 1]]
        both = np.concatenate([there, there[:, ::-1]])
        both = both[np.argsort(both[:, 0], kind="stable")]
        counts = np.bincount(both[:, 0], minlength=nodes)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        return there.astype("<i4"), starts.astype("<i4"), both[:, 1].astype("<i4")


def i32(value):
    return np.array(value, dtype="<i4")


def i64(value):
    return np.array(value, dtype="<i8")


def f32(value):
    return np.array(value, dtype="<f4")


def f64(value):
    return np.array(value, dtype="<f8")


def nw(m):
    edge = np.zeros((2049, 2049), dtype="<i4")
    edge[0, :] = edge[:, 0] = -10 * np.arange(2049)
    return [i32(10), edge, m.whole("i32", 2049, 2049, low=-10, high=11)]


def gmm(m, points, d, k):
    return [m.f64(k, low=-1), m.f64(k, d, low=-1), m.f64(k, d * (d + 1) // 2, low=-1), m.f64(points, d, low=-1), f64(1), i64(0)]


def bundle(m, cameras, points, seen):
    pairs = np.stack([m.whole("i32", seen, high=cameras), m.whole("i32", seen, high=points)], axis=1)
    return [m.f64(cameras, 11, low=0.1), m.f64(points, 3, low=0.1), m.f64(seen), pairs, m.f64(seen, 2)]


def pages(m):
    nodes = 50_000
    _, counts, ends = m.graph(nodes, 8)
    return [np.repeat(np.arange(nodes), counts).astype("<i4"), ends, counts, i32(10)]


def rays(m):
    points = m.f32(300, 3, low=-1)
    corners = m.whole("i32", 100, 3, low=1, high=301)
    return [points, corners, m.f32(2000, 2, 3, low=-2, high=2)]


def cells(m):
    normals = m.f32(3, 4, 20_000, low=-0.1, high=0.1)
    return [m.f32(20_000, low=0.5), m.whole("i32", 4, 20_000, low=-1, high=20_000), normals]


def bodies(m, count, steps):
    return [i32(steps), f32(50), f32(0.1)] + [m.f32(count, low=0, high=50) for _ in range(3)] + [
        m.f32(count, low=1, high=2)] + [m.f32(count, low=-1) for _ in range(3)]


# Program, entry point, arguments. A string is a file of arguments beside the program.
TASKS = [
    ("accelerate/canny/canny", "main", lambda m: [f32(50), f32(100), m.whole("i32", 512, 512, high=1 << 24)]),
    ("accelerate/crystal/crystal", "main", lambda m: [i32(200), f32(30), i32(5), i32(1), f32(1)]),
    ("accelerate/fft/fft", "main", lambda m: [i32(100), m.whole("u8", 256, 256, 3, high=256)]),
    ("accelerate/fluid/fluid", "main", "benchmarking/medium.in"),
    ("accelerate/kmeans/kmeans", "main", lambda m: [i32(5), m.f32(50_000, 2, high=10)]),
    ("accelerate/mandelbrot/mandelbrot", "main",
     lambda m: [i32(800), i32(600), f32(-0.7), f32(0), f32(3.067), i32(100), f32(16)]),
    ("accelerate/nbody/nbody", "main", lambda m: bodies(m, 4000, 2)),
    ("accelerate/nbody/nbody-bh", "main", lambda m: bodies(m, 4000, 2)),
    ("accelerate/pagerank/pagerank", "main", pages),
    ("adbench/ba", "calculate_objective", lambda m: bundle(m, 50, 8000, 32_000)),
    ("adbench/ba", "calculate_jacobian", lambda m: bundle(m, 50, 8000, 32_000)),
    ("adbench/gmm", "calculate_objective", lambda m: gmm(m, 1000, 10, 25)),
    ("adbench/gmm", "calculate_jacobian", lambda m: gmm(m, 1000, 10, 25)),
    ("adbench/lstm", "calculate_objective", lambda m: [m.f64(4, 56), m.f64(3, 14), m.f64(4, 14), m.f64(1024, 14)]),
    ("adbench/lstm", "calculate_jacobian", lambda m: [m.f64(4, 56), m.f64(3, 14), m.f64(4, 14), m.f64(1024, 14)]),
    ("babelstream/babelstream", "f32_triad", lambda m: [m.f32(1 << 24), m.f32(1 << 24)]),
    ("babelstream/babelstream", "f64_dot", lambda m: [m.f64(1 << 23), m.f64(1 << 23)]),
    ("finpar/InterestCalib", "main", "InterestCalib-data/small.in"),
    ("finpar/LocVolCalib", "main", "LocVolCalib-data/small.in"),
    ("finpar/OptionPricing", "main", "OptionPricing-data/small.in"),
    ("finpar/OptionPricing", "main", "OptionPricing-data/medium.in"),
    ("jgf/crypt/crypt", "main", lambda m: [m.whole("u16", 52, high=1 << 16), m.whole("u16", 52, high=1 << 16),
                                           m.whole("u8", 1 << 22, high=256)]),
    ("jgf/series/series", "main", lambda m: [i64(10_000)]),
    ("micro/intra", "scan_reduce", lambda m: [m.f32(10_000, 256)]),
    ("micro/scan", "sum_f32", lambda m: [m.whole("i32", 10_000_000)]),
    ("micro/scan", "lss_i32", lambda m: [m.whole("i32", 10_000_000)]),
    ("micro/reduce", "lss_i32", lambda m: [m.whole("i32", 10_000_000)]),
    ("micro/reduce", "prod_mat4_f32", lambda m: [m.whole("i32", 10_000_000, high=2) for _ in range(4)]),
    ("misc/bfast/bfast", "main", lambda m: [i32(3), i32(113), f32(12), f32(0.25), f32(3), m.f32(4096, 235)]),
    ("misc/life/life", "main", lambda m: [m.whole("i32", 32, 32, high=2), i32(0), i64(32)]),
    ("misc/ocean-sim/tke", "main", "data/tke32-small.in"),
    ("misc/ocean-sim/tridiag-test", "tridagNested", lambda m: [m.f32(10_000, 115), m.f32(10_000, 115, low=2, high=3),
                                                               m.f32(10_000, 115), m.f32(10_000, 115)]),
    ("parboil/histo/histo", "main", lambda m: [i32(256), i32(4096), m.whole("i32", 996, 1040, high=256 * 4096)]),
    ("parboil/mri-q/mri-q", "main", lambda m: [m.f32(1024) for _ in range(3)] + [m.f32(16_384) for _ in range(3)]
     + [m.f32(1024) for _ in range(2)]),
    ("parboil/sgemm/sgemm", "main", lambda m: [m.f32(1024, 992), m.f32(992, 1056), m.f32(1024, 1056), f32(1.5), f32(0.5)]),
    ("parboil/stencil/stencil", "main", lambda m: [i32(20), i32(64), m.f32(128, 128)]),
    ("parboil/tpacf/tpacf", "main", lambda m: [m.f64(487, high=360), m.f64(487, low=-80, high=80),
                                               m.f64(30, 487, high=360), m.f64(30, 487, low=-80, high=80)]),
    ("pbbs/breadthFirstSearch/breadthFirstSearch", "main", lambda m: list(m.both_ways(100_000, 5)[1:])),
    ("pbbs/comparisonSort/merge_sort", "sort_f64", lambda m: [m.f64(500_000)]),
    ("pbbs/comparisonSort/quick_sort", "sort_f64", lambda m: [m.f64(500_000)]),
    ("pbbs/convexHull/convexhull", "main", lambda m: [m.f64(200_000, 2)]),
    ("pbbs/histogram/histogram", "main", lambda m: [i64(256), m.whole("i32", 10_000_000, high=256)]),
    ("pbbs/integerSort/radix_sort", "sort_i32", lambda m: [i32(31), m.whole("i32", 1_000_000, high=1 << 31)]),
    ("pbbs/maximalIndependentSet/maximalIndependentSet", "main", lambda m: list(m.both_ways(100_000, 5)[1:])),
    ("pbbs/maximalMatching/maximalMatching", "main", lambda m: [m.both_ways(100_000, 5)[0]]),
    ("pbbs/minSpanningForest/minSpanningForest", "main",
     lambda m: (lambda edges: [edges, m.f64(len(edges))])(m.both_ways(20_000, 4)[0])),
    ("pbbs/rangeQuery2d/naive", "main", lambda m: [m.f64(10_000, 2)]),
    ("pbbs/ray/ray", "main", rays),
    ("rodinia/backprop/backprop", "main", "data/small.in"),
    ("rodinia/bfs/bfs_iter_work_ok", "main", lambda m: list(m.graph(65_536, 11))),
    ("rodinia/bfs/bfs_sequential", "main", lambda m: list(m.graph(65_536, 11))),
    ("rodinia/cfd/cfd", "main", cells),
    ("rodinia/hotspot/hotspot", "main", lambda m: [i32(360), m.f32(512, 512, low=323, high=341), m.f32(512, 512, high=0.01)]),
    ("rodinia/kmeans/kmeans", "main", lambda m: [i32(0), i32(5), i32(20), m.f32(50_000, 34)]),
    ("rodinia/lud/lud", "main", lambda m: [m.f32(1024, 1024) + 1024 * np.eye(1024, dtype="<f4")]),
    ("rodinia/myocyte/myocyte", "main", "data/small.in"),
    ("rodinia/nn/nn", "main", lambda m: [i32(100), f32(30), f32(90), m.f32(855_280, high=90), m.f32(855_280, high=180)]),
    ("rodinia/nw/nw", "main", nw),
    ("rodinia/particlefilter/particlefilter", "main", lambda m: [m.whole("i32", 128, 128, 10, high=256), i64(10_000)]),
    ("rodinia/pathfinder/pathfinder", "main", lambda m: [i64(100_000), i64(100)]),
    ("rodinia/srad/srad", "main", lambda m: [m.whole("u8", 502, 458, low=1, high=256)]),
]


def write_values(values, path):
    """In Futhark's binary format."""
    with open(path, "wb") as out:
        for value in values:
            value = np.asarray(value, order="C")
            name = next(name for name, code in NAMES.items() if np.dtype(code) == value.dtype)
            out.write(b"b\x02" + bytes([value.ndim]) + name.rjust(4).encode())
            out.write(np.array(value.shape, dtype="<i8").tobytes() + value.tobytes())


def read_values(path):
    data = memoryview(open(path, "rb").read())
    values, at = [], 0
    while at < len(data):
        if data[at:at + 1].tobytes().isspace():
            at += 1
            continue
        rank, name = data[at + 2], bytes(data[at + 3:at + 7]).decode().strip()
        shape = np.frombuffer(data[at + 7:at + 7 + 8 * rank], "<i8")
        at += 7 + 8 * rank
        dtype = np.dtype(NAMES[name])
        count = math.prod(int(size) for size in shape)
        values.append(np.frombuffer(data[at:at + count * dtype.itemsize], dtype).reshape(shape))
        at += count * dtype.itemsize
    return values


def difference(ours, theirs):
    """Nothing if results agree: whole numbers exactly, floats as far as another order of sums lets them."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    for k, (a, b) in enumerate(zip(ours, theirs)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {k} is {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        if a.dtype.kind != "f":
            if not np.array_equal(a, b):
                return f"result {k}: {np.count_nonzero(a != b)} of {a.size} elements differ"
            continue
        allowed = 1e-3 if a.dtype.itemsize < 8 else 1e-8
        with np.errstate(all="ignore"):
            near = np.abs(a - b) <= allowed * np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-3)
        same = near | (np.isnan(a) & np.isnan(b)) | (a == b)
        if not same.all():
            at = int(np.argmin(same))
            return f"result {k}: {np.count_nonzero(~same)} of {a.size}, first {a.flat[at]} and {b.flat[at]}"
    return None


def ours(arguments, entry, program, given, times):
    return [arguments.galopvm, "run", "--backend", arguments.backend, "--threads", str(arguments.threads), "-w",
            "-e", entry, program, "-i", given, "-b", "-r", str(arguments.runs), "-t", times]


def theirs(arguments, entry, binary, times):
    return [binary, "-e", entry, "-b", "-r", str(arguments.runs), "-t", times]


def call(command, given, result, limit, threads):
    """Seconds, or why there are none."""
    begin = time.monotonic()
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    with open(result, "wb") as out, open(given, "rb") as stdin:
        try:
            done = subprocess.run(command, stdin=stdin, stdout=out, stderr=subprocess.PIPE, timeout=limit, env=environment)
        except subprocess.TimeoutExpired:
            return None, f"over {limit} s"
    if done.returncode != 0:
        return None, done.stderr.decode(errors="replace").strip().splitlines()[:1] or [f"exit code {done.returncode}"]
    return time.monotonic() - begin, None


def least(path):
    return min(float(line) for line in open(path) if line.strip()) / 1000


def build(arguments, backend, program, binary):
    """Seconds of compiling, or why there is no binary."""
    note = binary + ".seconds"
    if os.path.exists(binary) and os.path.exists(note):
        return float(open(note).read()), None
    begin = time.monotonic()
    done = subprocess.run([arguments.futhark, backend, "-w", program, "-o", binary], capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["?"])[0]
    took = time.monotonic() - begin
    with open(note, "w") as out:
        out.write(str(took))
    return took, None


def measure(arguments, task):
    program, entry, given = task
    source = os.path.join(arguments.programs, program + ".fut")
    stem = os.path.join(BUILD, re.sub(r"\W", "_", f"{program}_{entry}" + (given if isinstance(given, str) else "")))
    if isinstance(given, str):
        path = os.path.join(os.path.dirname(source), given)
    else:
        path = stem + ".in"
        write_values(given(Maker()), path)
    row = {"program": program, "entry": entry, "engines": {}}
    first = None
    engines = [("galopvm", None)] + ([(b, b) for b in arguments.backends.split(",")] if arguments.futhark else [])
    for name, backend in engines:
        result, times = f"{stem}.{name}.out", f"{stem}.{name}.times"
        seen = row["engines"].setdefault(name, {})
        if backend is None:
            command = ours(arguments, entry, source, path, times)
        else:
            binary = os.path.join(BUILD, re.sub(r"\W", "_", program) + "." + backend)
            seen["compile_s"], why = build(arguments, backend, source, binary)
            if why:
                seen["why"] = why
                continue
            command = theirs(arguments, entry, binary, times)
        seen["process_s"], why = call(command, path, result, arguments.limit, arguments.threads)
        if why:
            seen["why"] = why if isinstance(why, str) else why[0]
            continue
        seen["ms"] = least(times)
        values = read_values(result)
        if first is None:
            first = values
        else:
            seen["differs"] = difference(first, values)
        os.remove(result)
    return row


def table(rows, out=sys.stdout):
    names = list(rows[0]["engines"]) if rows else []
    print("| program | entry | " + " | ".join(f"{n} ms" for n in names) + " | " +
          " | ".join(f"{n} / galopvm" for n in names[1:]) + " | remarks |", file=out)
    print("|---" * (3 + len(names) + len(names[1:])) + "|", file=out)
    ratios = {name: [] for name in names[1:]}
    for row in rows:
        engines = row["engines"]
        base = engines["galopvm"].get("ms")
        cells, remarks = [], []
        for name in names:
            cells.append(f"{engines[name]['ms']:.2f}" if "ms" in engines[name] else "-")
            if engines[name].get("why"):
                remarks.append(f"{name}: {engines[name]['why']}")
            if engines[name].get("differs"):
                remarks.append(f"{name} DIFFERS: {engines[name]['differs']}")
        for name in names[1:]:
            other = engines[name].get("ms")
            if base and other:
                ratios[name].append(other / base)
                cells.append(f"{other / base:.2f}")
            else:
                cells.append("-")
        print(f"| {row['program']} | {row['entry']} | " + " | ".join(cells) + " | " + "; ".join(remarks) + " |", file=out, flush=True)
    for name, seen in ratios.items():
        if seen:
            mean = math.exp(sum(map(math.log, seen)) / len(seen))
            print(f"\ngeometric mean of {name} / galopvm over {len(seen)}: {mean:.2f}; slower than it: "
                  f"{sum(r < 1 for r in seen)}", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, help="folder of the collection")
    parser.add_argument("--galopvm", default=os.path.join(os.path.dirname(HERE), "target", "release", "galopvm"))
    parser.add_argument("--backend", default="auto", help="our back end (default: auto)")
    parser.add_argument("--futhark", help="the compiler to compare with; without it results are only made")
    parser.add_argument("--backends", default="c,multicore", help="its back ends (default: c,multicore)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=120, help="seconds for a process (default: 120)")
    parser.add_argument("--only", action="append", help="regular expression for program and entry; may be repeated")
    parser.add_argument("--json", help="write all figures to this file")
    arguments = parser.parse_args()
    if arguments.futhark and not shutil.which(arguments.futhark):
        parser.error(f"there is no {arguments.futhark}")
    os.makedirs(BUILD, exist_ok=True)
    wanted = [t for t in TASKS if not arguments.only or any(re.search(o, f"{t[0]} {t[1]}") for o in arguments.only)]
    rows = []
    for task in wanted:
        row = measure(arguments, task)
        rows.append(row)
        told = ", ".join(f"{n} {e.get('ms', e.get('why'))}" for n, e in row["engines"].items())
        print(f"{row['program']} {row['entry']}: {told}", file=sys.stderr, flush=True)
    table(rows)
    if arguments.json:
        with open(arguments.json, "w") as out:
            json.dump(rows, out, indent=1)
    return int(any(e.get("differs") for row in rows for e in row["engines"].values()))


if __name__ == "__main__":
    sys.exit(main())
