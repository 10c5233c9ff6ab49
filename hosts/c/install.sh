#!/bin/sh
# Builds the libraries and installs them with their header and pkg-config file: sh hosts/c/install.sh PREFIX
# Further arguments go to cargo, such as `--offline`.
set -eu
if [ $# -lt 1 ]; then
    echo "usage: install.sh PREFIX [CARGO ARGUMENTS]" >&2
    exit 2
fi
prefix=$1
shift
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
prefix=$(cd "$prefix" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

cargo build --release -p galopvm-c "$@"
built=${CARGO_TARGET_DIR:-target}/release
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)

install -m 644 hosts/c/include/galopvm.h "$prefix/include/galopvm.h"
install -m 644 "$built/libgalopvm_c.a" "$prefix/lib/libgalopvm.a"
install -m 755 "$built/libgalopvm_c.so" "$prefix/lib/libgalopvm.so.$version"
ln -sf "libgalopvm.so.$version" "$prefix/lib/libgalopvm.so.0"
ln -sf libgalopvm.so.0 "$prefix/lib/libgalopvm.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" -e "s|@PRIVATE@|-lgcc_s -lpthread -ldl -lm|" \
    hosts/c/galopvm.pc.in >"$prefix/lib/pkgconfig/galopvm.pc"
echo "installed galopvm $version in $prefix"
