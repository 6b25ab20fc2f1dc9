"""Every question to many robots, against the answers stored before the families became one Tree.

`data/stored-answers.npz` was written by `stored_answers` with the code of commit fee2bff6. Runs of
loops and of arm-10 and arm-12 are of 0.3.0, whose steps follow the run itself: they changed by at
most 3e-8, arm-10 by 1.2e-3. Frequencies of mechanism-12 with free joints are of 0.3.0 too: the
fourth was 1e-10 outside its bracket, judged by a count in forty digits, until closure forces were
scaled and guarded. The run of four-bar is that of six-stage steps: it changed by 9e-10, to 2e-14 of
one in steps an eighth as long.
"""

import numpy as np
import pytest

from cross.stored_answers import CASES, DATA, answers_of

CLOSE = 1e-10  # of the largest entry of an answer
NUDGES = (1e-13, -1e-13, 2e-13)  # of the pose and the frequencies
SPREAD = 10.0  # an answer may be off by as many times what a nudge changes
NOTHING = 1e-15  # m, rad, m/N ..: answers below are zero but for rounding
STORED = dict(np.load(DATA))

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("case", CASES)
def test_stored_answers_are_met(case: str) -> None:
    """Modes, statics, response, equations, run, linearisation and follow are what they were."""
    stored = {
        name.partition("/")[2]: value
        for name, value in STORED.items()
        if name.partition("/")[0] == case
    }
    found = answers_of(case)
    assert found.keys() == stored.keys()
    far = {}
    for name, value in found.items():
        assert value.shape == stored[name].shape, name
        if value.dtype.kind not in "fc":
            assert str(value) == str(stored[name]), name
            continue
        assert (np.isfinite(value) == np.isfinite(stored[name])).all(), name
        size = np.nanmax(np.abs([value, stored[name]]), initial=0.0)
        off = np.nanmax(np.abs(value - stored[name]), initial=0.0)
        if off > CLOSE * size and size > NOTHING:
            far[name] = off
    if far:
        sharpness = spread_of_answers(case, found)
        far = {name: off for name, off in far.items() if off > SPREAD * sharpness[name]}
    assert not far


def spread_of_answers(case: str, found: dict[str, np.ndarray]) -> dict[str, float]:
    """Return by how much each answer changes when its question changes in the thirteenth digit.

    Rounding differs between processors, whose linear algebra adds in different orders: the static
    response of a robot with free joints, for instance, is known to nine digits on any of them.
    """
    nudged = [answers_of(case, nudge) for nudge in NUDGES]
    return {
        name: max(np.nanmax(np.abs(one[name] - value), initial=0.0) for one in nudged)
        for name, value in found.items()
        if value.dtype.kind in "fc"
    }
