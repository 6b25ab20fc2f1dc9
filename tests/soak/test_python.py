"""Many threads, processes, calls and pages: the same answers, and no memory that stays."""

import multiprocessing
import os
import resource
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import supple
from soak.figures import Figures, minutes

pytestmark = pytest.mark.soak


def work(seed: int) -> list[bytes]:
    """A bit of everything, as bytes."""
    theta = np.random.default_rng(seed).uniform(-1, 1, 3)
    robot = supple.load("industrial-3")
    model = supple.build(robot, supple.AssumedModes(1))
    found = supple.modes(robot, theta, count=4)
    run = supple.simulate(model, theta0=theta, duration=0.01, method="adams")
    sag = supple.statics(robot, theta, gravity=[0, -9.81, 0])
    kinds = "".join(found.kind).encode()
    return [found.omega.tobytes(), run.q.tobytes(), sag.displacement.tobytes(), kinds]


def test_eight_threads_give_the_answers_of_one(figures: Figures) -> None:
    expected = {seed: work(seed) for seed in range(4)}
    end = time.monotonic() + minutes(1)
    wrong = []

    def run(k: int) -> None:
        while time.monotonic() < end:
            try:
                seed = k % 4
                if work(seed) != expected[seed]:
                    wrong.append(ValueError(f"seed {seed} differs"))
                figures.tried()
            except Exception as problem:  # noqa: BLE001 - told below
                wrong.append(problem)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for problem in wrong:
        figures.found("threads", problem)
    figures.close()


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_give_the_answers_of_one(figures: Figures, way: str) -> None:
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {way} here")
    expected = [work(seed) for seed in range(4)]
    with multiprocessing.get_context(way).Pool(2) as pool:
        for found, wanted in zip(pool.map(work, range(4)), expected, strict=True):
            if found != wanted:
                figures.found(way, ValueError("differs"))
            else:
                figures.tried()
    figures.close()


def resident() -> float:
    """Megabytes that this process holds now."""
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


CALLS: dict[str, Any] = {
    "modes": lambda r, m, k: supple.modes(r, [0, 0.001 * k, 1], count=3),
    "load": lambda r, m, k: supple.load("industrial-3"),
    "dump": lambda r, m, k: supple.loads(supple.dump(r)),
    "statics": lambda r, m, k: supple.statics(r, [0, 0.001 * k, 1]),
    "with": lambda r, m, k: r.with_("links.link1.length", 1 + 1e-4 * k),
    "mass": lambda r, m, k: m.mass_matrix(np.full(m.size, 1e-4 * k)),
    "fault": lambda r, m, k: _refused(k),
}


def _refused(k: int) -> None:
    with pytest.raises(supple.SuppleError):
        supple.loads(f"name: {k}\nlinks: []")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_memory_does_not_grow(figures: Figures, name: str) -> None:
    """20,000 calls: after 2,000 the process may not grow by more than 20 MB, 1 kB a call."""
    robot = supple.load("industrial-3")
    model = supple.build(robot, supple.AssumedModes(1))
    for k in range(2_000):
        CALLS[name](robot, model, k)
    before = resident()
    for k in range(18_000):
        CALLS[name](robot, model, k)
        figures.tried()
    grown = resident() - before
    sys.stderr.write(f"\n{name}: {grown:.1f} MB more after 18,000 calls\n")
    if grown > 20:
        figures.found(name, MemoryError(f"{grown:.0f} MB more"))
    figures.close()


def test_fifty_pages_for_a_while(figures: Figures) -> None:
    """Fifty clients send right and wrong messages; the studio goes on and says nothing."""
    import random

    from supple.view.live.live import serve
    from unit.view.test_door import knock, packed, wrong_messages

    live = serve(supple.load("industrial-3"), port=0)
    uuid = live.shown.controls.sliders[0]._impl.uuid
    end = time.monotonic() + minutes(1)
    failed = []

    def look(k: int) -> None:
        chance = random.Random(k)
        try:
            while time.monotonic() < end:
                with knock(live, Origin=f"http://127.0.0.1:{live.port}") as page:
                    for _ in range(chance.randrange(1, 30)):
                        good = {"value": chance.uniform(-90, 90)}
                        told = {"type": "GuiUpdateMessage", "uuid": uuid, "updates": good}
                        wrong = chance.choice(wrong_messages(live))
                        page.send(packed(told if chance.random() < 0.5 else wrong))
                        figures.tried()
                    page.recv(timeout=60)
        except Exception as problem:  # noqa: BLE001 - told below
            failed.append(problem)

    threads = [threading.Thread(target=look, args=(k,)) for k in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for problem in failed:
        figures.found("page", problem)
    certified = live.shown.found.certified
    live.stop()
    assert certified
    figures.close()
