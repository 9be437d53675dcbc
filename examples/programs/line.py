"""Writes line.jaxexport: how badly a straight line fits points, with its gradients.

    pip install jax==0.10.2 flatbuffers
    python examples/programs/line.py
"""

import pathlib

import jax
import jax.numpy as jnp
from jax import export

# Keeps the path of this script out of the file.
jax.config.update("jax_traceback_in_locations_limit", 0)

POINTS = 64


def loss(line, x, y):
    """The mean squared distance, in y, of the points from the line."""
    return jnp.mean((line["slope"] * x + line["offset"] - y) ** 2)


number = jax.ShapeDtypeStruct((), "float32")
points = jax.ShapeDtypeStruct((POINTS,), "float32")
exported = export.export(jax.jit(loss), platforms=("cpu", "cuda", "rocm", "tpu"))(
    {"offset": number, "slope": number}, points, points
)
# vjp_order=1 puts the program of the gradients into the same file.
path = pathlib.Path(__file__).parent / "line.jaxexport"
path.write_bytes(exported.serialize(vjp_order=1))
