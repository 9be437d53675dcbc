#!/bin/sh
# Makes the programs of the corpus again, with each version of JAX or those that are named:
#
#     tests/corpus/make.sh [VERSION...]
#
# It needs python3.11 with venv, and half a gigabyte of room for one version at a time. What
# it makes is committed: the tests need no JAX.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
wanted=" $* "
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# export_with VERSION REQUIREMENT...
export_with() {
    version=$1
    shift
    if [ "$wanted" != "  " ] && [ "${wanted#* "$version" }" = "$wanted" ]; then
        return
    fi
    python3.11 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet "jax==$version" "jaxlib==$version" opt_einsum==3.4.0 "$@"
    # A set's order decides the order of some of what is written.
    PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" "$here/make.py" "$here/$version"
    rm -r "$work/venv"
}

export_with 0.4.30 numpy==1.26.4 scipy==1.13.1 ml_dtypes==0.4.1 flatbuffers==24.3.25 absl-py==2.1.0
export_with 0.5.3 numpy==2.2.6 scipy==1.15.3 ml_dtypes==0.5.1 flatbuffers==25.2.10 absl-py==2.1.0
export_with 0.7.2 numpy==2.3.5 scipy==1.16.3 ml_dtypes==0.5.4 flatbuffers==25.9.23
export_with 0.9.0 numpy==2.4.2 scipy==1.17.0 ml_dtypes==0.5.4 flatbuffers==25.12.19
export_with 0.10.2 numpy==2.4.6 scipy==1.17.1 ml_dtypes==0.6.0 flatbuffers==25.12.19
