"""Reduced solids and linear models: frequencies against closed forms and certified ones."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.linalg import expm
from scipy.optimize import brentq

import supple
from hostile import hostile_robot
from supple.beams.theory import Beam
from supple.exporters.exporter import elastic_frequencies
from supple.exporters.simscape_bodies import reduced_body
from supple.exporters.skeleton import skeleton_of

TREES = ["industrial-3", "di-castri-two-link", "de-luca-two-link", "two-arms"]
LOOPS = ["four-bar", "five-bar", "kuo-delta"]
FREE_FREE = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])


def test_a_free_body_against_the_closed_form() -> None:
    """Free-free Euler-Bernoulli beam: omega = (beta L)^2 sqrt(EI / m) / L^2, in both planes."""
    beam = Beam(1.2, 3.0, EA=1e9, EI=(200.0, 500.0), GJ=1e7, rIp=1e-2)
    body = reduced_body(beam, [0.0, 1.2], 40)
    assert np.linalg.matrix_rank(body.stiffness[:12, :12], tol=1e-3) == 6
    found = elastic_frequencies(body.mass, body.stiffness, 5)
    soft, stiff = (FREE_FREE**2 * np.sqrt(EI / 3.0) / 1.2**2 / (2 * np.pi) for EI in (200, 500))
    wanted = np.sort(np.concatenate([soft, stiff]))[:5]
    assert found == pytest.approx(wanted, rel=1e-4)


def free_bending_frequencies(beam: Beam, plane: int, count: int) -> np.ndarray:
    """Free-free frequencies of a uniform Timoshenko beam, Hz, from its transfer matrix.

    Shear and moment vanish at both ends: the block that takes deflection and rotation at one
    end to shear and moment at the other is singular.
    """
    m, _, *bending = beam.at([0.0])[0]
    EI = bending[plane]
    kGA = bending[2 + plane]
    rI = bending[5 + plane]

    def determinant(omega: float) -> float:
        A = np.zeros((4, 4))  # of deflection, rotation, shear, moment
        A[0, 1] = 1
        A[0, 2] = 1 / kGA
        A[1, 3] = 1 / EI
        A[2, 0] = -m * omega**2
        A[3, 1] = -rI * omega**2
        A[3, 2] = -1
        return float(np.linalg.det(expm(A * beam.L)[2:, :2]))

    first = FREE_FREE[0] ** 2 * np.sqrt(EI / m) / beam.L**2
    trials = np.geomspace(0.2 * first, 8 * count**2 * first, 2000)
    values = np.array([determinant(omega) for omega in trials])
    found = []
    for k in np.flatnonzero(values[:-1] * values[1:] < 0)[:count]:
        found.append(brentq(determinant, trials[k], trials[k + 1]) / (2 * np.pi))
    return np.array(found)


@pytest.mark.parametrize("name", [*TREES, *LOOPS])
def test_every_body_has_the_free_frequencies_of_its_beam(name: str, tmp_path: Path) -> None:
    """M and K as read from each file; twelve modes are nearer than four."""
    elastic = [link for link in skeleton_of(supple.load(name)).links if link.flexible]
    errors = {}
    for modes in (4, 12):
        out = supple.export(name, "simscape", tmp_path, modes=modes)
        files = [path for path in out.files if path.suffix == ".mat"]
        worst = []
        for link, path in zip(elastic, files, strict=True):
            data = loadmat(path)
            _, _EA, EI_xy, EI_xz, _, _, GJ, _, _, rIp = link.beam.at([0.0])[0]
            wanted = []
            for plane, EI in enumerate((EI_xy, EI_xz)):
                if np.isfinite(EI):
                    wanted.extend(free_bending_frequencies(link.beam, plane, 2))
            if np.isfinite(GJ) and rIp > 0:
                wanted.append(np.sqrt(GJ / rIp) / (2 * link.length))
            exact = np.sort(wanted)[:2]
            found = elastic_frequencies(data["M"], data["K"], 2)
            assert (found > exact * (1 - 1e-9)).all()  # a reduced body is too stiff
            worst.append(np.abs(found / exact - 1).max())
        errors[modes] = max(worst)
    assert errors[4] < 0.035
    assert errors[12] < 0.005
    assert errors[12] < 0.3 * errors[4]


@pytest.mark.parametrize("name", [*TREES, *LOOPS])
def test_bodies_joined_have_the_certified_frequencies(name: str, tmp_path: Path) -> None:
    out = supple.export(name, "simscape", tmp_path)
    assert out.error < 1e-4
    data = loadmat(out.files[0])
    frames = len(data["origins"])
    assert data["quaternions"].shape == (frames, 4)
    assert data["M"].shape == data["K"].shape == data["C"].shape
    rigid = data["K"] @ np.concatenate([np.tile([0, 1, 0, 0, 0, 0], frames), np.zeros(4)])
    assert np.abs(rigid).max() < 1e-6 * np.abs(data["K"]).max()


def test_springs_in_joints_act_between_the_bodies(tmp_path: Path) -> None:
    robot = supple.load("industrial-3").with_({"links.link2.joint.stiffness": 2e5})
    out = supple.export(robot, "simscape", tmp_path)
    assert out.error < 1e-4
    assert any("Springs in the joints of link2" in note for note in out.notes)


def test_mat_files_state_their_error_and_repeat_to_the_byte(tmp_path: Path) -> None:
    contents = []
    for folder in ("one", "two"):
        out = supple.export("four-bar", "simscape", tmp_path / folder)
        contents.append([path.read_bytes() for path in out.files])
        for path in out.files:
            about = " ".join(loadmat(path)["about"])
            assert f"largest relative difference: {out.error:.3g}" in about
    assert contents[0] == contents[1]
    assert b"supple" in contents[0][0][:116]


def test_fewer_modes_are_farther_off(tmp_path: Path) -> None:
    errors = [supple.export("industrial-3", "simscape", tmp_path, modes=n).error for n in (0, 4)]
    assert errors[1] < errors[0] / 10


def test_a_link_that_slides_and_bends_is_refused(tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match="export it to fmu"):
        supple.export("theodore-rrp", "simscape", tmp_path)


@pytest.mark.parametrize("to", ["simscape", "matlab"])
def test_hostile_names(to: str, tmp_path: Path) -> None:
    out = supple.export(hostile_robot(), to, tmp_path)
    assert all(path.name.isascii() and path.parent == tmp_path for path in out.files)


def test_linear_models_over_poses(tmp_path: Path) -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    poses = [[0.0, 0.0], [0.0, 0.5], [0.0, 1.0]]
    out = supple.export(model, "matlab", tmp_path, poses=poses)
    data = loadmat(out.files[0])
    assert data["A"].shape == (12, 12, 3)
    for k, theta in enumerate(poses):
        wanted = supple.linearize(model, theta, outputs=["joints", "tip"])
        assert data["A"][:, :, k] == pytest.approx(wanted.A, abs=1e-9)
        assert data["C"][:, :, k] == pytest.approx(wanted.C, abs=1e-9)
    assert out.error < 1e-4
