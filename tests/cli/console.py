"""Running the command line inside the test process."""

from typing import NamedTuple

import pytest

from supple.__main__ import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Console:
    """`console("modes", "industrial-3")` runs `supple modes industrial-3`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: object) -> Ran:
        self._monkeypatch.setattr("sys.argv", ["supple", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = self._capsys.readouterr()
        return Ran(int(ended.value.code or 0), printed.out, printed.err)
