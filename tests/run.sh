#!/usr/bin/env bash
# Runs every test, after installing what the tests need (tests/setup.sh).
# Further arguments go to cargo test: bash tests/run.sh --test programs differential
set -euo pipefail
cd "$(dirname "$0")/.."
sh tests/setup.sh
exec cargo test --workspace --features galopvm-cli/shaderc "$@"
