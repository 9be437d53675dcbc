"""The side of a Python peer in `cargo xtask bench`: as round_trip.c, with one way to run programs.

The first line on standard output names the way. Each line `PROGRAM CALLS` on standard input is answered by
one line with the nanoseconds of each call.
"""

import sys
from time import perf_counter_ns

import numpy as np

import programs

UNCOUNTED = 5  # calls that warm the caches up after another peer's turn


def check_agreement(name, program, outputs):
    for i, (got, expected) in enumerate(zip(outputs, program.outputs, strict=True)):
        if not isinstance(got, np.ndarray):
            got = np.from_dlpack(got)  # what stays on the device
        if not np.allclose(got, expected, rtol=1e-4, atol=1e-4):
            sys.exit(f"{program.name}: output {i} by {name} differs from that of raw PJRT C")


def time_calls(program, call, count):
    """`call` reads the program's inputs and gives its outputs as arrays in host memory."""
    first = program.inputs[0].reshape(-1)
    times = []
    for i in range(-UNCOUNTED, count):
        start = perf_counter_ns()
        first[0] = i * 0.001
        _ = call()[0].flat[0]
        times.append(perf_counter_ns() - start)
    return times[UNCOUNTED:]


def serve(name, folder, prepare):
    """Answers until nothing more is asked. `prepare` gives the call of a program."""
    known = {program.id: program for program in programs.read(folder)}
    calls = {}
    print(name, flush=True)
    for line in sys.stdin:
        id, count = line.split()
        program = known[id]
        if id not in calls:
            calls[id] = prepare(program)
            check_agreement(name, program, calls[id]())
        print(*time_calls(program, calls[id], int(count)), flush=True)
