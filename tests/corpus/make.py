"""Exports the programs of the corpus with the JAX that runs this, and JAX's own results.

    python tests/corpus/make.py FOLDER

Into the folder go one .jaxexport file a program, index.json, which says what each file holds,
what it is called with and what comes out, and data.bin with those arrays. An array is stored
dense and row-major; one of a type narrower than a byte has each element in the low bits of a
byte. tests/corpus/make.sh runs this with every version of JAX that the corpus has.
"""

import json
import os
import pathlib
import re
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src import source_info_util

import calling  # noqa: F401
import computing  # noqa: F401
import effects  # noqa: F401
import refusing  # noqa: F401
from catalogue import PROGRAMS, SEED, narrow_bits

# Neither paths of the machine that made the corpus nor lines of these scripts, which would
# change the files whenever a script changes, are to be in it.
jax.config.update("jax_traceback_in_locations_limit", 0)
source_info_util.register_exclusion(str(pathlib.Path(__file__).parent))

NAMES = {"bool": "pred", "bfloat16": "bf16", "float0": "pred", "complex64": "c64", "complex128": "c128"}


def type_name(dtype):
    """The library's name of an element type."""
    name = dtype.name if dtype != jax.dtypes.float0 else "float0"
    if name in NAMES:
        return NAMES[name]
    kind, rest = re.fullmatch(r"(u?int|float)(.*)", name).groups()
    return {"int": "s", "uint": "u", "float": "f"}[kind] + rest.replace("_", "")


def is_key(dtype):
    return jnp.issubdtype(dtype, jax.dtypes.extended)


class Data:
    """The arrays of all programs, equal ones once."""

    def __init__(self):
        self.bytes = bytearray()
        self.places = {}

    def add(self, array):
        content = content_of(array)
        if content not in self.places:
            self.places[content] = len(self.bytes)
            self.bytes += content
        return self.places[content]


def content_of(array):
    if array.dtype == jax.dtypes.float0:
        return bytes(array.size)
    width = narrow_bits(array.dtype)
    if width:
        return (array.view(np.uint8) & ((1 << width) - 1)).tobytes()
    return np.ascontiguousarray(array).tobytes()


def as_numpy(value):
    """The array behind a value, and of random keys the numbers that they are made of."""
    if isinstance(value, jax.Array) and is_key(value.dtype):
        return np.asarray(jax.random.key_data(value))
    return np.asarray(value)


def paths(tree, root):
    """The key paths of a tree's leaves, as JAX writes them."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(
        jax.tree_util.tree_unflatten(tree, [0] * tree.num_leaves)
    )
    if root == "result":
        return ["result" + jax.tree_util.keystr(path) for path, _ in leaves]
    return [("args", "kwargs")[path[0].idx] + jax.tree_util.keystr(path[1:]) for path, _ in leaves]


# What a file says of a type of node is the name that it was registered by.
NODES = {"namedtuple[Point]": "corpus.Point", "OrderedDict[('z', 'a')]": "collections.OrderedDict"}


def tree_text(tree):
    text = str(tree)
    for ours, registered in NODES.items():
        text = text.replace(ours, registered)
    return text


def donated(exported):
    """Whether the program may overwrite each argument, by the text of its main function."""
    text = exported.mlir_module()
    main = re.search(r"func\.func public @main\((.*?)\) -> ", text, re.S) or re.search(
        r"func\.func public @main\((.*?)\) (?:attributes )?\{", text, re.S
    )
    arguments = re.split(r"%arg\d+: ", main.group(1))[1:] if main else []
    kept = exported.module_kept_var_idx
    own = arguments[len(arguments) - len(kept) :]
    marks = [bool(re.search(r"tf\.aliasing_output|jax\.buffer_donor", argument)) for argument in own]
    flags = [False] * len(exported.in_avals)
    for position, mark in zip(kept, marks):
        flags[position] = mark
    return flags


def arrays(data, names, avals, values, flags=None):
    """What index.json says of arguments or results; without values, of a program that cannot run."""
    described = []
    for place, (name, aval) in enumerate(zip(names, avals)):
        one = {"name": name}
        if values is not None:
            array = as_numpy(values[place])
            one |= {"dtype": type_name(array.dtype), "dims": list(array.shape), "at": data.add(array)}
        if is_key(aval.dtype):
            one["key"] = str(aval.dtype)
        if flags and flags[place]:
            one["donated"] = True
        described.append(one)
    return described


def describe(program, exported, data, inputs, outputs):
    names = paths(exported.in_tree, "args"), paths(exported.out_tree, "result")
    assert len(names[0]) == len(exported.in_avals) and len(names[1]) == len(exported.out_avals)
    about = {
        "function": exported.fun_name,
        "convention": exported.calling_convention_version,
        "platforms": list(exported.platforms),
        "devices": exported.nr_devices,
        "in_tree": tree_text(exported.in_tree),
        "out_tree": tree_text(exported.out_tree),
        "kept": list(exported.module_kept_var_idx),
        "inputs": arrays(data, names[0], exported.in_avals, inputs, donated(exported)),
        "outputs": arrays(data, names[1], exported.out_avals, outputs),
    }
    if program.tolerance:
        about["tolerance"] = program.tolerance
    return about


def call_targets(exported):
    """The custom calls of a module, by its text."""
    return sorted(set(re.findall(r"custom_call @\"?([\w.]+)", exported.mlir_module())))


def traced(program):
    checks = [export.DisabledSafetyCheck.custom_call(target) for target in program.unchecked]
    jitted = jax.jit(program.function, **program.jit)
    arguments, keywords = program.filled()
    if program.traced_with:
        arguments = program.traced_with()
    return export.export(jitted, platforms=program.platforms, disabled_checks=checks)(*arguments, **keywords)


def results(program, call):
    """What JAX gives for the program, or nothing where JAX cannot run it either."""
    if program.refused and program.name != "cuda_only":
        return None
    arguments, keywords = program.filled()
    if "cpu" not in program.platforms:
        call = jax.jit(program.function, **program.jit)
    return jax.tree_util.tree_leaves(call(*arguments, **keywords))


def of_gradients(program, exported, inputs, outputs, data, order):
    """The gradients that the file has as programs of their own, one in another."""
    gradient = exported.vjp()
    random = np.random.default_rng([SEED, order])
    values = list(inputs)
    for aval in gradient.in_avals[len(inputs) :]:
        if aval.dtype == jax.dtypes.float0:
            values.append(np.zeros(aval.shape, jax.dtypes.float0))
        else:
            values.append(random.standard_normal(aval.shape).astype(aval.dtype))
    gradients = jax.tree_util.tree_leaves(gradient.call(*values))
    about = describe(program, gradient, data, values, gradients)
    if order > 1:
        about["vjp"] = of_gradients(program, gradient, values, gradients, data, order - 1)
    return about


def make(program, folder, data):
    jax.config.update("jax_enable_x64", program.x64)
    serialized = bytes(traced(program).serialize(vjp_order=program.vjp_order))
    (folder / f"{program.name}.jaxexport").write_bytes(serialized)
    exported = export.deserialize(bytearray(serialized))
    outputs = results(program, exported.call)
    inputs = jax.tree_util.tree_leaves(program.filled())
    about = {"program": program.name, **describe(program, exported, data, inputs, outputs)}
    targets = call_targets(exported)
    if targets:
        about["custom_calls"] = targets
    if program.refused:
        about["refused"] = program.refused
    if program.vjp_order:
        about["vjp"] = of_gradients(program, exported, inputs, outputs, data, program.vjp_order)
    return about


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    # A donation that cannot be used is part of a program here.
    warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
    data = Data()
    lines = []
    for program in PROGRAMS:
        lines.append(json.dumps(make(program, folder, data), separators=(",", ":")))
    (folder / "data.bin").write_bytes(data.bytes)
    # A line a program, so that changes can be read.
    (folder / "index.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"jax {jax.__version__}: {len(PROGRAMS)} programs")


if __name__ == "__main__":
    main()
