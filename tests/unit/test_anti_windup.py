"""Integral action at effort limits, loops that sit there, and laws run with another delay."""

import ctypes
import shutil
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.integration.plan import SimulationWarning

PERIOD = 2e-3
GOAL = np.array([0.5, 0.3])


@pytest.fixture(scope="module")
def model() -> Any:
    return supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))


@pytest.fixture(scope="module")
def law(model: Any) -> Any:
    weights = [100.0, 100.0, *[1.0] * (2 * model.size - 2)]
    return supple.lqg(model, [0.0, 0.0], state_weight=weights, integral=30.0, period=PERIOD)


def move(model: Any, law: Any, limit: list[float] | None, duration: float = 5.0) -> Any:
    path = supple.ParabolicBlends([0, 0], GOAL.tolist(), duration=1.0, blend=0.4)
    drive = supple.Sampled(law, PERIOD, effort_limit=limit)
    given = {"controller": drive, "trajectory": path, "duration": duration, "dt": 0.02}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        return supple.simulate(model, **given)


def test_integrals_do_not_wind_up_at_a_limit(model: Any, law: Any) -> None:
    """Without it the move overshoots by 147 % and is lost after 5 s; the free law by 27 %."""
    limit = [0.4, 0.2]
    ours, plain = (move(model, one, limit) for one in (law, replace(law, anti_windup=None)))
    over = [float((run.theta.max(axis=0) / GOAL - 1).max()) for run in (ours, plain)]
    off = [float(np.abs(run.theta[-1] - GOAL).max()) for run in (ours, plain)]
    assert over[0] < 0.4
    assert over[1] > 1.4
    assert off[0] < 0.02
    assert off[1] > 0.1
    assert (np.abs(ours.tau) <= np.array(limit) + 1e-12).all()


def test_nothing_changes_away_from_the_limit(model: Any, law: Any) -> None:
    free, limited = (move(model, law, limit, 1.5) for limit in (None, [100.0, 100.0]))
    assert np.array_equal(free.q, limited.q)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_generated_c_does_the_same(model: Any, law: Any, tmp_path: Path) -> None:
    """The C of the law, step by step, against its matrices with what is cut off fed back."""
    limit = np.array([0.4, 0.2])
    code = supple.c_code(supple.Sampled(law, PERIOD, effort_limit=limit), model)
    source = tmp_path / "law.c"
    library = tmp_path / "law.so"
    source.write_text(code)
    flags = ["-O1", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    compiled = ctypes.CDLL(str(library))
    prefix = "controller" if hasattr(compiled, "controller_step") else "law"
    getattr(compiled, f"{prefix}_reset")()
    z = np.zeros(len(law.A))
    rng = np.random.default_rng(5)
    cut = 0
    for _ in range(200):
        y = law.y0 + rng.normal(0, 0.05, len(law.y0))
        r = np.array(GOAL)
        out = np.zeros(2)
        u = np.concatenate([y - law.y0, r - law.r0])
        wanted = law.tau0 + law.C @ z + law.D @ u
        applied = np.clip(wanted, -limit, limit)
        cut += int((applied != wanted).any())
        z = law.A @ z + law.B @ u + law.anti_windup @ (applied - wanted)
        pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (y, r, out)]
        getattr(compiled, f"{prefix}_step")(*pointers)
        assert out == pytest.approx(applied, rel=1e-9, abs=1e-12)
    assert cut > 20


def test_a_loop_that_sits_at_its_limit_is_told(model: Any) -> None:
    drive = supple.Sampled(supple.JointPD(1e4, 1e2), PERIOD, effort_limit=1e-3)
    with pytest.warns(SimulationWarning, match="asks for more than its effort limit"):
        supple.simulate(model, controller=drive, trajectory=[0.5, 0.3], q0=[0] * 4, duration=0.2)


def test_a_law_run_with_another_delay_is_told(model: Any, law: Any) -> None:
    drive = supple.Sampled(law, PERIOD, delay=PERIOD)
    with pytest.warns(SimulationWarning, match="designed for efforts that come 0 s late"):
        supple.simulate(model, controller=drive, trajectory=[0.0, 0.0], duration=0.05)
