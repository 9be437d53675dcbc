"""Programs about what goes in and out: trees, dropped arguments, types, donation, platforms."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

if hasattr(jax, "shard_map"):
    from jax import shard_map
else:
    from jax.experimental.shard_map import shard_map

from catalogue import NEWEST, VERSION, bits, f32, of, program, s32


@program(f32())
def scalar(x):
    return x * 2 + 1


@program()
def no_inputs():
    return jnp.arange(5, dtype=jnp.int32), jnp.float32(0.5)


@program(f32(3))
def no_outputs(x):
    return None


@program()
def nothing():
    return ()


@program(f32(3), s32())
def all_dropped(x, count):
    return jnp.float32(3)


@program(f32(2, 3), f32(4), s32(5), f32(2, 2), tolerance=1e-6)
def unused(a, b, c, d):
    return b * d.sum()


@program(f32(2, 3), s32(4), jit={"keep_unused": True})
def unused_but_kept(a, b):
    return b + 1


@program(
    {"w": [f32(2, 3), f32(3)], "None": None, "it's": (s32(), {"é": s32(2), "a b": s32(1)})},
    [None, (f32(2),)],
    keywords={"scale": f32(), "state": {"x": s32(3), "": s32(3)}},
    tolerance=1e-6,
)
def trees(params, batch, *, scale, state):
    weights, bias = params["w"]
    return {
        "y": (batch[1][0] @ weights * scale + bias, None),
        "n": [params["it's"][0] + params["it's"][1]["é"], {"b": state["x"] * state[""]}],
        "none": (None, [], {}),
    }


def nested(depth):
    return f32(2) if depth == 0 else {"d": [nested(depth - 1)]}


@program(nested(24))
def deep_tree(tree):
    return jax.tree_util.tree_map(lambda leaf: leaf + 1, tree)


@program(f32(3, 0, 4), f32(2, 2), tolerance=1e-6)
def zero_sized(x, y):
    padded = jnp.concatenate([y, jnp.zeros((0, 2), jnp.float32)])
    return x * 2, x.sum(axis=1), padded, y.sum() + x.sum()


@program(*(s32(2) for _ in range(700 if VERSION == NEWEST else 100)))
def many_inputs(*arrays):
    """Each argument counts with a weight of its own; every seventh is dropped."""
    used = [(place, array) for place, array in enumerate(arrays) if place % 7]
    total = sum(place * array for place, array in used)
    return total, used[-1][1]


@program(s32(2))
def many_outputs(x):
    return [x + place for place in range(300 if VERSION == NEWEST else 100)]


WIDE = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
WIDE += ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
EIGHT_BITS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"]
NARROW = ["int4", "uint4"]


def flattened(*arrays):
    return [array.reshape(-1) for array in arrays]


def sweep(dtypes):
    """A scalar and a matrix of each type."""
    return [bits(dtype, *dims) for dtype in dtypes for dims in ((), (2, 3))]


program(*sweep(WIDE), name="wide_dtypes", x64=True)(flattened)
program(*sweep(EIGHT_BITS[:2]), name="float8_dtypes")(flattened)
program(*sweep(EIGHT_BITS[2:]), name="float8_fnuz_dtypes", since=(0, 5, 0))(flattened)
program(
    *sweep(["float8_e3m4", "float8_e4m3", "float8_e8m0fnu"]), name="newer_float8_dtypes", since=(0, 6, 0)
)(flattened)
program(*sweep(NARROW), name="int4_dtypes", since=(0, 5, 0))(flattened)
program(*sweep(["float4_e2m1fn"]), name="float4_dtypes", since=(0, 6, 0))(flattened)


@program(of("int4", 7), of("uint4", 7), of("bool", 7), since=(0, 5, 0))
def int4_arithmetic(a, b, mask):
    return (
        jnp.where(mask, a.astype(jnp.int32) * 3, b.astype(jnp.int32)),
        (a + a).astype(jnp.int4),
        jnp.logical_not(mask),
    )


@program(f32(8), of("float8_e4m3fn", 8), of("bfloat16", 8), of("float16", 8))
def conversions(x, eight, brain, half):
    return (
        x.astype(jnp.float8_e5m2),
        eight.astype(jnp.float32),
        brain.astype(jnp.float16),
        half.astype(jnp.bfloat16),
    )


@program(f32(4, 4), f32(4, 4), jit={"donate_argnums": 0}, tolerance=1e-6)
def donated(state, x):
    return state + x, x.sum(), state * 0


@program({"a": f32(3), "b": s32(2)}, s32(5), f32(3), s32(5), jit={"donate_argnums": (0, 1, 3)})
def donated_tree(state, dropped, x, too_long):
    """Of what is donated one is dropped, and one fits no result."""
    return {"b": state["b"] + too_long[:2], "a": state["a"] - x}


def by_platform(x):
    return lax.platform_dependent(
        x,
        tpu=lambda x: x + 300,
        cpu=lambda x: x + 100,
        cuda=lambda x: x + 200,
    )


MANY = ("tpu", "cpu", "cuda")
program(s32(4), name="multi_platform", platforms=MANY)(by_platform)
program(s32(4), name="multi_platform_x64", platforms=MANY, x64=True)(by_platform)
program(s32(4), name="cpu_first", platforms=("cpu", "rocm"))(lambda x: x * 5)


@program(s32(3), f32(5), s32(4), platforms=MANY, jit={"donate_argnums": 2})
def multi_platform_dropped(dropped, x, state):
    """Positions shift twice: by the platform index and by the dropped argument."""
    return state + by_platform(jnp.int32(1)), x[::-1]


@program(s32(4), platforms=("cuda",), refused="platform")
def cuda_only(x):
    return x * 3


@program(s32(4), platforms=("tpu", "rocm"), refused="platform")
def tpu_or_rocm_only(x):
    return by_rocm(x)


def by_rocm(x):
    return lax.platform_dependent(x, tpu=lambda x: x + 1, rocm=lambda x: x + 2)


@program(s32(3), since=(0, 4, 36))
def named(point):
    return Point(point + 1, {"z": point - 1})


Point = collections.namedtuple("Point", ["x", "y"])


@program(Point(s32(3), (s32(), s32())), since=(0, 4, 36))
def named_tuple(point):
    return [point.x + point.y[0], Point(point.y[1], ())]


if VERSION >= (0, 4, 36):
    from jax import export

    export.register_namedtuple_serialization(Point, serialized_name="corpus.Point")


@program(f32(4), since=(0, 4, 36))
def ordered_dict(x):
    return collections.OrderedDict([("z", x + 1), ("a", x - 1)])


def mesh(devices):
    return Mesh(np.array(jax.devices()[:devices]), ("rows",))


def rows(devices):
    """Each device has a part of the rows."""
    return NamedSharding(mesh(devices), PartitionSpec("rows"))


@program(f32(4, 3), jit={"in_shardings": rows(2)}, refused="devices")
def two_devices(x):
    return x * 2, x.sum()


@program(s32(4, 3), jit={"in_shardings": rows(1)})
def one_device_mesh(x):
    return x * 2, x.sum()


@program(f32(4, 3), tolerance=1e-6)
def mapped_over_one_device(x):
    """A collective operation of one device with itself."""
    across = shard_map(
        lambda part: lax.psum(part * 2, "rows"),
        mesh=mesh(1),
        in_specs=PartitionSpec("rows"),
        out_specs=PartitionSpec(),
    )
    return across(x)
