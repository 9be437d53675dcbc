"""Exports functions with constants of 10 and 100 MB, which are too large to be committed.

    python tests/corpus/large.py FOLDER

Beside N.jaxexport the folder gets N.in, what it is called with, and N.out, what comes out.
"""

import pathlib
import sys

import make  # noqa: F401, which sets JAX up
import jax
import numpy as np
from jax import export

from catalogue import SEED

COLUMNS = 1024


def write(folder, megabytes):
    """x @ constant. All numbers are small and whole, so that every order of adding gives the same."""
    rows = megabytes * 1_000_000 // (4 * COLUMNS)
    random = np.random.default_rng(SEED)
    constant = random.integers(-2, 3, (rows, COLUMNS)).astype(np.float32)
    x = random.integers(-2, 3, rows).astype(np.float32)
    exported = export.export(jax.jit(lambda x: x @ constant), platforms=["cpu"])(x)
    (folder / f"{megabytes}.jaxexport").write_bytes(exported.serialize())
    (folder / f"{megabytes}.in").write_bytes(x.tobytes())
    (folder / f"{megabytes}.out").write_bytes((x @ constant).tobytes())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for megabytes in (10, 100):
        write(folder, megabytes)


if __name__ == "__main__":
    main()
