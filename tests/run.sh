#!/usr/bin/env bash
# Runs every test, after installing what the tests need (tests/setup.sh); those of the hosts if no argument chooses others.
# Further arguments go to cargo test: bash tests/run.sh --test programs differential
set -euo pipefail
cd "$(dirname "$0")/.."
sh tests/setup.sh
cargo test --workspace --exclude galopvm-c --features galopvm-cli/shaderc,galopvm/ndarray,galopvm/arrow "$@"
if [ $# -eq 0 ]; then
    # The libraries for C as they are installed: without shaderc, whose own libraries every program would have to name.
    # Together with that for Python, whose wheel is made of the same crates.
    cargo test -p galopvm-c -p galopvm-python
    sh hosts/python/test.sh
fi
