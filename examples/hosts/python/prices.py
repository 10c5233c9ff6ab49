"""Prices in minutes, from a Parquet file of trades: python prices.py trades.parquet minutes.parquet

The file has the columns `time` (a timestamp), `price` (double) and `size` (int64, null for a trade that was cancelled), and is
read one row group at a time, so that it can be larger than memory. `--make` writes such a file first, of a day. Columns of a row
group that have no nulls go into the program where Arrow has them, and results become columns where the program has them.
"""

import argparse
import pathlib

import galopvm
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SECOND = 1_000_000
TIME = pa.timestamp("us")


def make(path, count, groups):
    """Writes trades of a day, whose price walks about."""
    rng = np.random.default_rng(1)
    times = np.datetime64("2024-03-01T00:00:00", "us") + np.sort(rng.integers(0, 24 * 3600 * SECOND, count))
    prices = 100 + np.cumsum(rng.normal(scale=0.01, size=count))
    sizes = pa.array(rng.integers(1, 500, count), mask=rng.random(count) < 0.01)
    table = pa.table({"time": pa.array(times, TIME), "price": prices, "size": sizes})
    pq.write_table(table, path, row_group_size=-(-count // groups))


def bounds(file):
    """The first and the last time, as the file says them of its row groups."""
    column = file.schema_arrow.get_field_index("time")
    groups = [file.metadata.row_group(number).column(column).statistics for number in range(file.num_row_groups)]
    return min(group.min for group in groups), max(group.max for group in groups)


def steps(program, file, start, length, count):
    """What is known of all trades of a file."""
    found = None
    for number in range(file.num_row_groups):
        group = file.read_row_group(number, columns=["time", "price", "size"])
        # Microseconds are integers in Arrow's memory, so that the second cast copies nothing.
        times = group["time"].cast(TIME).cast("int64")
        trades = {"time": times, "price": group["price"], "size": group["size"].fill_null(0)}
        part = program.traded(start, length, count, trades)
        found = part if found is None else program.together(found, part)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trades", help="the Parquet file that is read")
    parser.add_argument("prices", help="the Parquet file that is written")
    parser.add_argument("--make", action="store_true", help="write the file of trades first")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many trades --make writes")
    parser.add_argument("--seconds", type=int, default=60, help="how long a step is")
    parser.add_argument("--width", type=int, default=15, help="how many steps the moving mean is of")
    given = parser.parse_args()
    if given.make:
        make(given.trades, given.count, groups=8)
    program = galopvm.load(pathlib.Path(__file__).with_suffix(".fut"))

    file = pq.ParquetFile(given.trades)
    length = given.seconds * SECOND
    first, last = (np.datetime64(time, "us").astype(np.int64) for time in bounds(file))
    start = first // length * length
    figures = program.figures(given.width, steps(program, file, start, length, (last - start) // length + 1))

    columns = {"time": pa.array(start + figures.step * length).cast(TIME)}
    columns.update((name, getattr(figures, name)) for name in ("mean", "moving", "low", "high", "volume"))
    table = pa.table(columns)
    pq.write_table(table, given.prices)
    print(f"{file.metadata.num_rows} trades in {file.num_row_groups} row groups, {len(table)} steps of {given.seconds} seconds")
    print(f"mean price {np.average(figures.mean, weights=figures.volume):.3f}, {figures.low.min():.3f} to {figures.high.max():.3f}")


if __name__ == "__main__":
    main()
