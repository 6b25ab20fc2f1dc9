"""Answers as labelled data: to xarray and pandas, to netCDF, and Responses back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from .. import files
from ..answers.answer import Answer
from ..arguments import checked, instance
from ..beams.basis import BASES
from ..beams.shapes import EndLoad
from ..equations.build import build
from ..equations.closed.coupled import near_symbols
from ..equations.damping import GivenDamping
from ..errors import SuppleError
from ..files.data import read_dataset, write_dataset
from ..files.disk import as_path
from .motion.response import Response
from .motion.state_space import StateSpace

if TYPE_CHECKING:
    import pandas
    import xarray

    from .motion.path_response import PathResponse
    from .vibration.workspace import FrequencyMap

__all__ = [
    "load_linear",
    "load_response",
    "map_to_xarray",
    "path_to_pandas",
    "path_to_xarray",
    "save",
    "to_pandas",
    "to_xarray",
]


def to_xarray(found: Response) -> xarray.Dataset:
    """Return a Response as a labelled Dataset, with all that is needed to make its Model again."""
    import xarray

    model = found.model
    links = list(model.chain.motors)
    ends = np.stack([found.deflection(link.name) for link in model.chain.links], axis=1)
    data: dict[str, Any] = {
        "q": (("t", "coordinate"), found.q),
        "qd": (("t", "coordinate"), found.qd),
        "tau": (("t", "joint"), found.tau, {"units": "N m"}),
        "tip": (("t", "axis"), found.tip, {"units": "m"}),
        "tip_rotation": (("t", "axis", "axis_"), found.tip_rotation),
        "end_deflection": (("t", "link", "axis"), ends, {"units": "m"}),
        "work": (("t",), found.work, {"units": "J"}),
        "balance": (("t",), found.balance, {"units": "J"}),
    }
    data |= {f"energy_{k}": (("t",), v, {"units": "J"}) for k, v in found.energies.items()}
    if found.beta is not None:
        data["beta"] = (("t", "root"), found.beta)
    if found.near is not None:
        meaning = "coordinates that loops determine, so that their branch is kept"
        data["near"] = (("t", "follower"), found.near, {"long_name": meaning})
    if found.reference is not None:
        description = {"long_name": "motion wanted of the joints"}
        data["reference"] = (("t", "joint"), found.reference, description)
    for name, values in found.outputs.items():
        dims = ("t", f"entry_of_{name}")[: values.ndim]
        data[f"output_{name}"] = (dims, values)
    coords = {
        "t": ("t", found.t, {"units": "s"}),
        "coordinate": list(model.coordinates),
        "joint": links,
        "axis": list("xyz"),
        "axis_": list("xyz"),
        "link": [link.name for link in model.chain.links],
    }
    model = found.model
    blocks = [
        model.functions.ratios(i)
        if i in model.chain.sliding
        else model.damping[part, part].tolist()
        for i, part in enumerate(model.chain.eta)
    ]
    kind = next(name for name, cls in BASES.items() if isinstance(model.basis, cls))
    attributes = {
        "robot": files.dump(model.robot),
        "basis": json.dumps({"kind": kind, **asdict(model.basis)}, default=_as_list),  # type: ignore[call-overload]
        "deflection": model.reading.deflection,
        "stiffening": int(model.stiffening),
        "velocity": model.reading.velocity,
        "beta": model.reading.beta,
        "damping": json.dumps(blocks),
        **({} if model.modal_damping is None else {"modal_damping": model.modal_damping}),
        "method": found.method,
        "message": found.message,
        **({} if found.step is None else {"step": found.step}),
        **{f"note.{word}": value for word, value in found.notes.items()},
    }
    return xarray.Dataset(data, coords=coords, attrs=attributes)


def _as_list(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)


def to_pandas(found: Response) -> pandas.DataFrame:
    """Return time, coordinates, speeds, efforts, tip and energies, a row a time."""
    import pandas

    model = found.model
    columns: dict[str, Any] = {}
    for k, name in enumerate(model.coordinates):
        columns[name], columns[f"d.{name}"] = found.q[:, k], found.qd[:, k]
    for k, name in enumerate(model.chain.motors):
        columns[f"tau.{name}"] = found.tau[:, k]
    columns |= {f"tip.{axis}": found.tip[:, k] for k, axis in enumerate("xyz")}
    columns |= {f"energy.{name}": value for name, value in found.energies.items()}
    columns |= _output_columns(found.outputs)
    return pandas.DataFrame(columns, index=pandas.Index(found.t, name="t"))


def _output_columns(outputs: dict[str, Any]) -> dict[str, Any]:
    """A column for each value of every output."""
    columns: dict[str, Any] = {}
    for name, values in outputs.items():
        parts = values.reshape(len(values), -1).T
        words = [""] if len(parts) == 1 else [f".{k + 1}" for k in range(len(parts))]
        if len(parts) == 3:
            words = [".x", ".y", ".z"]
        columns |= {f"output.{name}{word}": x for word, x in zip(words, parts, strict=True)}
    return columns


def save(found: Answer, path: str | Path) -> None:
    """Write an answer as netCDF; `load_response` and `load_linear` read them again."""
    if as_path(path).suffix != ".nc":
        raise SuppleError(f"'{path}' must end in .nc (netCDF); a page to play ends in .html")
    data = found.to_xarray()
    for name in [str(name) for name, part in data.items() if part.dtype.kind == "c"]:
        data[f"{name}_real"], data[f"{name}_imag"] = data[name].real, data[name].imag
        data = data.drop_vars(name)
    write_dataset(data, path)


def path_to_xarray(found: PathResponse) -> xarray.Dataset:
    """Return a PathResponse as a labelled Dataset; the last axis of ends: m, then rad."""
    import xarray

    links = [name for name in found.model.names if found.model.length(name)]
    ends = [found.deflection(name) for name in links]
    data: dict[str, Any] = {
        "wanted": (("t", "coordinate"), found.wanted, {"long_name": "what the path wants"}),
        "displacement": (("t", "axis"), found.moved[:, :3], {"units": "m"}),
        "rotation": (("t", "axis"), found.moved[:, 3:], {"units": "rad"}),
        "torque": (("t", "motor"), found.torque, {"units": "N m"}),
        "rigid_torque": (("t", "motor"), found.rigid_torque, {"units": "N m"}),
        "y": (("t", "elastic"), found.y),
        "yd": (("t", "elastic"), found.yd),
    }
    if found.passive.size:
        data["swing"] = (("t", "passive"), found.swing, {"long_name": "joints that nothing holds"})
    if links:
        data["end_deflection"] = (("t", "link", "motion"), np.stack(ends, axis=1))
    for name, values in found.outputs.items():
        data[f"output_{name}"] = (("t", f"entry_of_{name}")[: values.ndim], values)
    if found.stopped:
        residual = found.residual()
        data["residual"] = (("motion",), residual, {"long_name": "half of peak to peak at rest"})
    coords = {
        "t": ("t", found.t, {"units": "s"}),
        "axis": list("xyz"),
        "motion": ["x", "y", "z", "about x", "about y", "about z"],
        "link": links,
        "motor": np.arange(1, found.torque.shape[1] + 1),
    }
    attributes = {
        "robot": files.dump(found.robot),
        "path": repr(found.path),
        "path_duration": found.path.duration,
        "largest_deflection": found.largest,
        "small": int(found.small),
    }
    return xarray.Dataset(data, coords=coords, attrs=attributes)


def path_to_pandas(found: PathResponse) -> pandas.DataFrame:
    """Return time, place wanted, variation of place and attitude, torques, a row a time."""
    import pandas

    columns: dict[str, Any] = {f"wanted.{k + 1}": x for k, x in enumerate(found.wanted.T)}
    words = ("x", "y", "z", "about_x", "about_y", "about_z")
    columns |= {word: found.moved[:, k] for k, word in enumerate(words)}
    columns |= {f"swing.{k + 1}": x for k, x in enumerate(found.swing.T)}
    for k in range(found.torque.shape[1]):
        columns[f"torque.{k + 1}"] = found.torque[:, k]
        columns[f"rigid_torque.{k + 1}"] = found.rigid_torque[:, k]
    columns |= _output_columns(found.outputs)
    return pandas.DataFrame(columns, index=pandas.Index(found.t, name="t"))


def map_to_xarray(found: FrequencyMap) -> xarray.Dataset:
    """Return a map of natural frequencies as a labelled Dataset."""
    import xarray

    # `write_dataset` escapes what netCDF cannot hold; here names must only differ from these two.
    words = [f"_{name}" if name in ("mode", "omega") else name for name in found.axes]
    axes = {
        word: (word, x, {"long_name": name})
        for word, (name, x) in zip(words, found.axes.items(), strict=True)
    }
    return xarray.Dataset(
        {"omega": ((*words, "mode"), found.omega, {"units": "rad/s"})},
        coords={**axes, "mode": np.arange(1, found.omega.shape[-1] + 1)},
        attrs={"robot": files.dump(found.robot)},
    )


# what a file that says something else makes of the lines that read it
STRANGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@checked
def load_response(
    path: Annotated[str | Path, instance((str, Path), "the path of a file, such as 'run.nc'")],
) -> Response:
    """Read a simulated motion from a file written by its `save`.

    Parameters
    ----------
    path : str or path
        A netCDF file.

    Returns
    -------
    Response
        Its Model is built again from the description in the file.

    Raises
    ------
    SuppleError
        If the file is damaged or does not describe a simulation.

    Examples
    --------
    >>> import tempfile
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> name = tempfile.mkdtemp() + "/run.nc"
    >>> _ = supple.simulate(model, tau=[0.1, 0.0], duration=0.1).save(name)
    >>> supple.load_response(name).q.shape
    (101, 4)
    """
    data = read_dataset(path, "a response")
    if "basis" not in data.attrs:
        raise SuppleError(f"{path} is not a response written by supple: it names no basis")
    try:
        may = ("beta", "near", "reference")
        stored = ["t", "q", "qd", "tau", "work", *(name for name in may if name in data)]
        arrays: dict[str, Any] = {
            name: np.asarray(data.variables[name].values, float) for name in stored
        }
        described = json.loads(data.attrs["basis"])
        kind = BASES[described.pop("kind")]
        if isinstance(described.get("ends"), list):
            described["ends"] = [EndLoad(**load) for load in described["ends"]]
        basis = kind(**described)
        attributes = data.attrs
        if attributes["stiffening"] not in (0, 1):
            raise SuppleError(f"stiffening is {attributes['stiffening']!r:.40}: it must be 0 or 1")
        blocks = json.loads(attributes["damping"])
        ratio = attributes.get("modal_damping")
        model = build(
            files.loads(attributes["robot"]),
            basis,
            deflection=attributes["deflection"],
            stiffening=bool(attributes["stiffening"]),
            damping=GivenDamping(tuple(blocks)) if ratio is None else None,
            modal_damping=None if ratio is None else float(ratio),
            velocity=attributes.get("velocity", "material"),
            beta=attributes.get("beta", "newton"),
        )
        count = arrays["t"].shape
        widths = {
            "t": (),
            "q": (model.size,),
            "qd": (model.size,),
            "tau": (model.joints,),
            "reference": (model.joints,),
            "work": (),
            "near": (near_symbols(model)[1].numel(),),
        }
        for name, width in widths.items():
            if name in arrays and arrays[name].shape != (*count, *width):
                sentence = (
                    f"{name} has the shape {arrays[name].shape}, the model needs {(*count, *width)}"
                )
                raise SuppleError(sentence)
        if not (len(count) == 1 and count[0] and (np.diff(arrays["t"]) > 0).all()):
            raise SuppleError("its times do not increase")
        if not all(np.isfinite(x).all() for x in arrays.values()):
            raise SuppleError("it holds values that are not finite")
        method, message = (str(data.attrs[word]) for word in ("method", "message"))
        outputs = {
            str(name).removeprefix("output_"): np.asarray(part.values, float)
            for name, part in data.data_vars.items()
            if str(name).startswith("output_")
        }
        for name, values in outputs.items():
            if values.ndim not in (1, 2) or values.shape[:1] != count:
                sentence = f"the output {name} has the shape {values.shape}"
                raise SuppleError(f"{sentence}, there are {count[0]} times")
        step = attributes.get("step")
        notes = {
            word.removeprefix("note."): np.asarray(value, float).tolist()
            for word, value in attributes.items()
            if word.startswith("note.")
        }
        found = Response(
            model,
            method=method,
            message=message,
            step=None if step is None else float(step),
            outputs=outputs,
            notes=notes,
            **arrays,
        )
    except SuppleError as problem:
        raise SuppleError(f"cannot read {path} as a response: {problem}") from None
    except STRANGE as problem:
        sentence = f"what it says does not describe a run ({type(problem).__name__}: {problem})"
        raise SuppleError(f"cannot read {path} as a response: {sentence}") from None
    return found


@checked
def load_linear(
    path: Annotated[str | Path, instance((str, Path), "the path of a file, such as 'linear.nc'")],
) -> StateSpace:
    """Read a state-space model from a file written by its `save`.

    Parameters
    ----------
    path : str or path
        A netCDF file.

    Returns
    -------
    StateSpace
        Equal to the one that was saved.

    Raises
    ------
    SuppleError
        If the file is damaged or contains something else.

    Examples
    --------
    >>> import tempfile
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> name = tempfile.mkdtemp() + "/linear.nc"
    >>> _ = supple.linearize(model).save(name)
    >>> supple.load_linear(name).A.shape
    (8, 8)
    """
    data = read_dataset(path, "a linear model")
    lost = [word for word in ("A", "B", "C", "D", "q", "qd", "tau") if word not in data]
    lost += [word for word in ("state", "input", "output") if word not in data.sizes]
    if lost:
        raise SuppleError(
            f"cannot read {path} as a linear model: it holds no {lost[0]}; give a file written by "
            "supple.linearize(..).save"
        )
    try:
        matrices: dict[str, Any] = {
            word: np.asarray(data[word].values, float)
            for word in ("A", "B", "C", "D", "q", "qd", "tau")
        }
        names: dict[str, Any] = {
            f"{dim}s": tuple(str(name) for name in data[dim].values)
            for dim in ("state", "input", "output")
        }
        period = data.attrs.get("period")
        states, inputs, outputs = (len(names[word]) for word in ("states", "inputs", "outputs"))
        shapes = {
            "A": (states, states),
            "B": (states, inputs),
            "C": (outputs, states),
            "D": (outputs, inputs),
        }
        for word, shape in shapes.items():
            if matrices[word].shape != shape:
                sentence = f"{word} has the shape {matrices[word].shape}, its names need {shape}"
                raise SuppleError(sentence)
        if not all(np.isfinite(matrix).all() for matrix in matrices.values()):
            raise SuppleError("it holds values that are not finite")
        found = StateSpace(**matrices, **names, period=None if period is None else float(period))
    except SuppleError as problem:
        raise SuppleError(f"cannot read {path} as a linear model: {problem}") from None
    except STRANGE as problem:
        sentence = f"what it says describes none ({type(problem).__name__}: {problem})"
        raise SuppleError(f"cannot read {path} as a linear model: {sentence}") from None
    return found
