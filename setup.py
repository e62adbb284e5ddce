"""The compiled core of the trace reader, for one binary that serves every Python from 3.10 on.

It is optional: without a compiler, or on a Python that has no limited interface, the installation goes on
without it, and traces are read by Python alone.
"""

import sysconfig

from setuptools import Extension, setup

HAS_LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")
CORE = "src/stepscope/trace/core"

setup(
    ext_modules=[
        Extension(
            "stepscope.trace._core",
            [f"{CORE}/core.c"],
            depends=[
                f"{CORE}/{part}.h" for part in ("event", "nest", "piece", "rows", "scan", "words")
            ],
            py_limited_api=True,
            optional=True,
        )
    ]
    if HAS_LIMITED_API
    else [],
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if HAS_LIMITED_API else {},
)
