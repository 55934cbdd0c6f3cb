"""Builds the kernel and what else is compiled: every ``.pyx`` below ``src`` becomes one C++ extension.

All compiler directives and flags live here and nowhere else, so that one switch turns
them all: ``MASKWRIGHT_CHECKED=1`` builds with bounds and division checks, the assertions of the
C++ library and little optimisation. Neither Cython nor setuptools notices that only flags changed, so
intermediate files live in a folder whose name holds the kind of build and a digest of this file.

Everything else about the package is in ``pyproject.toml``.
"""

import hashlib
import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CHECKED = os.environ.get("MASKWRIGHT_CHECKED", "") not in ("", "0")
DIGEST = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
BUILD_BASE = Path("build", f"{'checked' if CHECKED else 'release'}-{DIGEST}")
SOURCES = Path("src")

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    # A negative index is never meant in the kernel; the checked build reports one as out of bounds.
    "wraparound": False,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "cdivision": not CHECKED,
    # Not "nonecheck": it does not compile where the GIL is released.
}

if sys.platform == "win32":
    FLAGS, MACROS = ["/std:c++17", "/EHsc", "/Od" if CHECKED else "/O2"], []
elif CHECKED:
    FLAGS, MACROS = ["-std=c++17", "-O1", "-g"], [("_GLIBCXX_ASSERTIONS", "1")]
else:
    FLAGS, MACROS = ["-std=c++17", "-O3", "-g0"], []

EXTENSIONS = [
    Extension(
        name=".".join(source.relative_to(SOURCES).with_suffix("").parts),
        sources=[source.as_posix()],
        language="c++",
        extra_compile_args=FLAGS,
        define_macros=MACROS,
    )
    for source in sorted(SOURCES.rglob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        EXTENSIONS,
        include_path=["src"],
        build_dir=str(BUILD_BASE / "cython"),
        compiler_directives=DIRECTIVES,
    ),
    options={
        "build": {"build_base": str(BUILD_BASE)},
        "build_ext": {"parallel": os.cpu_count()},
    },
)
