"""Programs about what is computed: control flow, gradients, sorting, random numbers and so on."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from catalogue import f32, of, program, s32


@program(np.bool_(True), f32(4))
def cond(which, x):
    return lax.cond(which, lambda x: x * 2, lambda x: x - 1, x)


@program(np.int32(2), s32(3))
def switch(which, x):
    return lax.switch(which, [lambda x: x, lambda x: x * 10, lambda x: x * 100], x)


@program(np.int32(1000))
def while_loop(start):
    return lax.while_loop(lambda pair: pair[0] > 1, collatz, (start, jnp.int32(0)))


def collatz(pair):
    number, steps = pair
    return jnp.where(number % 2 == 0, number // 2, 3 * number + 1), steps + 1


@program(f32(3), f32(5, 3), tolerance=1e-6)
def scan(carry, rows):
    return lax.scan(lambda carry, row: (carry * 0.5 + row, carry.sum()), carry, rows)


@program(s32(4))
def fori_loop(x):
    return lax.fori_loop(0, 10, lambda step, x: x * 3 + step, x)


@program(s32(6, 2))
def mapped(x):
    return lax.map(lambda row: row.sum() * row, x)


@program(f32(3, 4), f32(4), of("float32", 3), tolerance=1e-5, vjp_order=1)
def vjp(w, x, b):
    return {"y": jnp.tanh(w @ x + b), "norm": (x * x).sum()}


@program(f32(4), s32(4), tolerance=1e-5, vjp_order=2)
def vjp_of_vjp(x, powers):
    """Gradients of gradients; those of integers are of a type without values."""
    return jnp.sin(x) * x * powers


@program(f32(3), f32(5), f32(3), tolerance=1e-5, vjp_order=1, platforms=("cpu", "cuda"))
def vjp_dropped(x, dropped, y):
    return (jnp.exp(x) * y).sum()


@program({"w1": f32(8, 16), "b1": f32(16), "w2": f32(16, 4), "b2": f32(4)}, f32(5, 8), tolerance=1e-5)
def mlp(params, x):
    hidden = jax.nn.gelu(x @ params["w1"] + params["b1"])
    return jax.nn.softmax(hidden @ params["w2"] + params["b2"])


@program(*(of("bfloat16", 2, 6, 8) for _ in range(3)), tolerance=0.02)
def attention(q, k, v):
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / jnp.bfloat16(np.sqrt(8))
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores), v)


@program(of("bfloat16", 5, 7), of("bfloat16", 7, 3), tolerance=0.01)
def bfloat16_dot(a, b):
    return a @ b, lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)


@program(f32(2, 3, 4), f32(2, 4, 5), of("int8", 4, 6), tolerance=1e-5)
def batched_dot(a, b, bytes_):
    whole = lax.dot_general(bytes_, bytes_, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)
    return jnp.einsum("bij,bjk->bik", a, b), jnp.tensordot(a, b, axes=([2, 0], [1, 0])), whole


@program(f32(4, 7), s32(9))
def sort(x, keys):
    return jnp.sort(x, axis=-1), jnp.argsort(keys % 4, stable=True), jnp.sort(keys)[::-1]


@program(s32(8), f32(8), s32(8))
def sort_by_keys(keys, values, more):
    return lax.sort((keys % 3, values, more), num_keys=2)


@program(f32(3, 9))
def top_k(x):
    return lax.top_k(x, 4)


@program(f32(12), of("complex64", 4, 6), tolerance=1e-5)
def fft(x, z):
    return jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(z), jnp.fft.ifft(z)


@program(of("float64", 10), of("complex128", 9), tolerance=1e-12, x64=True)
def fft_x64(x, z):
    return jnp.fft.rfft(x), jnp.fft.fft(z), z * jnp.conj(z), jnp.abs(z)


@program(f32(2, 8, 8, 3), f32(3, 3, 3, 4), f32(2, 2, 1, 4), tolerance=1e-5)
def convolution(images, kernel, depthwise):
    dims = ("NHWC", "HWIO", "NHWC")
    first = lax.conv_general_dilated(images, kernel, (2, 1), "SAME", dimension_numbers=dims)
    second = lax.conv_general_dilated(
        first, depthwise, (1, 1), "VALID", rhs_dilation=(1, 2), dimension_numbers=dims, feature_group_count=4
    )
    pooled = lax.reduce_window(first, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return second, pooled


@program(of("uint32", 2))
def random_bits(key):
    first, second = jax.random.split(key)
    return (
        first,
        jax.random.bits(second, (7,)),
        jax.random.randint(first, (5,), -3, 9),
        jax.random.permutation(second, 6),
    )


@program(of("uint32", 2), tolerance=1e-5)
def random_normal(key):
    return (
        jax.random.normal(key, (6,)),
        jax.random.uniform(key, (3, 2)),
        jax.random.categorical(key, jnp.zeros(4)),
    )


@program(s32())
def random_from_seed(seed):
    return jax.random.key_data(jax.random.fold_in(jax.random.key(seed), 7))


@program(of("uint32", 4))
def rbg(data):
    return jax.random.bits(jax.random.wrap_key_data(data, impl="rbg"), (5,))


@program(lambda: jax.random.key(3), f32(2), since=(0, 6, 0), tolerance=1e-5)
def typed_keys(key, x):
    left, right = jax.random.split(key)
    return left, x + jax.random.normal(right, (2,)), jax.random.split(right, (3, 2))


@program(f32(6, 4), s32(5), f32(2, 4))
def gather_and_scatter(x, places, rows):
    places = places % 6
    return jnp.take(x, places, axis=0), x.at[places[:2]].set(rows), x.at[places[0], 1:3].add(1), x[1::2, ::-1]


@program(f32(7, 5), s32(2))
def dynamic_slices(x, start):
    start = start % 4
    piece = lax.dynamic_slice(x, (start[0], start[1]), (2, 3))
    return piece, lax.dynamic_update_slice(x, piece * 2, (start[1], start[0]))


@program(s32(3, 5), f32(3, 5))
def reductions(n, x):
    return (
        n.sum(axis=0),
        n.max(),
        jnp.cumsum(n, axis=1),
        jnp.argmax(x, axis=1),
        jnp.any(n > 0),
        x.min(axis=0),
        jnp.prod(n % 5),
    )


@program(f32(2, 3, 4), s32(3))
def shapes(x, n):
    return (
        x.transpose(2, 0, 1),
        jnp.tile(n, (2, 2)),
        lax.pad(n, jnp.int32(-1), [(1, 2, 1)]),
        jnp.flip(x, 1),
        jnp.stack([n, n]),
    )


@program(s32(6), of("uint32", 6), of("int8", 6))
def integers(a, b, c):
    shifts = b % 31
    return (
        a // 7,
        a % 7,
        a ^ 85,
        a >> shifts.astype(jnp.int32),
        b << shifts,
        lax.population_count(b),
        lax.clz(b),
        c * c,
        -a,
    )


@program(f32(8), tolerance=2e-5)
def mathematics(x):
    size = jnp.abs(x) + 0.5
    exponential = jnp.exp(x), jnp.log(size), jnp.log1p(size), jnp.expm1(x), jax.nn.sigmoid(x)
    roots = jnp.sqrt(size), lax.rsqrt(size), jnp.cbrt(x), jnp.power(size, x)
    return exponential, roots, jnp.sin(x), jnp.cos(x), jnp.arctan2(x, size), jnp.tanh(x)


@program(f32(8), tolerance=2e-5)
def more_mathematics(x):
    """Functions that StableHLO has no operation for: they are written out, custom calls or composites."""
    size = jnp.abs(x) + 0.5
    unit = jnp.tanh(x) * 0.9
    inverse = jnp.arcsin(unit), jnp.arccos(unit), jnp.arctan(x)
    hyperbolic = jnp.sinh(x), jnp.cosh(x), jnp.arcsinh(x), jnp.arccosh(size + 1), jnp.arctanh(unit)
    return inverse, hyperbolic, jnp.tan(x), lax.erf(x)


@program(f32(8), tolerance=2e-5)
def special_functions(x):
    size = jnp.abs(x) + 0.5
    unit = jnp.tanh(x) * 0.9
    error = lax.erfc(x), lax.erf_inv(unit)
    return error, lax.lgamma(size), lax.digamma(size), lax.bessel_i1e(x), lax.igamma(size, size)


@program(f32(6))
def rounding(x):
    x = x * 10
    return (
        jnp.round(x),
        jnp.floor(x),
        jnp.ceil(x),
        jnp.trunc(x),
        jnp.sign(x),
        jnp.clip(x, -3, 3),
        jnp.isnan(x),
        x == x,
        jnp.nextafter(x, 0),
    )


@program(of("complex64", 5), of("complex64", 5), tolerance=1e-5)
def complex_numbers(a, b):
    return (
        a * b,
        a / b,
        jnp.exp(a),
        jnp.real(a),
        jnp.imag(b),
        jnp.abs(a),
        lax.complex(jnp.real(a), jnp.imag(b)),
    )


@program(f32(2500))
def constants(x):
    random = np.random.default_rng(7)
    return (
        x + random.standard_normal(2500).astype(np.float32),
        jnp.full((3, 3), 7, jnp.int32),
        jnp.array([True, False]),
    )


@program(f32(4), tolerance=1e-5)
def nested_calls(x):
    inner = jax.jit(lambda x: jnp.cos(x) + 1)
    again = jax.checkpoint(lambda x: inner(x) * inner(x + 1))
    return jax.grad(lambda x: again(x).sum())(x)


@program(f32(64), tolerance=1e-6)
def approximate_top_k(x):
    return lax.approx_max_k(x, 3)
