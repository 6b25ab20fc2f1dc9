"""`supple response`."""

import json


def test_response_prints_poles_and_zeros(console, tmp_path):
    words = ("response", "industrial-3", "--joints", "locked", "--frequency", "0:60:31")
    ran = console(*words, "--plot", tmp_path / "bode.png")
    assert ran.code == 0
    assert "natural frequencies in the x-y plane in the band" in ran.out
    assert (tmp_path / "bode.png").exists()
    answer = json.loads(console(*words, "--json").out)
    assert len(answer["values"]) == 31
    assert answer["zeros"].keys() == {"tip.y / force.y"}


def test_bad_words_are_told(console):
    for words, sentence in (
        (("--frequency", "1-2"), "write FROM:TO:COUNT"),
        (("--frequency", "1:100:999999999999"), "COUNT runs from 1 to"),
        (("--input", "wind"), "input is 'wind'"),
        (("--output", "strain.link1@x"), "write strain.LINK@FRACTION"),
    ):
        ran = console("response", "industrial-3", *words)
        assert ran.code == 2
        assert sentence in ran.err
