"""The example notebooks run from top to bottom, and their answers show themselves."""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SHOWN = {  # what a reader sees below some cell of each
    "design-an-arm": ("Modes of loader", "Optimum of loader: least mass", "Hz/kg  payload.mass"),
    "first-steps": ("Modes of industrial-3", "Response of de-luca-two-link"),
    "stop-shaking": ("Shaped move: zvd", "Comparison on de-luca-two-link", "shakes least"),
}


def text_of(output: Any) -> str:
    """Everything that one output of a cell says in words."""
    data = output.get("data", {})
    return "".join([output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")])


def run(notebook: Any) -> Any:
    # a test that drew into a file has set this for the whole process; a kernel would show nothing
    os.environ.pop("MPLBACKEND", None)
    NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    return notebook


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel's own machinery; the cells run elsewhere
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    notebook = run(nbformat.read(path, as_version=4))
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = "\n".join(map(text_of, outputs))
    for words in SHOWN[path.stem]:
        assert words in shown
    plots = sum(".plot()" in cell.source for cell in notebook.cells)
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    assert pictures == plots


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_picture_appears_once_however_it_is_asked_for() -> None:
    cells = {
        "import supple\nfound = supple.modes(supple.load('industrial-3'))\nfound.plot()": 1,
        "found.plot()": 1,
        "found.plot();": 1,
        "figure = found.plot()": 1,
        "found.plot()\nfound.plot()": 2,
        "figure": 1,
    }
    new_cells = [nbformat.v4.new_code_cell(source) for source in cells]
    notebook = run(nbformat.v4.new_notebook(cells=new_cells))
    for cell in notebook.cells:
        pictures = sum("image/png" in output.get("data", {}) for output in cell.outputs)
        assert pictures == cells[cell.source], cell.source


def test_there_are_three_and_the_first_pages_link_them() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)
    first_pages = [ROOT / "README.md", ROOT / "docs" / "index.md"]
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        assert not any(cell.get("outputs") for cell in notebook.cells)  # kept without them
        for page in first_pages:
            assert f"notebooks/{path.name}" in page.read_text(encoding="utf-8")
