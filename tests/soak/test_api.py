"""Public functions under arguments that nobody would give: an answer or a sentence, soon.

Hypothesis makes the values and shrinks what fails; its examples are kept in build/soak and tried
first the next time.
"""

import os
import time
import warnings
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

import supple
from soak.figures import FOUND, Figures, minutes
from wrong_types import CALLS, WRONG, called

pytestmark = pytest.mark.soak

SLOW = {"closed_form", "follow", "scheduled", "stability", "reproduce", "tour", "optimise", "sweep"}
SLOW |= {"h_infinity", "resonant_damping", "plan"}
NUMBERS = st.one_of(
    st.floats(), st.integers(-(2**70), 2**70), st.booleans(), st.complex_numbers(), st.none()
)
TEXTS = st.text(max_size=20)
NESTED = st.recursive(
    NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
ARRAYS = st.builds(
    lambda shape, kind, fill: np.full(shape, fill).astype(kind),
    st.lists(st.integers(0, 4), max_size=4).map(tuple),
    st.sampled_from([float, int, complex, bool, np.float32, np.int8, object]),
    st.sampled_from([0, 1, -1, 0.5, 1e-300, 100]),
)
# By a function of its own: hypothesis writes out what a bound method belongs to, huge numbers too
VALUES = st.one_of(NESTED, ARRAYS, st.sampled_from(sorted(WRONG)).map(lambda key: WRONG[key]))


def tried_once(figures: Figures, name: str, changes: dict[str, Any]) -> None:
    """Call with some arguments replaced; anything but an answer or a sentence is raised."""
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            called(name)(**{**CALLS[name], **changes})
        except supple.SuppleError as problem:
            figures.tried(sentence=str(problem))
        else:
            figures.tried()
    assert time.monotonic() - start < 60, f"{name} takes longer than a minute"


def test_random_arguments(figures: Figures) -> None:
    """In rounds, so that it ends by the clock and not by a count."""
    names = sorted(name for name in set(CALLS) - SLOW if CALLS[name])

    @settings(
        max_examples=500,
        deadline=None,
        database=DirectoryBasedExampleDatabase(FOUND / "examples"),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(names))
        keys = st.sampled_from(sorted(CALLS[name]))
        changed = data.draw(st.lists(keys, min_size=1, max_size=3, unique=True))
        tried_once(figures, name, {key: data.draw(VALUES, label=key) for key in changed})

    number = 1000 * figures.seed
    end = time.monotonic() + minutes(3)
    while time.monotonic() < end:
        seed(number)(attack)()
        number += 1
    figures.close()


def test_robot_files_by_coverage(figures: Figures, tmp_path: Any) -> None:
    """Atheris mutates robot files towards lines of the reader that were never run."""
    import re
    import subprocess
    import sys
    from pathlib import Path

    pytest.importorskip("atheris")
    here = Path(__file__).parent
    corpus = FOUND / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, here / "fuzz_files.py", corpus, here / "corpus"]
    words += [f"-max_total_time={int(minutes(2))}", "-max_len=4096", "-timeout=20"]
    words += [f"-artifact_prefix={tmp_path}/", f"-seed={figures.seed + 1}", "-rss_limit_mb=2048"]
    ran = subprocess.run(
        words, capture_output=True, text=True, check=False, errors="replace", env=dict(os.environ)
    )
    counted = re.search(r"Done (\d+) runs", ran.stderr)
    for kept in tmp_path.iterdir():
        figures.found(kept.read_text(errors="replace"), ValueError(ran.stderr[-1500:]))
    assert counted is not None or figures.faults, ran.stderr[-2000:]
    figures.count += int(counted[1]) if counted else 0
    figures.close()
