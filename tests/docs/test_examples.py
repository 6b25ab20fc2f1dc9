"""The examples in the docstrings of public names run and print what they say."""

import doctest
import inspect
import re

import pytest

import supple


def docstring_of(name: str) -> str:
    return inspect.getdoc(getattr(supple, name)) or ""


PUBLIC = sorted(set(supple.__all__) - {"__version__"})
FUNCTIONS = [name for name in PUBLIC if not inspect.isclass(getattr(supple, name))]
WITH_EXAMPLES = [name for name in PUBLIC if ">>>" in docstring_of(name)]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_example_runs(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(docstring_of(name), {}, name, None, 0)
    report: list[str] = []

    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    result = runner.run(example, out=report.append)

    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_documents_its_parameters(name: str) -> None:
    text = docstring_of(name)
    parameters = inspect.signature(getattr(supple, name)).parameters

    assert "Returns\n-------" in text
    assert not parameters or "Parameters\n----------" in text
    for parameter in parameters:
        assert parameter in text, f"{parameter} of {name} is not explained"


@pytest.mark.parametrize("name", PUBLIC)
def test_sections_stand_on_lines_of_their_own(name: str) -> None:
    text = docstring_of(name)

    assert not re.search(r"^(Notes|References|Returns) -{4,}", text, re.MULTILINE)
    assert "Args:" not in text
    assert "Attributes:" not in text
