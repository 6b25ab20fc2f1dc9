"""A robot file from any bytes, guided by coverage: run as a program, arguments are libFuzzer's."""

import sys

import atheris

with atheris.instrument_imports(include=["supple"]):
    import supple
    from supple.errors import SuppleError


def one(data: bytes) -> None:
    """What is read is written and read again as the same robot; what is not is a sentence."""
    text = data.decode("utf-8", "replace")
    try:
        robot = supple.loads(text)
    except SuppleError as problem:
        if not str(problem).strip():
            raise AssertionError("no sentence") from problem
        return
    assert supple.loads(supple.dump(robot)) == robot


atheris.Setup(sys.argv, one)
atheris.Fuzz()
