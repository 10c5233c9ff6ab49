#!/bin/sh
# Fuzzes for some hours: fuzz/run.sh HOURS [DIR]
#   HOURS   how long, as 8 or 0.25
#   DIR     where findings, logs and the sums are kept (default: target/fuzz/ and the time)
# Goes round the targets in slices of some minutes, each with numbers that come from the clock. A finding is kept in a file
# of its own, and the rest of the slice goes on with other numbers. At the end it tells cases, rates, findings and the
# decisions that were met. GALOPVM_SLICE gives the seconds of a slice (default 240), GALOPVM_FUZZER a fuzzer that is built already.
# Exit codes: 0 nothing was found, 1 something was, 2 it could not be started. See README.md.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: fuzz/run.sh HOURS [DIR]" >&2
    exit 2
fi
seconds=$(awk -v hours="$1" 'BEGIN { if (hours !~ /^[0-9]+(\.[0-9]+)?$/ || hours * 3600 < 1) exit 1; printf "%d", hours * 3600 }') || {
    echo "run: $1 is no number of hours" >&2
    exit 2
}
slice=${GALOPVM_SLICE:-240}
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${2:-$root/target/fuzz/$(date +%Y%m%d-%H%M%S)}
mkdir -p "$dir" || exit 2
dir=$(cd "$dir" && pwd)
log=$dir/log.txt
sums=$dir/sums.txt
coverage=$dir/coverage.txt

say() {
    echo "$(date '+%F %T') $*" | tee -a "$log"
}

if [ -z "${GALOPVM_FUZZER:-}" ]; then
    (cd "$root" && cargo build --release -p galopvm-fuzz) || exit 2
fi
fuzzer=${GALOPVM_FUZZER:-${CARGO_TARGET_DIR:-$root/target}/release/galopvm-fuzz}
# What is built later does not change what runs.
cp "$fuzzer" "$dir/galopvm-fuzz" || exit 2
fuzzer=$dir/galopvm-fuzz

targets="sessions far sources values views passes damage"
if "$fuzzer" far --guard --count 0 >/dev/null 2>&1; then
    targets="$targets far:guard sessions:guard"
fi
if "$fuzzer" sessions --backend vulkan --count 0 >/dev/null 2>&1; then
    targets="$targets sessions:vulkan far:vulkan sessions:rough-vulkan far:rough-vulkan"
else
    say "no Vulkan driver here: nothing runs on it"
fi

# Runs one target for some seconds, and keeps what it finds.
run_slice() {
    name=$1
    until=$(($(date +%s) + $2))
    while left=$((until - $(date +%s))) && [ "$left" -gt 0 ]; do
        start=$(date +%s)000000
        set -- "${name%%:*}" --start "$start" --count 1000000000000 --seconds "$left" --coverage "$coverage"
        case $name in
        *:guard) set -- "$@" --guard ;;
        *:*) set -- "$@" --backend "${name#*:}" ;;
        esac
        begin=$(date +%s)
        code=0
        # A case ends by its limits; what is longer hangs.
        timeout -k 10 $((left + 900)) "$fuzzer" "$@" >"$dir/slice.txt" 2>&1 || code=$?
        took=$(($(date +%s) - begin))
        cases=$(sed -n 's/^\([0-9][0-9]*\) cases:.*/\1/p' "$dir/slice.txt" | tail -n 1)
        longest=$(sed -n 's/^the longest case was //p' "$dir/slice.txt")
        say "$name from $start: ${cases:-0} cases in $took s (longest ${longest:-not known}), exit code $code"
        echo "$name ${cases:-0} $took" >>"$sums"
        if [ "$code" -eq 0 ]; then
            return
        fi
        number=$(sed -n 's/^case 0*\([0-9][0-9]*\)\(: wrong.*\| ended the process\)$/\1/p' "$dir/slice.txt" | head -n 1)
        # Without a number the process ended by itself, or had to be ended: the case is one of those from there on.
        finding=$dir/finding-$(echo "$name" | tr : -)-${number:-from-$start}.txt
        {
            echo "$fuzzer $* (exit code $code)"
            sed '/ decisions were met, /q' "$dir/slice.txt"
        } >"$finding"
        findings=$((findings + 1))
        say "FOUND: $finding"
        # The numbers of another second.
        sleep 1
    done
}

findings=0
begun=$(date +%s)
end=$((begun + seconds))
: >"$sums"
say "$1 hours into $dir: $targets"
while [ "$(date +%s)" -lt "$end" ]; do
    for target in $targets; do
        left=$((end - $(date +%s)))
        if [ "$left" -gt 0 ]; then
            run_slice "$target" "$((left < slice ? left : slice))"
        fi
    done
done

# Of processes that have ended: minutes and seconds, user and system. Only this shell itself knows, not one behind a pipe.
times >"$dir/slice.txt"
cpu=$(tail -n 1 "$dir/slice.txt" | awk '{ for (k = 1; k <= 2; k++) { split($k, part, "m"); sum += part[1] * 60 + part[2] } print sum }')
{
    "$fuzzer" sessions --count 0 --coverage "$coverage" | tail -n +2
    echo
    awk '{ cases[$1] += $2; time[$1] += $3 }
        END { for (name in cases) printf "%-16s %10d cases in %6d s: %.1f per second\n", name, cases[name], time[name],
              time[name] ? cases[name] / time[name] : 0 }' "$sums" | sort
    awk -v seconds=$(($(date +%s) - begun)) -v cpu="$cpu" -v findings="$findings" \
        'BEGIN { printf "%.2f hours, %.2f of processors, %d findings\n", seconds / 3600, cpu / 3600, findings }'
} | tee "$dir/summary.txt"
rm -f "$dir/slice.txt" "$dir/galopvm-fuzz"
[ "$findings" -eq 0 ]
