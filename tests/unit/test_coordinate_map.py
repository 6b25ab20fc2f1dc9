"""Every slot of every vector has one name, one unit and one meaning."""

import warnings

import numpy as np
import pytest

import supple
from supple.architectures.kinds import lower
from supple.integration.states import begin, state_map
from supple.library import names


@pytest.mark.parametrize("name", names())
def test_theta_and_whole_configurations_are_named(name: str) -> None:
    tree = lower(supple.load(name))
    assert len(tree.theta_map) == len(tree.drives)
    assert len(tree.configuration_map) == len(tree.start)
    assert len(set(tree.configuration_map.names)) == len(tree.start)
    motors = [tree.configuration_map.names[k] for k in tree.driven]
    assert motors == list(tree.theta_map.names)
    assert set(tree.configuration_map.units) <= {"rad", "m"}


def test_no_column_of_a_run_has_two_meanings() -> None:
    """Beside the work stand dependent coordinates, or roots of links that slide, never both."""
    loops = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    read = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2), reading="theodore")
    for model in (loops, read):
        columns = state_map(model)
        q = model.chain.pose()
        for i, place in model.chain.lengths_at.items():
            q[place] = 0.8 * model.chain.stroke(i)[1]
        assert len(columns) == len(begin(model, q, np.zeros(model.size)))
        assert columns.names[: model.size] == model.coordinates
        assert [slot.rate for slot in columns][model.size : 2 * model.size] == [True] * model.size
        assert columns[2 * model.size].unit == "J"
        beside = columns.slots[2 * model.size + 1 :]
        assert len({slot.meaning for slot in beside}) == 1
        assert len({slot.name for slot in beside}) == len(beside)
    assert loops.dependent_map.names == ("passive.left2", "passive.right2")
    assert not any(slot.independent for slot in loops.dependent_map)
    assert [slot.meaning for slot in state_map(read)][-2:] == ["root", "root"]


def test_a_run_reads_its_columns_by_their_meaning() -> None:
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), reading="theodore")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = supple.simulate(model, theta0=[0.0, 0.2, 0.6], duration=0.002)
    assert run.beta is not None
    assert run.near is None


def test_units_and_owners_of_a_model() -> None:
    robot = supple.load("kuo-delta").with_({"motor.stiffness": 300.0, "motor.rotor_inertia": 0.02})
    model = supple.build(robot, supple.AssumedModes(1))
    slots = model.coordinate_map
    assert slots.units[:6] == ("rad",) * 6
    assert [slots[k].owner for k in slots.where("spring")] == ["upper1", "upper2", "upper3"]
    assert len(slots.where("elastic")) == model.size - 6
    assert len(model.dependent_map) == 12
    with pytest.raises(supple.SuppleError, match=r"there is no coordinate 'theta\.upper4'"):
        slots.place("theta.upper4")
