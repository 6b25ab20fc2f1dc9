"""What the start pulls in, and how long it takes."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import supple
from supple.cli import THREADS
from supple.library import names

HEAVY = ("scipy", "casadi", "matplotlib", "xarray", "pandas", "dask")
LIBRARIES = ("numpy", "pydantic", "yaml", "rich", *HEAVY)


def loaded_by(code: str, among: tuple[str, ...]) -> list[str]:
    """Which of the libraries are loaded after running the code in a new interpreter."""
    tail = f"; import json, sys; print(json.dumps([m for m in {among!r} if m in sys.modules]))"
    ran = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_import_loads_nothing() -> None:
    assert loaded_by("import supple", LIBRARIES) == []


@pytest.mark.parametrize("name", ["load", "modes", "Robot", "statics"])
def test_a_core_name_loads_nothing_heavy(name: str) -> None:
    code = f"import supple; supple.{name}"
    arrays = ["numpy"] if name in ("modes", "statics") else []
    assert loaded_by(code, ("numpy", "pydantic", *HEAVY)) == [*arrays, "pydantic"]


FAMILY_OF = {"industrial-3": "serial", "kuo-delta": "delta", "five-bar": "mechanism"}


@pytest.mark.parametrize("robot", names())
def test_loading_a_file_needs_its_own_family_alone(robot: str) -> None:
    """No arrays, no other family, no URDF, no question: each takes longer than the file."""
    code = f"import supple; supple.load({robot!r})"
    rooms = ("architectures", "equations", "files.urdf", "files.schemas", "studies", "papers")
    unwanted = ("numpy", "rich", "typer", *HEAVY, *(f"supple.{room}" for room in rooms))
    assert loaded_by(code, unwanted) == []
    families = tuple(f"supple.robot.{word}" for word in FAMILY_OF.values())
    if robot in FAMILY_OF:
        assert loaded_by(code, families) == [f"supple.robot.{FAMILY_OF[robot]}"]


def test_loading_a_file_builds_one_schema() -> None:
    """Pydantic builds a schema when a class is first validated: other classes wait for it."""
    code = (
        "import supple; supple.load('industrial-3'); from supple.faults import Description\n"
        "def below(kind):\n"
        "    for one in kind.__subclasses__():\n        yield one\n        yield from below(one)\n"
        "print([one.__name__ for one in below(Description) if one.__pydantic_complete__])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['SerialRobot']"


@pytest.mark.parametrize("file", ["industrial-3", "five-bar"])
def test_the_command_modes_imports_what_it_needs(file: str) -> None:
    run = f"import sys; sys.argv = ['supple', 'modes', {file!r}]; import supple.cli as c; c.main()"
    rooms = ("equations", "view", "outputs", "path_dynamics", "integration", "measure", "exporters")
    others = ("supple.cli.motion", "supple.cli.drive", "supple.cli.design", "supple.files.urdf")
    unwanted = ("rich", *HEAVY, *(f"supple.{room}" for room in rooms), *others)
    assert loaded_by(run, unwanted) == []


def test_exact_modes_need_nothing_heavy() -> None:
    code = "import supple; supple.modes(supple.load('industrial-3'), [0, 1, 1]).kind"
    assert loaded_by(code, HEAVY) == []


def test_the_first_modes_load_nothing_more() -> None:
    """An import inside the first call would take longer than its answer."""
    code = (
        "import sys, supple; robot = supple.load('industrial-3'); supple.modes; "
        "before = set(sys.modules); supple.modes(robot, [0, 1, 1]); "
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['supple', '--help']; import supple.cli as c"
    run = "\ntry:\n    c.main()\nexcept SystemExit:\n    pass\nTrue"
    assert loaded_by(code + run, LIBRARIES) == []


@pytest.mark.parametrize(("given", "wanted"), [(None, 1), ("2", 2)])
def test_commands_use_one_thread_of_linear_algebra_unless_told(
    given: str | None, wanted: int
) -> None:
    """Counted in the process itself: OpenBLAS starts its threads when NumPy is imported."""
    if os.cpu_count() == 1 or not Path("/proc/self/task").exists():
        pytest.skip("cannot count threads here")
    code = (
        "import os, sys; sys.argv = ['supple', 'modes', 'industrial-3']; import supple.cli as c\n"
        "try:\n    c.main()\nexcept SystemExit:\n    pass\n"
        "print(len(os.listdir('/proc/self/task')))"
    )
    rest = {key: value for key, value in os.environ.items() if key not in THREADS}
    told = {} if given is None else dict.fromkeys(THREADS, given)
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=rest | told
    )
    assert int(ran.stdout.splitlines()[-1]) == wanted


@pytest.mark.parametrize("words", [("-c", "import supple"), ("-m", "supple", "--help")])
def test_start_takes_less_than_a_third_of_a_second(words: tuple[str, ...]) -> None:
    """Or 15 starts of a bare interpreter, which take longer where cores are shared."""
    each = [(_seconds(words), _seconds(("-c", "pass"))) for _ in range(5)]
    best, bare = (min(side) for side in zip(*each, strict=True))
    assert best < max(0.3, 15 * bare)


def _seconds(words: tuple[str, ...]) -> float:
    """Processor time of one process: what its wall time is when the machine is not busy."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], capture_output=True, check=True)
    stop = resource.getrusage(resource.RUSAGE_CHILDREN)
    return stop.ru_utime + stop.ru_stime - start.ru_utime - start.ru_stime


def test_public_names_are_there_and_listed() -> None:
    assert dir(supple) == sorted(supple.__all__)
    for name in supple.__all__:
        assert getattr(supple, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'mods'"):
        supple.mods  # noqa: B018


def test_a_star_import_brings_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from supple import *", names)
    assert set(supple.__all__) <= set(names)
