#!/bin/sh
# The fuzzer, or tests, under a tool that sees what checks in the code do not:
#   sh fuzz/sanitize.sh address [arguments of galopvm-fuzz]   reads and writes outside of blocks, and after their end
#   sh fuzz/sanitize.sh thread [arguments of galopvm-fuzz]    accesses of two threads that nothing keeps apart
#   sh fuzz/sanitize.sh miri                                  what the language leaves undefined, in memory and arrays
# `address` needs no more than the compiler. The others need a nightly one: for `thread` with the component rust-src (the
# standard library is built for it), for `miri` with the components rust-src and miri.
# Little optimisation and no debug information keep a build at some minutes.
set -eu
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
tool=${1:-}
[ $# -eq 0 ] || shift

case "$tool" in
    address)
        export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address
        export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG=0
        # `--target`: without it the flag would hold for build scripts as well.
        cargo build --release --target "$host" --target-dir target/address -p galopvm-fuzz
        export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=3:quarantine_size_mb=32}"
        exec "target/address/$host/release/galopvm-fuzz" "$@"
        ;;
    thread)
        export RUSTFLAGS=-Zsanitizer=thread
        export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG=1
        cargo +nightly build -Zbuild-std --release --target "$host" --target-dir target/thread -p galopvm-fuzz
        exec "target/thread/$host/release/galopvm-fuzz" "$@"
        ;;
    miri)
        unset RUSTFLAGS || true
        export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}"
        # Left out is what takes many minutes, and what needs calls of the system that it has not: files as blocks, advice about
        # large ones.
        exec cargo +nightly miri test --target-dir target/miri -p galopvm-store --lib -- \
            memory::given memory::reserve memory::shelf memory::pool::tests::classes array:: \
            --skip copies_of_every_kind --skip large_copies
        ;;
    *)
        echo "usage: sh fuzz/sanitize.sh address|thread|miri [arguments]" >&2
        exit 2
        ;;
esac
