#!/bin/sh
# Runs the raw FFI smoke tests in Go, Julia and Python against an installed library.
#
#     CYXLA_PLUGIN=/path/to/plugin.so tests/ffi/run.sh PREFIX
#
# PREFIX holds lib/libcyxla.so.0 and lib/pkgconfig/cyxla.pc.
set -u

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: run.sh PREFIX (the folder that the library is installed in)" >&2
    exit 2
fi
if [ ! -f "${CYXLA_PLUGIN:-}" ]; then
    echo "run.sh: CYXLA_PLUGIN must name a PJRT plugin; run \`cargo xtask test\`" >&2
    exit 2
fi

prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# Debian puts libraries into lib/x86_64-linux-gnu, others into lib64 or lib.
file=$(find "$prefix" -name libcyxla.so.0 | head -n 1)
if [ -z "$file" ]; then
    echo "run.sh: no libcyxla.so.0 below $prefix; install the library there with CMake first" >&2
    exit 2
fi
lib=$(dirname "$file")
export PKG_CONFIG_PATH="$lib/pkgconfig"
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export JULIA_NUM_THREADS=4

passed=0
failed=0

# check NAME TOOL COMMAND...: TOOL is what NAME cannot do without.
check() {
    name=$1
    tool=$2
    shift 2
    if ! command -v "$tool" >/dev/null; then
        echo "FAILED $name: $tool is not installed; run \`cargo xtask test\`, which says how to get it" >&2
        failed=$((failed + 1))
    elif "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED $name" >&2
        failed=$((failed + 1))
    fi
}

go_smoke() {
    (cd "$here/go" && go build -o "$build/smoke" . && "$build/smoke")
}

check go go go_smoke
check julia julia julia --startup-file=no "$here/julia/smoke.jl"
check python python3 python3 "$here/python/smoke.py"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
