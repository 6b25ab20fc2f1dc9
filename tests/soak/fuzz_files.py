"""A robot file or URDF from any bytes, guided by coverage; a program with libFuzzer words."""

import sys
import warnings

import atheris

with atheris.instrument_imports(include=["supple"]):
    import supple
    from supple.errors import SuppleError
    from supple.files.sidecar import Sidecar
    from supple.files.urdf import urdf_robot

    supple.load("kuo-delta")  # names are found when first used: all that reads is brought here


def one(data: bytes) -> None:
    """What is read is written and read again as the same robot; what is not is a sentence."""
    text = data.decode("utf-8", "replace")
    try:
        robot = urdf_robot(text, Sidecar()) if text[:1] == "<" else supple.loads(text)
    except SuppleError as problem:
        if not str(problem).strip():
            raise AssertionError("no sentence") from problem
        return
    assert supple.loads(supple.dump(robot)) == robot


warnings.simplefilter("ignore")
atheris.Setup(sys.argv, one)
atheris.Fuzz()
