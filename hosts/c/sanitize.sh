#!/bin/sh
# The programs in C under the sanitizers of addresses, leaks and undefined behaviour, and under valgrind where that is installed:
#   sh hosts/c/sanitize.sh
# The library is the one that users get; the sanitizers see what the programs do, and the memory that they and the library ask for.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release -p galopvm-c -p galopvm-cli
work=$target/c-sanitized
mkdir -p "$work"
"$target/release/galopvm" header -o "$work/library" "$here/tests/library.fut"

compile() {
    name=$1
    shift
    cc -std=c99 -D_XOPEN_SOURCE=700 -Wall -Wextra -g -O1 -pthread -I "$here/include" -I "$work" -o "$work/$name" "$@" \
        "$target/release/libgalopvm_c.a" -lpthread -ldl -lm
}

# Name of the program, its files, its arguments; `check` says how it is run.
each() {
    check scale examples/hosts/c/scale.c ""
    check options examples/hosts/c/options.c examples/hosts/c/options.fut
    check values examples/hosts/c/values.c ""
    check limits examples/hosts/c/limits.c ""
    check typed "$here/tests/typed.c $work/library.c" ""
    check process "$here/tests/process.c" ""
    for backend in auto interp x86; do
        check boundary "$here/tests/boundary.c" "$backend"
    done
}

check() {
    # Files and arguments are lists of words.
    # shellcheck disable=SC2086
    compile "$1-sanitized" -fsanitize=address,undefined -fno-sanitize-recover=all $2
    # shellcheck disable=SC2086
    "$work/$1-sanitized" $3 >"$work/out" || { cat "$work/out"; echo "$1 $3: failed under the sanitizers" >&2; exit 1; }
    echo "$1 $3: clean under the sanitizers"
}
each

if ! command -v valgrind >/dev/null 2>&1; then
    echo "valgrind is not installed: not run under it"
    exit 0
fi
check() {
    # Timers that interrupt a program a thousand times slower than the processor leave it no time.
    [ "$1" != process ] || return 0
    # Its decoder ends at a form of vector instructions that processors take, and that machine code may have.
    case "$3" in auto | x86) return 0 ;; esac
    # shellcheck disable=SC2086
    compile "$1-plain" $2
    # Values that are not defined are for miri (fuzz/sanitize.sh): optimised code compares bytes whose value it does not use.
    # What is only possibly lost is the standard library's note of the main thread, which points into the middle of its block.
    # shellcheck disable=SC2086
    valgrind -q --undef-value-errors=no --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite --error-exitcode=9 \
        "$work/$1-plain" $3 >"$work/out" 2>"$work/told" ||
        { cat "$work/out" "$work/told"; echo "$1 $3: failed under valgrind" >&2; exit 1; }
    echo "$1 $3: clean under valgrind"
}
each
