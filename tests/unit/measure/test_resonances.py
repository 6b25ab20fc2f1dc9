"""Resonances: frequencies, damping and their deviations, of recordings made by closed forms."""

import numpy as np
import pytest
from scipy.signal import lfilter

import supple
from supple.files.recordings import read_recording


def ringdown(modes, rate=500.0, seconds=8.0, noise=0.02, seed=0, channels=1):
    """Free decays in closed form, with white noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 1 / rate)
    y = np.zeros((len(t), channels))
    for f, z, amplitude in modes:
        w = 2 * np.pi * f
        for c in range(channels):
            phase = w * np.sqrt(1 - z * z) * t + rng.uniform(0, 2 * np.pi)
            y[:, c] += amplitude * np.exp(-z * w * t) * np.cos(phase)
    return t, y + noise * rng.standard_normal(y.shape)


MODES = [(3.1, 0.01, 1.0), (19.4, 0.012, 0.5), (54.2, 0.015, 0.3)]


def test_ringdown_csv(tmp_path):
    t, y = ringdown(MODES)
    path = tmp_path / "ringdown.csv"
    np.savetxt(path, np.c_[t, y], delimiter=",", header="t,accel", comments="")
    found = supple.resonances(str(path))
    assert found.excitation == "ringdown"
    assert len(found.frequency_hz) == 3
    for k, (f, z, _) in enumerate(MODES):
        assert abs(found.frequency_hz[k] - f) < 4 * found.std_hz[k] < 0.01 * f
        assert abs(found.damping_ratio[k] - z) < 4 * found.std_damping[k] < 0.5 * z


def test_deviations_are_right():
    """Errors over deviations have unit variance, two close modes among them."""
    truth = [(7.2, 0.01, 1.0), (7.9, 0.012, 1.0), (31.0, 0.02, 1.0)]
    z = []
    for seed in range(25):
        _, y = ringdown(truth, 200.0, 10.0, 0.05, seed, channels=2)
        found = supple.resonances(y, rate=200.0, band=(1, 95))
        assert len(found.frequency_hz) == 3
        z.append((found.frequency_hz - [f for f, _, _ in truth]) / found.std_hz)
        z.append((found.damping_ratio - [d for _, d, _ in truth]) / found.std_damping)
    # 150 values: the standard error of their size is 6 %
    assert 0.8 < np.std(z) < 1.2


def test_mains_are_named():
    t, y = ringdown(MODES)
    found = supple.resonances({"t": t, "a": y[:, 0] + 0.1 * np.sin(2 * np.pi * 50 * t)})
    assert len(found.harmonics) == 1
    assert "mains" in found.harmonics[0]
    assert np.abs(found.frequency_hz - 50).min() > 3


def test_ambient():
    rate = 200.0
    N = 40_000
    rng = np.random.default_rng(1)
    y = np.zeros(N)
    for f, z in ((7.2, 0.01), (31.0, 0.02)):
        p = np.exp(2 * np.pi * f / rate * complex(-z, np.sqrt(1 - z * z)))
        part = lfilter([1], [1, -2 * p.real, abs(p) ** 2], rng.standard_normal(N))
        y += part / part.std()
    found = supple.resonances(y + 0.05 * rng.standard_normal(N), rate=rate)
    assert found.excitation == "ambient"
    assert len(found.frequency_hz) == 2
    for k, (f, z) in enumerate(((7.2, 0.01), (31.0, 0.02))):
        assert abs(found.frequency_hz[k] - f) < 4 * found.std_hz[k] < 0.02 * f
        assert abs(found.damping_ratio[k] - z) < 4 * found.std_damping[k]


def test_several_hits_and_files_are_combined():
    pieces = [ringdown(MODES, seconds=4.0, seed=seed) for seed in range(3)]
    alone = supple.resonances({"t": pieces[0][0], "a": pieces[0][1][:, 0]})
    each = [{"t": t, "a": y[:, 0]} for t, y in pieces]
    found = supple.resonances(each)
    assert len(found.frequency_hz) == 3
    assert found.std_hz[0] < alone.std_hz[0]
    assert abs(found.frequency_hz[0] - 3.1) < 5 * found.std_hz[0]


def test_printer_file(tmp_path):
    t, y = ringdown([(47.0, 0.05, 1e4)], 3200.0, 1.0, 50.0)
    path = tmp_path / "raw_data_x.csv"
    rows = np.c_[t, y, 9810 + y[:, 0] * 0, np.zeros(len(t))]
    np.savetxt(path, rows, delimiter=",", header="#time,accel_x,accel_y,accel_z", comments="")
    found = supple.resonances(str(path))
    assert found.channels == ("accel_x",)
    assert abs(found.frequency_hz[0] - 47.0) < 0.1
    assert sum("dead" in note for note in found.notes) == 2


@pytest.mark.parametrize("kind", ["mat", "semicolon", "lvm", "uff", "tdms"])
def test_formats(tmp_path, kind):
    t, y = ringdown(MODES[:1], 200.0, 4.0)
    path = tmp_path / f"recording.{kind}"
    if kind == "mat":
        from scipy.io import savemat

        savemat(path, {"time": t[:, None], "accel": y})
    elif kind == "semicolon":
        lines = ["Zeit;Beschleunigung"]
        lines += [f"{a:.6f};{b:.9f}".replace(".", ",") for a, b in zip(t, y[:, 0], strict=True)]
        path.write_text("\n".join(lines))
        path = path.rename(tmp_path / "recording.csv")
    elif kind == "lvm":
        head = "LabVIEW Measurement\t\n***End_of_Header***\t\n\t\nX_Value\tAcceleration\tComment\n"
        path.write_text(head + "\n".join(f"{a}\t{b}" for a, b in zip(t, y[:, 0], strict=True)))
    elif kind == "uff":
        pyuff = pytest.importorskip("pyuff")
        one = {
            "type": 58, "binary": 0, "func_type": 1, "rsp_node": 1, "rsp_dir": 1, "ref_node": 0,
            "ref_dir": 0, "x": t, "data": y[:, 0], "id1": "", "id2": "", "id3": "", "id4": "",
            "id5": "", "rsp_ent_name": "", "ref_ent_name": "", "ver_num": 0, "load_case_id": 0,
            "abscissa_spec_data_type": 17, "ordinate_spec_data_type": 12,
            "orddenom_spec_data_type": 0, "z_axis_value": 0, "abscissa_spacing": 1,
            "abscissa_min": 0.0, "abscissa_inc": float(t[1]), "num_pts": len(t), "ord_data_type": 4,
        }  # fmt: skip
        pyuff.UFF(str(path)).write_sets([one], mode="overwrite")
    else:
        nptdms = pytest.importorskip("nptdms")
        with nptdms.TdmsWriter(str(path)) as writer:
            rate = {"wf_increment": float(t[1])}
            writer.write_segment([nptdms.ChannelObject("g", "accel", y[:, 0], properties=rate)])
    found = supple.resonances(str(path))
    assert len(found.frequency_hz) == 1
    assert abs(found.frequency_hz[0] - 3.1) < 0.01


def test_mcap(tmp_path):
    pytest.importorskip("mcap")
    import json

    from mcap.writer import Writer

    t, y = ringdown(MODES[:1], 100.0, 4.0)
    path = tmp_path / "imu.mcap"
    with open(path, "wb") as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema(name="Imu", encoding="jsonschema", data=b"{}")
        channel = writer.register_channel(schema_id=schema, topic="/imu", message_encoding="json")
        for a, b in zip(t, y[:, 0], strict=True):
            stamp = int(1e9 * a)
            data = json.dumps({"linear_acceleration": {"x": b}}).encode()
            writer.add_message(channel_id=channel, log_time=stamp, data=data, publish_time=stamp)
        writer.finish()
    found = supple.resonances(str(path))
    assert abs(found.frequency_hz[0] - 3.1) < 0.01


def _written(tmp_path, text):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    return str(path)


GOOD = "\n".join(f"{k / 100},{np.sin(k)}" for k in range(100))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t,a\n" + GOOD + "\n0.5,1\n", "must rise"),
        ("t,a\n" + GOOD + "\n1.5,nan\n1.6,1\n", "not a finite number"),
        ("a,b\n" + GOOD.replace("0.0,", "7,", 1), "no time column"),
        ("t,a\n" + "\n".join(f"{k / 100},1" for k in range(100)), "every channel is dead"),
        ("t,a\n0,1\n1,2\n", "16 or more"),
        ("t,a\n" + GOOD + "\n1.5,hello\n", "hello"),
        ("nothing here\n", "no rows of numbers"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path, text, said):
    with pytest.raises(supple.SuppleError, match=said):
        supple.resonances(_written(tmp_path, text))


def test_clipping_and_low_rates_are_noticed():
    t, y = ringdown(MODES[:2])
    clipped = np.clip(y[:, 0], -0.4, 0.4)
    found = supple.resonances({"t": t, "a": clipped})
    assert any("clipped" in note for note in found.notes)
    found = supple.resonances({"t": t[::10], "a": y[::10, 0]}, band=(1, 60))
    assert any("cannot be seen" in note for note in found.notes)
    with pytest.raises(supple.SuppleError, match="sample faster"):
        supple.resonances({"t": t[::10], "a": y[::10, 0]}, band=(60, 90))


def test_uneven_time_and_units(tmp_path):
    t, y = ringdown(MODES[:1])
    rng = np.random.default_rng(0)
    jitter = t + 2e-4 * rng.uniform(-1, 1, len(t))
    path = tmp_path / "ms.csv"
    rows = np.c_[1e3 * jitter, np.interp(jitter, t, y[:, 0])]
    np.savetxt(path, rows, delimiter=",", header="time [ms],a", comments="")
    recording = read_recording(str(path))
    assert abs(recording.rate - 500) < 0.1
    found = supple.resonances(str(path))
    assert any("uneven" in note for note in found.notes)
    assert abs(found.frequency_hz[0] - 3.1) < 0.01


def test_overtones_of_a_large_decay_are_no_motor():
    """A curved spring puts lines at twice and three times a mode; a hum beside it is still one."""
    rng = np.random.default_rng(0)
    t = np.arange(0, 4, 1e-3)
    x = 20 * np.exp(-0.012 * 2 * np.pi * 3.98 * t) * np.cos(2 * np.pi * 3.98 * t)
    hum = 0.5 * np.cos(2 * np.pi * 50 * t)
    bent = x + 0.01 * x**2 + 3e-5 * x**3 + hum + 0.02 * rng.standard_normal(len(t))
    found = supple.resonances({"t": t, "accel": bent})
    assert np.abs(found.frequency_hz / 3.9803 - 1).min() < 1e-3
    assert len(found.harmonics) == 1
    assert "mains" in found.harmonics[0]


def shaken(frequencies, ratios, rate, seconds, channels, rng):
    """Resonances driven by noise of their own each, in every channel, with white noise beside."""
    count = int(rate * seconds)
    values = np.zeros((count, channels))
    for f, z in zip(frequencies, ratios, strict=True):
        pole = np.exp((-z + 1j * np.sqrt(1 - z * z)) * 2 * np.pi * f / rate)
        driven = rng.standard_normal(count + 5000)
        ringing = lfilter([1], [1, -2 * pole.real, abs(pole) ** 2], driven)[5000:]
        share = rng.uniform(0.3, 1, channels) * rng.choice([-1, 1], channels)
        values += (ringing / ringing.std())[:, None] * share
    return values + 0.1 * rng.standard_normal(values.shape)


@pytest.mark.slow
def test_ambient_peaks_are_neither_missed_nor_split():
    """Nearly all of 60 random resonances are found, broad and narrow, and hardly one beside them.

    Before, peaks were lost whose power lay less than 21 dB above the valleys beside them, and fits
    that began from one jagged line: 43 % of them.
    """
    rng = np.random.default_rng(11)
    wanted = missed = foreign = 0
    for _ in range(30):
        first = rng.uniform(6, 40)
        truth = np.array([first, first * rng.uniform(1.4, 2.5)])
        rate = float(rng.choice([500, 1000]))
        values = shaken(truth, rng.uniform(0.005, 0.05, 2), rate, 40, int(rng.integers(1, 4)), rng)
        found = supple.resonances(values, rate=rate, excitation="ambient").frequency_hz
        near = np.abs(found[:, None] - truth) < 0.05 * truth
        wanted += 2
        missed += int((~near.any(axis=0)).sum())
        foreign += len(found) - int(near.any(axis=0).sum())
    assert missed <= 0.03 * wanted
    assert foreign <= 0.03 * wanted


def test_a_table_with_gaps_is_read_as_one_without(tmp_path):
    """Numbers throughout and numbers with quotes and gaps go two ways to the same columns."""
    plain = tmp_path / "plain.csv"
    patchy = tmp_path / "patchy.csv"
    rows = [(k / 100, np.sin(k)) for k in range(64)]
    plain.write_text("t,a\n" + "".join(f"{t:.17g},{a:.17g}\n" for t, a in rows))
    lines = [f"{t:.17g},{a:.17g}" for t, a in rows]
    lines[5] = '"' + lines[5].replace(",", '","') + '"'
    patchy.write_text("\n".join(["t,a", *lines]) + "\n")
    for path in (plain, patchy):
        recording = read_recording(str(path))
        assert np.array_equal(recording.channels["a"], [a for _, a in rows])


def test_power_outside_the_band_does_not_speak_against_a_decay() -> None:
    """A lightly damped ring-down beside a slow wander, which the band leaves out."""
    rng = np.random.default_rng(4)
    rate = 5000.0
    t = np.arange(0, 0.8, 1 / rate)
    decay = np.exp(-0.0013 * 2 * np.pi * 30.8 * t) * np.cos(2 * np.pi * 30.8 * t)
    wander = 0.3 * np.sin(2 * np.pi * 4.3 * t**1.5 + 1.0) + 0.3 * t
    noise = 1e-3 * rng.normal(size=t.size)
    recording = {"acceleration": decay + wander + noise}
    found = supple.resonances(recording, rate=rate, band=[15, 70])
    assert found.excitation == "ringdown"
    assert np.abs(found.frequency_hz - 30.8).min() < 0.02
