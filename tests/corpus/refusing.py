"""Programs that call what is not there, or cannot run: the library has to say why."""

import jax
import jax.numpy as jnp
from jax import export

from catalogue import f32, program


def symmetric(x):
    return x @ x.T + 4 * jnp.eye(3)


@program(f32(3, 3), refused="custom calls")
def cholesky(x):
    return jnp.linalg.cholesky(symmetric(x))


@program(f32(3, 3), refused="custom calls")
def eigh(x):
    return tuple(jnp.linalg.eigh(symmetric(x)))


@program(f32(3, 3), f32(3), refused="custom calls")
def triangular_solve(a, b):
    return jax.scipy.linalg.solve_triangular(jnp.tril(a) + 4 * jnp.eye(3), b, lower=True)


@program(f32(3, 3), refused="custom calls")
def solve_and_svd(x):
    """Several calls, of which each is to be named."""
    return jnp.linalg.solve(symmetric(x), x), tuple(jnp.linalg.svd(x))


def call_foreign(target, x):
    """A call of a function that somebody registers under a name of his own."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.ffi.ffi_call(target, result)(x)


FOREIGN = ("corpus.half", "corpus.third")


@program(f32(4), refused="custom calls", unchecked=FOREIGN, since=(0, 5, 0))
def foreign_calls(x):
    return sum(call_foreign(target, x) for target in FOREIGN)


@program(f32(4), platforms=("cuda", "cpu"), unchecked=FOREIGN[:1], since=(0, 5, 0))
def foreign_call_elsewhere(x):
    """The call is in the branch of another platform, so this one runs."""
    return jax.lax.platform_dependent(x, cuda=lambda x: call_foreign(FOREIGN[0], x), cpu=lambda x: x * 4)


def unknown_rows():
    """Arguments whose shapes are known in a call only."""
    rows, more, three = export.symbolic_shape("b, b + 1, 3")
    return [jax.ShapeDtypeStruct((dim, three), jnp.float32) for dim in (rows, more)]


@program(f32(4, 3), f32(5, 3), refused="symbolic dims", traced_with=unknown_rows)
def symbolic(x, y):
    return x * 2, y.sum(axis=0)
