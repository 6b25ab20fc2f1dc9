"""What links look like: rods between joints, and a URDF's shapes and meshes."""

import numpy as np
import pytest

import supple
from supple.kernels.meshes import box_mesh, cylinder_mesh, simplify_mesh, sphere_mesh
from supple.view.figures.robots import plot_robot
from supple.view.live.stage import ROLES
from supple.view.page.reports import report
from supple.view.scene.posing import bend, rods
from supple.view.scene.scene import modes_scene, robot_scene
from unit.test_urdf import BODY, joint, link, quiet, urdf


def volume(vertices, faces):
    """By the divergence theorem: positive where faces look outwards."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_solids_are_closed_and_look_outwards():
    assert volume(*box_mesh((1.0, 2.0, 3.0))) == pytest.approx(6.0)
    # Inscribed prisms and polyhedra: less than the round ones, the more sides the nearer
    sides = 24
    prism = sides / 2 * np.sin(2 * np.pi / sides) * 0.5**2 * 2.0
    assert volume(*cylinder_mesh(0.5, 2.0, sides)) == pytest.approx(prism)
    coarse, fine = (volume(*sphere_mesh(1.0, n, 2 * n)) for n in (10, 40))
    exact = 4 * np.pi / 3
    assert 0 < exact - fine < (exact - coarse) / 12  # second order


def test_fewer_triangles_keep_the_shape():
    vertices, faces = sphere_mesh(1.0, 100, 200)
    fewer = simplify_mesh(vertices, faces, 800)
    assert 300 < len(fewer[1]) <= 800
    assert volume(*fewer) == pytest.approx(volume(vertices, faces), rel=0.06)
    assert simplify_mesh(vertices, faces, 10**6)[1] is faces


SHAPES = (
    '<visual><origin xyz="0 0 0.15"/><geometry><box size="0.1 0.1 0.3"/></geometry>'
    '<material name="red"><color rgba="1 0 0 1"/></material></visual>'
)


def two_joints(tmp_path, visual=""):
    links = link("base", visual) + link("one", BODY + visual) + link("two") + link("tool0", "")
    joints = joint("j1", "base", "one") + joint("j2", "one", "two")
    file = tmp_path / "arm.urdf"
    file.write_text(urdf(links, joints, joint("j3", "two", "tool0", "fixed")))
    return file


def test_rigid_links_are_rods_between_their_joints(tmp_path):
    """They were balls that float: no link of a URDF has a length."""
    robot = quiet(two_joints(tmp_path))
    theta = [0.3, -0.8]
    scene = robot_scene(robot, theta)
    long = [solid for solid in scene.solids if solid.kind == "rod"]
    track = scene.tracks[0]
    middle, _, length = rods(long, bend(track, 0, track.motion[0, 0], 0.0))
    # Three stretches of 0.3 m: ground to j1, j1 to j2, j2 to the tool
    assert length == pytest.approx([0.3] * 3)
    knee = np.array([0, 0, 0.3]) + 0.3 * np.array([np.sin(0.3), 0, np.cos(0.3)])
    tip = supple.forward(robot, theta).position
    assert middle[1] == pytest.approx((np.array([0, 0, 0.3]) + knee) / 2)
    assert middle[2] == pytest.approx((knee + tip) / 2)
    assert {solid.role for solid in scene.solids} <= set(ROLES)


def test_shapes_of_a_urdf_move_with_their_links(tmp_path):
    robot = quiet(two_joints(tmp_path, SHAPES))
    assert supple.loads(supple.dump(robot)) == robot
    scene = robot_scene(robot, [np.pi / 2, 0.0])
    ground, one = scene.meshes
    assert (ground.link, one.link) == (-1, 0)
    assert one.colour == (255, 0, 0)
    assert ground.vertices.max(axis=0) == pytest.approx([0.05, 0.05, 0.3])
    # Its rod, pin and ball are left out, those of the link that has no shape stay
    assert {solid.link for solid in scene.solids} == {1}
    # Turned by 90 degrees about y at (0, 0, 0.3) it reaches from x = 0 to 0.3
    assert scene.around[1] == pytest.approx((0.3, 0.05, 0.35))


@pytest.mark.parametrize("suffix", ["stl", "obj", "dae"])
def test_meshes_of_a_urdf_are_read(tmp_path, suffix):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    trimesh.Trimesh(*box_mesh((100.0, 60.0, 300.0))).export(tmp_path / f"meshes/part.{suffix}")
    visual = f'<mesh filename="package://some_robot/meshes/part.{suffix}" scale="1e-3 1e-3 1e-3"/>'
    visual = f"<visual><geometry>{visual}</geometry></visual>"
    scene = robot_scene(quiet(two_joints(tmp_path, visual)), [0.0, 0.0])
    assert len(scene.meshes) == 2
    assert np.ptp(scene.meshes[1].vertices, axis=0) == pytest.approx([0.1, 0.06, 0.3])


def test_a_mesh_that_is_not_there_is_a_note(tmp_path):
    visual = '<visual><geometry><mesh filename="package://a/b.stl"/></geometry></visual>'
    with pytest.warns(supple.RobotWarning) as notes:
        supple.load(two_joints(tmp_path, visual))
    assert any("not drawn: package://a/b.stl" in str(note.message) for note in notes)


@pytest.mark.parametrize(
    "inside",
    [
        '<mesh filename="meshes/part.stl" scale="1 1 1 0"/>',
        '<mesh filename="meshes/part.stl" scale="1 1"/>',
        '<box size="0 0 0"/>',
        '<box size="1 2"/>',
        '<cylinder radius="-1" length="1"/>',
        '<sphere radius="nan"/>',
    ],
)
def test_shapes_that_make_no_sense_do_not_stop_a_robot(tmp_path, inside):
    """Four factors of a scale, as one public file has them, ended in a traceback."""
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes/part.stl").write_text("solid part\nendsolid part\n")
    robot = quiet(two_joints(tmp_path, f"<visual><geometry>{inside}</geometry></visual>"))
    assert robot_scene(robot, [0.0, 0.0]).meshes == ()


def test_a_link_that_bends_is_drawn_as_its_beam(tmp_path):
    tube = {"material": "al", "section": {"shape": "tube", "diameter": 0.05, "wall": 0.002}}
    sidecar = {"materials": {"al": supple.material("aluminium")}, "flexible": {"one": tube}}
    robot = quiet(two_joints(tmp_path, SHAPES), sidecar)
    scene = modes_scene(supple.modes(robot, [0.0, 0.0], count=2))
    assert [part.link for part in scene.meshes] == [-1]
    assert scene.links[0].real


def test_pages_and_plots_show_them(tmp_path):
    robot = quiet(two_joints(tmp_path, SHAPES))
    text = report(robot).text()
    assert '"meshes":[{"link":-1' in text
    figure = plot_robot(robot, [0.2, 0.4], tmp_path / "arm.png")
    (skin,) = figure.axes[0].collections
    assert len(skin.get_facecolor()) == 24
