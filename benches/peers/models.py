"""Writes the programs that are timed as ONNX models, and the digits model beside them.

    python models.py FOLDER DIGITS

FOLDER holds what `round_trip write` wrote (ID.mlir, ID.f32, programs.json) and receives ID.onnx.
DIGITS is models/digits/digits.mlirbc, whose weights are taken as they are.
"""

import sys
from pathlib import Path

import jax
import numpy as np
import onnx
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from onnx import TensorProto, helper, numpy_helper

import programs

# The oldest of both that has all that is used here, so that any ONNX Runtime reads the models.
OPSET = 17
IR_VERSION = 8


class Graph:
    """ONNX nodes and weights, as they are added."""

    def __init__(self):
        self.nodes = []
        self.weights = []

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, kind, *inputs, output=None, **attributes):
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def layers(self, x, weights, output=None):
        """Dense layers with ReLU between: weights, then biases, layer by layer."""
        last = len(weights) - 2
        for i in range(0, last + 2, 2):
            bias = self.weight(weights[i + 1].reshape(-1))
            x = self.node("Gemm", x, self.weight(weights[i]), bias, output=output if i == last else None)
            if i != last:
                x = self.node("Relu", x)
        return x

    def write(self, path, inputs, outputs):
        info = lambda prefix, shapes: [
            helper.make_tensor_value_info(f"{prefix}{i}", TensorProto.FLOAT, shape) for i, shape in enumerate(shapes)
        ]
        graph = helper.make_graph(self.nodes, path.stem, info("in", inputs), info("out", outputs), self.weights)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def mlp(graph, program):
    graph.layers("in0", program.weights, output="out0")


def tanh(graph, _):
    one = graph.weight(np.float32(1))
    graph.node("Tanh", graph.node("Add", graph.node("Mul", "in0", "in1"), one), output="out0")


def double(graph, _):
    graph.node("Add", "in0", "in0", output="out0")


def matmul(graph, _):
    graph.node("MatMul", "in0", "in1", output="out0")


def arguments(graph, program):
    graph.node("Sum", *(f"in{i}" for i in range(len(program.inputs))), output="out0")


def outputs(graph, program):
    for i in range(len(program.outputs)):
        graph.node("Add", "in0", graph.weight(np.float32(i)), output=f"out{i}")


def training(graph, _):
    error = graph.node("Sub", graph.node("MatMul", "in0", "in1"), "in0")
    gradient = graph.node("MatMul", graph.node("Transpose", "in0", perm=[1, 0]), error)
    graph.node("Sub", "in1", graph.node("Mul", gradient, graph.weight(np.float32(0.01))), output="out1")
    graph.node("ReduceSum", graph.node("Mul", error, error), output="out0", keepdims=0)


BUILDERS = {
    "mlp": mlp,
    "tanh": tanh,
    "double": double,
    "matmul": matmul,
    "arguments": arguments,
    "outputs": outputs,
    "training": training,
}


def constants(bytecode):
    """The arrays that a StableHLO program has inside, in order."""
    from jax.interpreters import mlir

    with mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, bytecode)
        main = module.body.operations[0]
        values = [op.attributes["value"] for op in main.regions[0].blocks[0].operations
                  if op.name == "stablehlo.constant"]
        return [np.array(value) for value in values]


def digits(path, bytecode):
    """The classifier of models/digits/train.py: scaled pixels, three layers, softmax."""
    weights = [array for array in constants(bytecode) if array.ndim > 0]
    assert [array.shape for array in weights] == [(64, 96), (96,), (96, 48), (48,), (48, 10), (10,)], weights
    graph = Graph()
    scaled = graph.node("Sub", graph.node("Div", "in0", graph.weight(np.float32(8))), graph.weight(np.float32(1)))
    graph.node("Softmax", graph.layers(scaled, weights), output="out0", axis=1)
    graph.write(path, [[1, 64]], [[1, 10]])


def main():
    folder, model = map(Path, sys.argv[1:])
    for program in programs.read(folder):
        graph = Graph()
        BUILDERS[program.id](graph, program)
        graph.write(folder / f"{program.id}.onnx", [x.shape for x in program.inputs], [x.shape for x in program.outputs])
    digits(folder / "digits.onnx", model.read_bytes())


if __name__ == "__main__":
    main()
