"""The compiled kernels under the address and undefined-behaviour sanitizers, built apart."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "src" / "supple" / "kernels"
FLAGS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-O1", "-g"]


@pytest.mark.soak
def test_the_kernels_are_clean_under_sanitizers(tmp_path: Path) -> None:
    """The safety and batch tests run on a sanitized build; a finding ends the run with a report."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    package = tmp_path / "supple"
    shutil.copytree(KERNELS.parent, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    include = sysconfig.get_path("include")
    words = [compiler, *FLAGS, "-std=c11", "-ffp-contract=off", "-shared", "-fPIC"]
    words += ["-DPy_LIMITED_API=0x030B0000", f"-I{include}"]
    for name in ("_exact", "_tape"):
        made = package / "kernels" / f"{name}.abi3.so"
        subprocess.run([*words, KERNELS / f"{name}.c", "-o", made, "-lm"], check=True)
    asan = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    environment = {
        **os.environ,
        "LD_PRELOAD": asan.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": str(tmp_path),
    }
    here = Path(__file__).parent
    names = ("test_kernel_safety.py", "test_kernel_lanes.py", "test_tape.py")
    names += ("studies/test_batches.py",)
    tests = [str(here / name) for name in names]
    tests += ["-k", "not left_to_the_tape"]  # CVODES, beside which it stands, cannot be loaded so
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-s", "-p", "no:cacheprovider", *tests],
        env=environment,
        capture_output=True,
        text=True,
        cwd=here.parents[1],
        check=False,  # told below, with what it wrote
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "ERROR: AddressSanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
