"""Damaged robot files and stored runs: whatever the bytes, a sentence, and in bounded time."""

import io
import random
import time
from pathlib import Path

import pytest

import supple
from soak.figures import Figures, minutes
from supple import library
from supple.errors import SuppleError
from supple.files.joint_trajectories import read_joint_trajectory
from unit.test_disk import damaged
from unit.test_hostile_readers import SEEDS

pytestmark = pytest.mark.soak

CORPUS = Path(__file__).parent / "corpus"
WORDS = [
    *("name", "links", "length", "joint", "type", "mount", "xyz", "rpy", "axis", "theory", "tip"),
    *("mass", "inertia", "payload", "gravity", "45deg", "1e308", "-1", "0", ".nan", ".inf", "null"),
    *("true", "[]", "{}", "*a", "&a", "<<", "---", "...", "?", "|", ">", "!", "!!python/object"),
    *("9999999999", "1 mm", "7 GPa"),
]


def mangled(text: str, chance: random.Random) -> str:
    """A robot file with words and lines put in, left out, doubled or exchanged."""
    lines = text.splitlines()
    for _ in range(chance.randrange(1, 6)):
        k = chance.randrange(len(lines))
        kind = chance.randrange(5)
        if kind == 0:
            del lines[k]
        elif kind == 1:
            lines.insert(k, lines[chance.randrange(len(lines))])
        elif kind == 2:
            lines[k] = (
                " " * chance.randrange(8) + chance.choice(WORDS) + ": " + chance.choice(WORDS)
            )
        elif kind == 3:
            words = lines[k].split(" ")
            words[chance.randrange(len(words))] = chance.choice(WORDS)
            lines[k] = " ".join(words)
        else:
            at = chance.randrange(len(lines[k]) + 1)
            lines[k] = lines[k][:at] + chr(
                chance.choice((9, 34, 39, 58, 91, 123, 0x7F, 0x202E, 0x1F4A9))
            )
        if not lines:
            lines = [""]
    return "\n".join(lines)


def test_mangled_robot_files(figures: Figures) -> None:
    """Half by bytes, half by words; what raised anything but a sentence is kept in the corpus."""
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(2)
    texts = [library.path(name).read_text(encoding="utf-8") for name in library.names()]
    texts += [path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.yaml"))]
    while time.monotonic() < end:
        text = chance.choice(texts)
        if chance.random() < 0.5:
            text = damaged(text.encode(), chance).decode("utf-8", "replace")
        else:
            text = mangled(text, chance)
        start = time.process_time()
        try:
            robot = supple.loads(text)
            assert supple.loads(supple.dump(robot)) == robot
        except SuppleError as problem:
            figures.tried(sentence=str(problem))
        except Exception as problem:  # noqa: BLE001 - what is looked for
            figures.found(text, problem)
        else:
            figures.tried()
        if time.process_time() - start > 10:
            figures.found(text, TimeoutError("more than 10 s"))
    figures.close()


def test_damaged_responses(figures: Figures, tmp_path: Path) -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    supple.simulate(model, duration=0.02).save(tmp_path / "run.nc")
    raw = (tmp_path / "run.nc").read_bytes()
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(1)
    bad = tmp_path / "bad.nc"
    while time.monotonic() < end:
        sealed = chance.random() < 0.97  # without a seal a process of its own reads: a second each
        broken = damaged(raw[:-46], chance) + raw[-46:] if sealed else damaged(raw, chance)
        bad.write_bytes(broken)
        start = time.monotonic()
        try:
            supple.load_response(bad)
        except SuppleError as problem:
            figures.tried(sentence=str(problem))
        except Exception as problem:  # noqa: BLE001 - what is looked for
            figures.found(broken.hex(), problem)
        else:
            figures.tried()
        if time.monotonic() - start > 70:
            figures.found(broken.hex(), TimeoutError("more than 70 s"))
    figures.close()


URDF = """<robot name="arm"><link name="base"/><link name="forearm"><inertial><mass value="1"/>
<origin xyz="0.1 0 0" rpy="0 0 0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="elbow" type="revolute"><parent link="base"/><child link="forearm"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="2"/></joint></robot>"""


SIDECAR = """supple: 1
urdf: whole.urdf
base: base
tip: forearm
materials: {metal: {young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}
flexible:
  forearm: {from: [0, 0, 0], to: [0.3, 0, 0], y: [0, 1, 0], material: metal,
    section: {shape: tube, diameter: 0.05, wall: 0.003}, hub: {mass: 0.4},
    end: {mass: 0.9, inertia: [0.001, 0.0012, 0.001]}}
payload: {mass: 3.0, com: [0, 0, 0.05]}
"""


def log() -> bytes:
    """An MCAP log with one joint trajectory."""
    writer = pytest.importorskip("mcap.writer")
    file = io.BytesIO()
    made = writer.Writer(file, compression=writer.CompressionType.LZ4)
    made.start()
    schema = made.register_schema("JointTrajectory", "jsonschema", b"{}")
    channel = made.register_channel("/move", "json", schema)
    made.add_message(channel, 0, SEEDS["a.json"][0].encode(), 0)
    made.finish()
    return file.getvalue()


def test_damaged_logs(figures: Figures, tmp_path: Path) -> None:
    raw = log()
    place = tmp_path / "a.mcap"
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(0.5)
    while time.monotonic() < end:
        broken = damaged(raw, chance)
        place.write_bytes(broken)
        try:
            read_joint_trajectory(place)
        except SuppleError as problem:
            figures.tried(sentence=str(problem))
        except Exception as problem:  # noqa: BLE001 - what is looked for
            figures.found(broken.hex(), problem)
        else:
            figures.tried()
    figures.close()


@pytest.mark.filterwarnings("ignore::supple.RobotWarning")
def test_damaged_drawings_trajectories_and_urdfs(figures: Figures, tmp_path: Path) -> None:
    """Bytes and words of the small files that come from other tools."""
    (tmp_path / "whole.urdf").write_text(URDF)
    seeds = {**SEEDS, "a.urdf": (URDF, supple.load), "a.sidecar.yaml": (SIDECAR, supple.load)}
    for name, (text, read) in seeds.items():
        (tmp_path / name).write_text(text)
        if name != "b.dxf":  # turned axes
            read(tmp_path / name)  # as it is it is read
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(1)
    while time.monotonic() < end:
        name = chance.choice(sorted(seeds))
        text, read = seeds[name]
        raw = damaged(text.encode(), chance)
        if chance.random() < 0.5:
            lines = text.replace(",", ",\n").splitlines()
            for _ in range(chance.randrange(1, 4)):
                k = chance.randrange(len(lines))
                lines[k] = chance.choice([*WORDS, "\u00b2", "-5", "360", "0\nARC", lines[k] * 3])
            raw = "\n".join(lines).encode()
        (tmp_path / name).write_bytes(raw)
        start = time.process_time()
        try:
            read(tmp_path / name)
        except SuppleError as problem:
            figures.tried(sentence=str(problem))
        except Exception as problem:  # noqa: BLE001 - what is looked for
            figures.found(f"{name}\n{raw!r}", problem)
        else:
            figures.tried()
        if time.process_time() - start > 10:
            figures.found(f"{name}\n{raw!r}", TimeoutError("more than 10 s"))
    figures.close()
