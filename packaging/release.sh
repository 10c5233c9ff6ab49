#!/bin/sh
# Makes the archive that is published: packaging/out/galopvm-VERSION-TARGET.tar.gz with the stripped binary, manual pages, shell
# completions, examples and licences; then unpacks it in a root folder that has the C library and nothing else, and runs the
# programs there: no home, no path, no other file.
# The same tree gives the same bytes: names are sorted, and times are those of the last commit.
set -eu
cd "$(dirname "$0")/.."

cargo build --release --locked -p galopvm-cli
binary="${CARGO_TARGET_DIR:-target}/release/galopvm"
version=$("$binary" --version | cut -d ' ' -f 2)
target=$(rustc -vV | sed -n 's/^host: //p')
name="galopvm-$version-$target"
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree="$work/$name"
mkdir -p "$tree/bin" "$tree/share/man/man1" "$tree/share/bash-completion/completions" \
    "$tree/share/zsh/site-functions" "$tree/share/fish/vendor_completions.d"
cp "$binary" "$tree/bin/galopvm"
"$binary" man "$tree/share/man/man1"
"$binary" completions bash > "$tree/share/bash-completion/completions/galopvm"
"$binary" completions zsh > "$tree/share/zsh/site-functions/_galopvm"
"$binary" completions fish > "$tree/share/fish/vendor_completions.d/galopvm.fish"
cp README.md LICENSE-APACHE LICENSE-MIT "$tree/"
cp -R examples "$tree/examples"

mkdir -p packaging/out
archive="$PWD/packaging/out/$name.tar.gz"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -cf - "$name" | gzip -9n > "$archive"

# What users do: unpack it somewhere, and run a program.
check="$work/check"
mkdir "$check"
tar -C "$check" -xzf "$archive"
ldd "$binary" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$check$(dirname "$library")"
    cp -L "$library" "$check$library"
done
cd "$check/$name"
fails() {
    echo "release: $1" >&2
    exit 1
}
unshare=$(command -v unshare) || fails "the archive is tried by unshare, of util-linux, which is not here"
alone() {
    env -i "$unshare" --user --map-root-user --root="$check" --wd="/$name" ./bin/galopvm "$@"
}
found=$(alone run examples/dot.fut < examples/data/dot.in) || fails "examples/dot.fut did not run"
[ "$found" = "-7f32" ] || fails "examples/dot.fut gave $found"
alone test examples > "$work/tests" || fails "$(cat "$work/tests")"
[ -s share/man/man1/galopvm-run.1 ] || fails "there is no manual page of galopvm run"
for script in share/bash-completion/completions/galopvm share/zsh/site-functions/_galopvm \
    share/fish/vendor_completions.d/galopvm.fish; do
    grep -q datacmp "$script" || fails "$script does not know the commands"
done
if nm -a bin/galopvm 2>/dev/null | grep -q . ; then fails "the binary has symbols"; fi
echo "$archive: $(($(wc -c < "$archive") / 1024)) KiB, the binary $(($(wc -c < bin/galopvm) / 1024)) KiB"
