"""Prints what a script can know about how it was started, without torch, and ends as it is told."""

import atexit
import os
import sys

atexit.register(print, "at exit")
print(sorted(name for name in globals() if name.startswith("__")))
print(__name__, __file__, __package__, __spec__, __doc__, type(__loader__).__name__)
print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
print(sys.stdin.read(), end="")
end = sys.argv[1]
if end == "raise":
    raise ValueError("on purpose") from KeyError("cause")
if end == "text":
    sys.exit("a text")
if end == "os._exit":
    sys.stdout.flush()
    os._exit(7)
if end != "fall":
    sys.exit(int(end))
