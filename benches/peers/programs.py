"""The programs that are timed, as `round_trip write` wrote them."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass
class Program:
    id: str
    name: str
    text: str  # StableHLO
    inputs: list
    weights: list
    outputs: list  # what raw PJRT C computes of the inputs


def read(folder):
    """All of them, in the order of the table."""
    return [_program(folder, described) for described in json.loads((folder / "programs.json").read_text())]


def _program(folder, described):
    id = described["id"]
    rest = np.fromfile(folder / f"{id}.f32", np.float32)
    groups = {}
    for group in ("inputs", "weights", "outputs"):
        groups[group] = []
        for dims in described[group]:
            count = int(np.prod(dims))
            groups[group].append(rest[:count].reshape(dims))
            rest = rest[count:]
    assert rest.size == 0, f"{id}.f32 holds {rest.size} elements more than programs.json says"
    return Program(id, described["name"], (folder / f"{id}.mlir").read_text(), **groups)
