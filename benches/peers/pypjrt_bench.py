"""pypjrt from NumPy arrays to NumPy arrays, for `cargo xtask bench`.

    python pypjrt_bench.py FOLDER PLUGIN
"""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pypjrt

import turns

F32 = 11
OPTIONS = {"cpu_device_count": 1, "asynchronous": False}


def main():
    folder, plugin = sys.argv[1:]
    with pypjrt.Client.create(plugin, options=OPTIONS) as client, client.devices() as devices:

        def buffer(x):
            return client.buffer_from_host(x, F32, x.shape, devices[0])

        def prepare_training(program):
            executable, state = client.compile(program.text), buffer(program.inputs[1])

            def call():
                nonlocal state
                loss, state = executable(buffer(program.inputs[0]), state)
                return [np.from_dlpack(loss), state]

            return call

        def prepare(program):
            if program.id == "training":
                return prepare_training(program)
            executable = client.compile(program.text)

            def call():
                arguments = [buffer(x) for x in program.inputs]
                # Shares the memory of the result, which is faster than a copy by to_host.
                return [np.from_dlpack(output) for output in executable(*arguments)]

            return call

        turns.serve(f"pypjrt {version('pypjrt')}", Path(folder), prepare)


if __name__ == "__main__":
    main()
