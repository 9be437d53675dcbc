"""JAX's compiled call from NumPy arrays to NumPy arrays, for `cargo xtask bench`.

    python jax_bench.py FOLDER
"""

import sys
from functools import reduce
from operator import add
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import turns


def mlp(program):
    def run(x):
        layers = list(zip(program.weights[::2], program.weights[1::2]))
        for weights, bias in layers[:-1]:
            x = jax.nn.relu(x @ weights + bias)
        weights, bias = layers[-1]
        return [x @ weights + bias]

    return run


FUNCTIONS = {
    "mlp": mlp,
    "tanh": lambda _: lambda a, b: [jnp.tanh(a * b + 1)],
    "double": lambda _: lambda a: [a + a],
    "matmul": lambda _: lambda a, b: [a @ b],
    "arguments": lambda _: lambda *all: [reduce(add, all)],
    "outputs": lambda program: lambda a: [a + i for i in range(len(program.outputs))],
}


def training_step(x, w):
    error = x @ w - x
    return jnp.sum(error * error), w - 0.01 * (x.T @ error)


def prepare_training(program):
    x, state = program.inputs[0], jax.device_put(program.inputs[1].copy())
    compiled = jax.jit(training_step, donate_argnums=1).lower(x, state).compile()

    def call():
        nonlocal state
        loss, state = compiled(x, state)
        return [np.asarray(loss), state]

    return call


def prepare(program):
    if program.id == "training":
        return prepare_training(program)
    compiled = jax.jit(FUNCTIONS[program.id](program)).lower(*program.inputs).compile()
    return lambda: [np.asarray(output) for output in compiled(*program.inputs)]


if __name__ == "__main__":
    turns.serve(f"JAX {jax.__version__}", Path(sys.argv[1]), prepare)
