"""`supple validate`: a table without empty rows, and its largest difference in a sentence."""

import json

import pytest


def test_the_table_ends_with_its_largest_difference(console):
    pytest.importorskip("pinocchio")
    ran = console("validate", "industrial-3", "--engines", "pinocchio")
    assert ran.code == 0
    assert "Largest difference:" in ran.out
    assert "tip x" in ran.out
    assert "tip z" not in ran.out  # planar: zero on both sides
    answer = json.loads(console("validate", "industrial-3", "--engines", "pinocchio", "--json").out)
    assert "tip z" in {row["question"] for row in answer["rows"]}


def test_a_robot_with_loops_is_refused_in_a_sentence(console):
    pytest.importorskip("pinocchio")
    ran = console("validate", "four-bar", "--engines", "pinocchio")
    assert ran.code == 0
    assert "has loops" in ran.out + ran.err
