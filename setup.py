"""Declares the two compiled modules; everything else stands in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/supple/kernels")

# No fused multiply-add and no fast-math: the same bits on every machine of one architecture.
FLAGS = {
    "unix": ["-O3", "-std=c11", "-ffp-contract=off", "-fno-math-errno"],
    "mingw32": ["-O3", "-std=c11", "-ffp-contract=off", "-fno-math-errno"],
    "msvc": ["/O2", "/std:c11", "/fp:precise"],
}


class BuildKernel(build_ext):
    """Gives each compiler its own words for the same wishes."""

    def build_extension(self, ext: Extension) -> None:
        kind = self.compiler.compiler_type
        ext.extra_compile_args = FLAGS.get(kind, [])
        ext.libraries = ["m"] if kind == "unix" else []  # elsewhere the C library has it
        super().build_extension(ext)


MODULES = [
    Extension(
        f"supple.kernels.{name}",
        sources=[(KERNELS / f"{name}.c").as_posix()],
        depends=sorted(path.as_posix() for path in KERNELS.glob("*.h")),
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        py_limited_api=True,
    )
    for name in ("_exact", "_tape")
]

setup(
    ext_modules=MODULES,
    cmdclass={"build_ext": BuildKernel},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
