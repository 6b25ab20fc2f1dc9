"""Linear models of a robot over a grid of poses, for gain scheduling, as one .mat file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import as_list, optional, rows
from ..equations.equilibrium import assembled_pose, standing
from ..errors import SuppleError
from ..files.disk import fill, writing
from ..studies.motion.linearize import linearize
from .c_functions import stiffness_by_differences
from .exporter import Exporter, Request, Written, model_frequencies, model_rule

__all__ = ["MatlabModels"]

Array = NDArray[np.float64]


class MatlabModels(Exporter):
    """A folder with `NAME.mat`: A, B, C, D at every pose, and M and K of the coordinates."""

    about: ClassVar = "MATLAB or python-control: linear models over a grid of poses"
    needs_model: ClassVar = True
    options: ClassVar = {"poses": optional(rows), "outputs": optional(as_list)}

    def write(self, request: Request, path: Path) -> Written:
        """Write the models; frequencies come from M and K of the first pose, read back."""
        from scipy.io import loadmat, savemat

        given = request.options.get("poses")
        poses = request.theta[None] if given is None else np.atleast_2d(given)
        model = request.model
        if poses.shape[1] != model.joints or not np.isfinite(poses).all():
            raise SuppleError(
                f"poses has shape {poses.shape}: give a row of {model.joints} finite joint "
                "coordinates for each pose"
            )
        outputs: Any = request.options.get("outputs") or ["joints", "tip"]
        parts: dict[str, list[Array]] = {key: [] for key in ("A", "B", "C", "D", "M", "K")}
        names: dict[str, Any] = {}
        for theta in poses:
            found = linearize(model, theta, outputs=outputs)
            for key in ("A", "B", "C", "D"):
                parts[key].append(np.asarray(getattr(found, key), float))
        # M and K unbent at the pose of the comparison, then at the others
        for theta in (request.theta, *poses):
            at = standing(model, theta)
            q = assembled_pose(at, theta)
            parts["M"].append(at.mass_matrix(q))
            parts["K"].append(stiffness_by_differences(at.inverse_dynamics, at.gravity, q))
        names = {"coordinates": list(model.coordinates), "motors": list(model.chain.motors)}
        data: dict[str, Any] = {"theta": poses}
        for key, values in parts.items():
            chosen = values[1:] if key in ("M", "K") else values
            data[key] = np.stack(chosen, axis=-1)
        data["M_compared"] = parts["M"][0]
        data["K_compared"] = parts["K"][0]
        for key, words in names.items():
            data[key] = np.array(words, dtype=object)
        memory = io.BytesIO()
        savemat(memory, data)
        place = path / f"{request.name}.mat"
        with writing(place) as aside:
            fill(aside, memory.getvalue())
        read = loadmat(io.BytesIO(memory.getvalue()))
        frequency_hz = model_frequencies(
            read["M_compared"], read["K_compared"], model.joints, request.count
        )
        return Written((place,), frequency_hz, model_rule(request.robot, request.model.basis))
