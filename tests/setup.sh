#!/bin/sh
# Installs what the tests need beyond Rust, gcc and Python, on Debian and its descendants:
#   libvulkan1, mesa-vulkan-drivers   the Vulkan loader and lavapipe (Vulkan on the CPU), for the GPU tests
#   libshaderc-dev, glslang-dev,      static libraries for `--features shaderc` (GLSL to SPIR-V)
#   spirv-tools
#   g++, clang                        compilers of hosts in C and C++
#   python3-venv                      the environment in which the Python package is tested, if Python has none
# Runs as root or through sudo, may be run again at any time, and does nothing when all is there.
set -eu

packages="libvulkan1 mesa-vulkan-drivers libshaderc-dev glslang-dev spirv-tools g++ clang"
python3 -c 'import ensurepip, venv' 2>/dev/null || packages="$packages python3-venv"

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: this is not a Debian system (no dpkg, apt-get); install the equivalents of: $packages" >&2
    exit 1
fi

missing=""
for package in $packages; do
    state=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    case "$state" in
        "install ok installed") ;;
        *) missing="$missing $package" ;;
    esac
done

if [ -z "$missing" ]; then
    echo "setup: everything is installed already ($packages)"
    exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
else
    echo "setup: not root and no sudo; as root, run: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # the lists are meant to split into words
install_missing() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
# The package lists may be absent (fresh container) or old: refresh them only when installing needs it.
if ! install_missing; then
    echo "setup: refreshing the package lists and trying again"
    $as_root apt-get update -q
    install_missing
fi
echo "setup: done"
