"""`supple forward` and `supple inverse`."""

import json

import pytest


def test_there_and_back(console):
    ran = console("forward", "industrial-3", "--at", "0.1,45deg,45deg", "--json")
    answer = json.loads(ran.out)
    place = ",".join(map(str, answer["position"]))
    back = json.loads(
        console(
            "inverse",
            "industrial-3",
            "--position",
            place,
            "--rotation",
            "95.729577951308deg",
            "--json",
        ).out
    )
    assert back["reached"]
    assert (
        back["theta"] == pytest.approx(answer["configuration"], abs=1e-9)
        or len(back["solutions"]) == 2
    )


def test_tables_to_read(console):
    assert "tip, m" in console("forward", "industrial-3").out
    assert (
        "8 solutions by closed form" in console("inverse", "kuo-delta", "--position", "0,0,0.6").out
    )


def test_out_of_reach_ends_with_code_2_and_the_nearest(console):
    ran = console("inverse", "industrial-3", "--position", "9,0,0")
    assert ran.code == 2
    assert "out of reach: the nearest pose found is 4.5 m away" in ran.out


def test_rotation_of_two_values_is_told(console):
    ran = console("inverse", "industrial-3", "--position", "1,1,0", "--rotation", "1,2")
    assert ran.code == 2
    assert ran.err == "--rotation 1,2: give roll, pitch and yaw, or one angle\n"
