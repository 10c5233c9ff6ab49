#!/bin/sh
# Builds the wheel, installs it into an empty virtual environment, and runs the tests there: sh hosts/python/test.sh
# The engine in it is the one that `cargo test` has built; with --release it is the one that users get.
# The environment lies in the build folder and is kept; what it needs (maturin, numpy) is installed when it is made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR
work=$CARGO_TARGET_DIR/python
python=${PYTHON:-python3}

if [ ! -x "$work/venv/bin/maturin" ]; then
    rm -rf "$work/venv"
    "$python" -m venv "$work/venv"
    "$work/venv/bin/pip" install -q maturin numpy
fi
# What some of the tests need beyond it. Where it cannot be installed, as without a network, they are skipped.
wanted() {
    modules=$1
    shift
    if ! "$work/venv/bin/python" -c "import $modules" 2> "$work/$modules.log"; then
        "$work/venv/bin/pip" install -q --retries 1 --timeout 20 "$@" 2>> "$work/$modules.log" ||
            echo "$* cannot be installed, its tests are skipped; see $work/$modules.log" >&2
    fi
}
wanted dask.array,distributed 'dask[array]>=2024.12' 'distributed>=2024.12'
wanted IPython ipython
wanted pyarrow pyarrow
wanted pandas pandas
wanted jax jax
rm -rf "$work/wheels"
"$work/venv/bin/maturin" build -q --manifest-path hosts/python/Cargo.toml --out "$work/wheels" "$@"
"$work/venv/bin/pip" install -q --force-reinstall --no-deps "$work"/wheels/galopvm-*.whl
# From another folder, so that it is the installed package that is tested.
cd "$work"
"$work/venv/bin/python" -m unittest discover -s "$here/tests" -v
