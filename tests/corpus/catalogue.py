"""How a program of the corpus is described: a function, its arguments, how it is exported."""

import dataclasses
import zlib

import jax
import jax.numpy as jnp
import numpy as np

SEED = 20260701

VERSION = tuple(int(part) for part in jax.__version__.split(".")[:3])
NEWEST = (0, 10, 2)


@dataclasses.dataclass(frozen=True)
class Array:
    """An argument: numbers of a type, or any bits that the type can have."""

    dtype: str
    dims: tuple
    any_bits: bool = False

    def fill(self, random):
        dtype = jnp.dtype(self.dtype)
        if dtype == bool:
            return random.integers(0, 2, self.dims).astype(bool)
        if self.any_bits or jnp.issubdtype(dtype, jnp.integer):
            return self._bits(random, dtype)
        numbers = random.standard_normal(self.dims)
        if jnp.issubdtype(dtype, jnp.complexfloating):
            numbers = numbers + 1j * random.standard_normal(self.dims)
        return np.asarray(numbers).astype(dtype)

    def _bits(self, random, dtype):
        width = narrow_bits(dtype)
        if width:
            bits = random.integers(0, 1 << width, self.dims).astype(np.uint8)
            return from_narrow_bits(bits, dtype)
        size = int(np.prod(self.dims, dtype=np.int64)) * dtype.itemsize
        return np.frombuffer(random.bytes(size), dtype).reshape(self.dims)

    def shape(self):
        return jax.ShapeDtypeStruct(self.dims, jnp.dtype(self.dtype))


def narrow_bits(dtype):
    """The bits of a type narrower than a byte, 0 for other types."""
    for width in (2, 4):
        if dtype.name in (f"int{width}", f"uint{width}", f"float{width}_e2m1fn"):
            return width
    return 0


def from_narrow_bits(bits, dtype):
    """Elements of such a type, made of the low bits of bytes."""
    if dtype.name.startswith("int"):
        sign = 1 << (narrow_bits(dtype) - 1)
        return ((bits ^ sign).astype(np.int8) - np.int8(sign)).astype(dtype)
    return bits.astype(dtype) if dtype.name.startswith("uint") else bits.view(dtype)


@dataclasses.dataclass
class Program:
    """A function to export, and what is to come of it."""

    name: str
    function: object
    arguments: tuple
    keywords: dict = dataclasses.field(default_factory=dict)
    platforms: tuple = ("cpu",)
    jit: dict = dataclasses.field(default_factory=dict)
    x64: bool = False
    vjp_order: int = 0
    # How far results may be from JAX's, as a part of the largest one; 0: bit for bit.
    tolerance: float = 0.0
    # Why the library has to refuse it.
    refused: str = ""
    # Safety checks that the export is made without.
    unchecked: tuple = ()
    # What arguments to trace it with, where that is not what it is called with.
    traced_with: object = None

    def random(self):
        return np.random.default_rng([SEED, zlib.crc32(self.name.encode())])

    def filled(self):
        random = self.random()

        def value(leaf):
            if callable(leaf):
                return leaf()
            return leaf.fill(random) if isinstance(leaf, Array) else leaf

        return jax.tree_util.tree_map(value, (self.arguments, self.keywords))


PROGRAMS = []


def program(*arguments, since=(0, 4, 30), **options):
    """Puts a function into the corpus, for JAX of this version or newer."""

    def add(function):
        if VERSION >= since:
            name = options.pop("name", function.__name__)
            PROGRAMS.append(Program(name, function, arguments, **options))
        return function

    return add


def f32(*dims):
    return Array("float32", dims)


def s32(*dims):
    return Array("int32", dims)


def of(dtype, *dims):
    return Array(dtype, dims)


def bits(dtype, *dims):
    return Array(dtype, dims, any_bits=True)
