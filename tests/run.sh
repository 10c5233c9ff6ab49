#!/usr/bin/env bash
# Runs every test, after installing what the tests need (tests/setup.sh); those of the Python package if no argument chooses others.
# Further arguments go to cargo test: bash tests/run.sh --test programs differential
set -euo pipefail
cd "$(dirname "$0")/.."
sh tests/setup.sh
cargo test --workspace --features galopvm-cli/shaderc "$@"
if [ $# -eq 0 ]; then
    sh hosts/python/test.sh
fi
