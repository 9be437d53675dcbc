# Imports one module and says which plugin it offers. Started by libcyxla with the
# environment's own interpreter, `-I -B -c`, and these arguments:
#   the module, how its folder joins the search path, the folder.
# The answer goes to a pipe that was put in the place of standard input.
import os
import sys

pipe = os.dup(0)  # not inherited by programs that the module starts
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 0)
os.close(null)
os.write(pipe, b"ready\n")


class Wrong(Exception):
    pass


def describe(error):
    try:
        text = str(error)
    except BaseException:
        text = "(an error whose text cannot be made)"
    return type(error).__name__ + (": " + text if text else "")


def plain(text):
    try:
        text.encode("utf-8")
    except UnicodeError:
        return False
    return "\0" not in text


def option(name, value):
    if isinstance(value, bool) or (isinstance(value, float) and abs(value) < 1 << 63):
        return value
    if isinstance(value, str) and plain(value):
        return str(value)
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return int(value)
    if isinstance(value, (list, tuple)):
        if all(type(item) is int and -(1 << 63) <= item < 1 << 63 for item in value):
            return list(value)
    raise Wrong(
        "its option %r is %s (%s), expected a string, a 64-bit integer, a float, a bool or a "
        "list of 64-bit integers" % (name, repr(value)[:100], type(value).__name__)
    )


def options(module):
    if not hasattr(module, "CREATE_OPTIONS"):
        raise Wrong("it has no CREATE_OPTIONS")
    given = module.CREATE_OPTIONS
    if not isinstance(given, dict):
        raise Wrong("its CREATE_OPTIONS is of type %s, expected dict" % type(given).__name__)
    for name in given:
        if not isinstance(name, str) or not plain(name):
            raise Wrong("its CREATE_OPTIONS has the name %s, expected a string" % repr(name)[:100])
    return {str(name): option(name, value) for name, value in given.items()}


def platform(module):
    if not hasattr(module, "PLATFORM"):
        raise Wrong("it has no PLATFORM")
    name = module.PLATFORM
    if not isinstance(name, str):
        raise Wrong("its PLATFORM is of type %s, expected str" % type(name).__name__)
    if not plain(name):
        raise Wrong("its PLATFORM is %s, which is no text" % ascii(name)[:100])
    return str(name)


def library(module):
    function = getattr(module, "library_path", None)
    if not callable(function):
        raise Wrong("it has no function library_path()")
    try:
        path = function()
    except BaseException as error:
        raise Wrong("its library_path() raised " + describe(error))
    try:
        path = os.fsencode(path)
    except Exception:
        raise Wrong("its library_path() gave %s, expected a path" % type(path).__name__)
    if not os.path.isabs(path) or b"\0" in path:
        raise Wrong("its library_path() gave '%s', expected an absolute path" % os.fsdecode(path))
    return path.hex()


def answer():
    import importlib
    import site

    name, way, folder = sys.argv[1:4]
    if folder not in sys.path:
        if way == "first":
            sys.path.insert(0, folder)
        elif way == "site":
            site.addsitedir(folder)
        else:
            sys.path.append(folder)
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        raise Wrong("importing it raised " + describe(error))
    return {
        "platform": platform(module),
        "create_options": options(module),
        "library": library(module),
    }


import json

try:
    said = json.dumps(answer(), allow_nan=False)
except Wrong as error:
    said = json.dumps({"problem": str(error)[:4000]})
except BaseException as error:
    said = json.dumps({"problem": "looking at it raised " + describe(error)[:4000]})
said = said.encode("ascii") + b"\n"
while said:
    said = said[os.write(pipe, said):]
os._exit(0)
