"""Declares the one compiled module; everything else stands in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

KERNELS = Path("src/supple/kernels")

exact = Extension(
    "supple.kernels._exact",
    sources=[(KERNELS / "_exact.c").as_posix()],
    depends=sorted(path.as_posix() for path in KERNELS.glob("*.h")),
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
    # No fused multiply-add and no fast-math: the same bits on every machine of one architecture.
    extra_compile_args=["-O3", "-std=c11", "-ffp-contract=off", "-fno-math-errno"],
    libraries=["m"],
)

setup(
    ext_modules=[exact],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
