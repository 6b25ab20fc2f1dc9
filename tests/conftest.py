"""What all tests share: whole folders that take more than a few seconds count as slow."""

import gc
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SLOW = (
    "browser",
    "cross",
    "docs/test_snippets.py",
    "papers",
    "analytic/test_spinning_beams.py",
    "unit/studies/test_tour.py",
    "unit/test_coupled_delta.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lives in a slow place; single tests carry the mark themselves."""
    for item in items:
        place = item.path.relative_to(HERE).as_posix()
        if place.startswith(SLOW):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave modules and collected tests out of later garbage collections: they stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)
