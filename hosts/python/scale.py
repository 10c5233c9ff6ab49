"""Blocks of Dask arrays by galopvm and by NumPy, on a cluster of this machine: python scale.py --gigabytes 8 --workers 2 --kill

Prints for each case the seconds, the greatest memory that a worker had (Linux only), and with --kill the seconds when a worker is
killed half way. Each line has a cluster of its own, which has executed the case once on little data. Data is made block by
block when it is needed, which takes its own time in both: the line `data` is that alone, for the blocks of the histogram.
"""

import argparse
import math
import os
import signal
import threading
import time

import dask
import dask.array as da
import distributed
import numpy as np

import galopvm
import galopvm.dask as blocks

SOURCE = """
entry counts [n] (xs: [n]i32): [256]i64 = hist (+) 0 256 (map i64.i32 xs) (replicate n 1)

def nearest [k] [d] (centres: [k][d]f32) (point: [d]f32): i64 =
  let distance centre = reduce (+) 0 (map2 (\\x y -> (x - y) * (x - y)) centre point)
  let closer (i, a) (j, b) = if b < a || (b == a && j < i) then (j, b) else (i, a)
  in (reduce closer (k, f32.inf) (zip (iota k) (map distance centres))).0
entry assigned [n] [k] [d] (centres: [k][d]f32) (points: [n][d]f32): ([k][d]f64, [k]i64) =
  let which = map (nearest centres) points
  let sums = reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) which (map (map f64.f32) points)
  in (sums, hist (+) 0 k which (replicate n 1))
entry together [k] [d] (a: ([k][d]f64, [k]i64)) (b: ([k][d]f64, [k]i64)): ([k][d]f64, [k]i64) =
  (map2 (map2 (+)) a.0 b.0, map2 (+) a.1 b.1)

entry smooth [n] [m] (xs: [n][m]f32): [][]f32 =
  tabulate_2d (n - 2) (m - 2) (\\i j ->
    0.2 * (xs[i + 1, j + 1] + xs[i, j + 1] + xs[i + 2, j + 1] + xs[i + 1, j] + xs[i + 1, j + 2]))

entry product [n] [m] [k] (a: [n][k]f32) (b: [k][m]f32): [n][m]f32 =
  map (\\row -> map (\\column -> reduce (+) 0 (map2 (*) row column)) (transpose b)) a
entry plus [n] [m] (a: [n][m]f32) (b: [n][m]f32): [n][m]f32 = map2 (map2 (+)) a b
"""

ROUNDS, CENTRES, PLACES, WIDTH = 3, 16, 8, 256


def hashed(block_info, columns):
    """Numbers that look random, each of its place in the array alone."""
    places = block_info[None]["array-location"]
    at = np.arange(*places[0], dtype=np.uint64).astype(np.uint32)
    if columns is not None:
        at = np.add.outer(at * np.uint32(columns), np.arange(*places[1], dtype=np.uint32))
    return (at * np.uint32(2654435761)) ^ (at >> np.uint32(7))


def bytes_of_numbers(block_info=None):
    return (hashed(block_info, None) >> np.uint32(24)).view(np.int32)


def fractions(columns, block_info=None):
    return (hashed(block_info, columns) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


def integers(size, block):
    """An array of so many bytes in blocks of so many."""
    return da.map_blocks(bytes_of_numbers, chunks=(cut(size // 4, block // 4),), dtype=np.int32, meta=np.empty(0, np.int32))


def matrix(rows, columns, chunks):
    made = da.core.normalize_chunks(chunks, (rows, columns))
    return da.map_blocks(fractions, columns, chunks=made, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def cut(count, size):
    return tuple(min(size, count - at) for at in range(0, count, size))


def points(size, block):
    rows = size // (4 * PLACES)
    return matrix(rows, PLACES, (max(1, block // (4 * PLACES)), PLACES))


def square(size, block):
    side = math.isqrt(size // 4)
    return matrix(side, side, math.isqrt(block // 4))


def factors(size, block):
    """A long matrix and a square one, which is in the same blocks along what both have."""
    rows, half = size // (4 * WIDTH), WIDTH // 2
    return matrix(rows, WIDTH, (max(1, block // (4 * half)), half)), matrix(WIDTH, WIDTH, (half, WIDTH))


def data_alone(program, size, block):
    return integers(size, block).map_blocks(lambda xs: xs[:1], chunks=(1,), dtype=np.int32).sum().compute()


def histogram(program, size, block):
    return blocks.histogram(program.counts, integers(size, block)).compute()


def histogram_numpy(program, size, block):
    return da.bincount(integers(size, block), minlength=256).compute()


def k_means(program, size, block):
    xs = points(size, block)
    centres = xs[:CENTRES].compute()
    for _ in range(ROUNDS):
        sums, counts = dask.compute(*blocks.reduce(program.assigned, program.together, centres, xs))
        centres = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return centres


def sums_numpy(xs, centres):
    """Of a block the sums and the numbers of what is nearest to each centre."""
    which = (np.einsum("kd,kd->k", centres, centres) - 2 * (xs @ centres.T)).argmin(axis=1)
    columns = [np.bincount(which, weights=xs[:, column], minlength=CENTRES) for column in range(PLACES)]
    return np.stack([*columns, np.bincount(which, minlength=CENTRES)], axis=1)[None]


def k_means_numpy(program, size, block):
    xs = points(size, block)
    centres = xs[:CENTRES].compute()
    for _ in range(ROUNDS):
        chunks = ((1,) * xs.numblocks[0], (CENTRES,), (PLACES + 1,))
        parts = da.map_blocks(sums_numpy, xs, centres, chunks=chunks, new_axis=2, dtype=np.float64)
        found = parts.sum(axis=0).compute()
        centres = (found[:, :-1] / np.maximum(found[:, -1:], 1)).astype(np.float32)
    return centres


def stencil(program, size, block):
    return blocks.stencil(program.smooth, square(size, block), depth=1, boundary="nearest").sum(dtype=np.float64).compute()


def smooth_numpy(xs):
    return np.float32(0.2) * (xs[1:-1, 1:-1] + xs[:-2, 1:-1] + xs[2:, 1:-1] + xs[1:-1, :-2] + xs[1:-1, 2:])


def stencil_numpy(program, size, block):
    xs = square(size, block)
    halo = da.overlap.overlap(xs, depth=1, boundary="nearest")
    return halo.map_blocks(smooth_numpy, chunks=xs.chunks, dtype=np.float32).sum(dtype=np.float64).compute()


def product(program, size, block):
    a, b = factors(size, block)
    return blocks.reduce(program.product, program.plus, a, b).sum(dtype=np.float64).compute()


def product_numpy(program, size, block):
    a, b = factors(size, block)
    return (a @ b).sum(dtype=np.float64).compute()


CASES = {
    "data": [("NumPy", data_alone)],
    "histogram": [("galopvm", histogram), ("NumPy", histogram_numpy)],
    "k-means": [("galopvm", k_means), ("NumPy", k_means_numpy)],
    "stencil": [("galopvm", stencil), ("NumPy", stencil_numpy)],
    "product": [("galopvm", product), ("NumPy", product_numpy)],
}


def peak():
    """The greatest memory that this process has had, in bytes."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    except OSError:
        return 0


def measured(work, program, size, block, workers, kill_after=None):
    """Seconds, the greatest memory of a worker, the result, and whether a worker was killed."""
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL", memory_limit=0
    )
    killed = []
    with cluster, distributed.Client(cluster) as client:
        work(program, block * 2, block)
        pids = list(client.run(os.getpid).values())

        def kill():
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

        timer = threading.Timer(kill_after or 0, kill)
        begin = time.perf_counter()
        if kill_after is not None:
            timer.start()
        result = work(program, size, block)
        seconds = time.perf_counter() - begin
        timer.cancel()
        most = max(client.run(peak).values())
    return seconds, most, result, bool(killed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the data of each case")
    parser.add_argument("--block", type=float, default=64.0, help="megabytes of a block, at most; each worker has 4 or more")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", action="store_true", help="kill a worker half way, in a run of its own")
    parser.add_argument("--only", choices=CASES, action="append", help="only this case; may be given several times")
    given = parser.parse_args()
    size = int(given.gigabytes * 1e9)
    block = max(1 << 16, min(int(given.block * 1e6), size // (4 * given.workers)))
    program = galopvm.compile(SOURCE, threads=1)
    print(f"{given.gigabytes} GB in blocks of {block / 1e6:.0f} MB, {given.workers} workers of one thread")
    print(f"{'case':10} {'by':8} {'seconds':>8} {'MB':>6}" + (f" {'killed':>8}" if given.kill else ""))
    for case in given.only or CASES:
        results = []
        for by, work in CASES[case]:
            seconds, most, result, _ = measured(work, program, size, block, given.workers)
            results.append(result)
            line = f"{case:10} {by:8} {seconds:8.2f} {most / 1e6:6.0f}"
            if given.kill:
                again, _, result, is_killed = measured(work, program, size, block, given.workers, seconds / 2)
                results.append(result)
                line += f" {again:8.2f}" if is_killed else " (done before)"
            print(line, flush=True)
        if not all(np.allclose(result, results[0], rtol=1e-4) for result in results):
            raise SystemExit(f"{case}: the results are not the same")


if __name__ == "__main__":
    main()
