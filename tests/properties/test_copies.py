"""What every public function and class makes can be copied, stored and compared after its use."""

import contextlib
import copy
import pickle
import warnings

import numpy as np
import pytest

from supple.answers.immutable import same
from wrong_types import CALLS, called

REFUSED = {
    "load_response",
    "load_linear",
    "load_trajectory",
    "load_profile",
    "MechanismRobot",
}  # their example is no right one
REFUSED |= {"check", "response", "plan", "invert", "optimise"}
LONG = {"reproduce", "tour", "sweep", "h_infinity", "compensate", "stability"}


@pytest.mark.parametrize("name", sorted(set(CALLS) - REFUSED - LONG))
def test_after_use_it_is_copied_stored_and_compared(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = called(name)(**CALLS[name])
    for word in dir(type(made)):
        if not word.startswith("_"):
            with contextlib.suppress(Exception):  # used; whether it may fail is asked elsewhere
                getattr(made, word)
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(again) is type(made)
        assert same(again, made)
    held = vars(made) if hasattr(made, "__dict__") else {}
    loose = [k for k, v in held.items() if isinstance(v, np.ndarray) and v.flags.writeable]
    assert loose == []
