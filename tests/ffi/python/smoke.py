"""Calls libcyxla through ctypes, with nothing in between: 100 threads that initialize, compile, run and read an error."""

from concurrent.futures import ThreadPoolExecutor
from ctypes import CDLL, POINTER, addressof, byref, c_bool, c_char_p, c_float, c_int32, c_int64, c_size_t, c_void_p
from threading import Barrier

THREADS = 100
TEXT = b"""func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %a, %b : tensor<4xf32>
  return %sum : tensor<4xf32>
}"""

cyxla = CDLL("libcyxla.so.0")
P, S, LIST, SIZES = c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t)
for name, result, arguments in [
    ("options_new", P, []), ("options_set_int", P, [P, S, c_int64]), ("options_set_bool", P, [P, S, c_bool]),
    ("initialize", P, [S, S, P, LIST]), ("runtime_info_device_count", c_size_t, [P]),
    ("program_from_bytes", P, [S, c_size_t, c_int32, S, LIST]), ("compile_program", P, [P, P, LIST]),
    ("run", P, [P, LIST, SIZES, c_size_t, LIST, SIZES, c_size_t]),
    ("error_code", c_int32, [P]), ("error_message", S, [P]), ("error_detail", S, [P, S]), ("code_name", S, [c_int32]),
    ("options_free", None, [P]), ("program_free", None, [P]), ("executable_free", None, [P]), ("error_free", None, [P]),
]:
    function = getattr(cyxla, "cyxla_" + name)
    function.restype, function.argtypes = result, arguments


def succeed(error):
    assert error is None, cyxla.cyxla_error_message(error).decode()


def work(number):
    together.wait()
    options, info, program, executable = cyxla.cyxla_options_new(), P(), P(), P()
    succeed(cyxla.cyxla_options_set_int(options, b"cpu_device_count", 1))
    succeed(cyxla.cyxla_options_set_bool(options, b"asynchronous", False))
    succeed(cyxla.cyxla_initialize(None, None, options, byref(info)))
    assert cyxla.cyxla_runtime_info_device_count(info) == 1
    succeed(cyxla.cyxla_program_from_bytes(TEXT, len(TEXT), 0, None, byref(program)))
    succeed(cyxla.cyxla_compile_program(program, None, byref(executable)))

    a, b, out = ((c_float * 4)(*values) for values in ([1, 2, 3, number], [10, 20, 30, 40], [0] * 4))
    inputs, outputs = (P * 2)(addressof(a), addressof(b)), (P * 1)(addressof(out))
    sizes = (c_size_t * 2)(16, 16)
    succeed(cyxla.cyxla_run(executable, inputs, sizes, 2, outputs, sizes, 1))
    assert list(out) == [11, 22, 33, number + 40], list(out)

    typo = cyxla.cyxla_options_new()
    succeed(cyxla.cyxla_options_set_int(typo, b"device%d" % number, 0))
    error = cyxla.cyxla_compile_program(program, typo, byref(P()))
    message = cyxla.cyxla_error_message(error).decode()
    assert cyxla.cyxla_code_name(cyxla.cyxla_error_code(error)) == b"INVALID_ARGUMENT", message
    assert f"'device{number}'" in message, message  # this thread's error, not another's
    assert b"'device'" in cyxla.cyxla_error_detail(error, b"hint"), message
    cyxla.cyxla_error_free(error)
    cyxla.cyxla_executable_free(executable)
    cyxla.cyxla_program_free(program)
    cyxla.cyxla_options_free(options)
    cyxla.cyxla_options_free(typo)


together = Barrier(THREADS)
with ThreadPoolExecutor(THREADS) as pool:
    finished = list(pool.map(work, range(THREADS)))
print(f"ok python: {len(finished)} threads")
