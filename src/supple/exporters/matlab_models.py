"""Linear models of a robot over a grid of poses, for gain scheduling, as one .mat file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import as_list, optional, rows
from ..equations.equilibrium import assembled_pose, standing
from ..errors import SuppleError
from ..studies.motion.linearize import linearize
from .c_functions import stiffness_by_differences
from .exporter import Exporter, Request, Written, model_frequencies, model_rule
from .mat_file import mat_bytes, read_mat, write_mat

__all__ = ["MatlabModels"]

Array = NDArray[np.float64]


class MatlabModels(Exporter):
    """A folder with `NAME.mat`: A, B, C, D at every pose, and M and K of the coordinates."""

    about: ClassVar = "MATLAB or python-control: linear models over a grid of poses"
    needs_model: ClassVar = True
    options: ClassVar = {"poses": optional(rows), "outputs": optional(as_list)}

    def write(self, request: Request, path: Path) -> Written:
        """Write the models; frequencies come from M and K at the compared pose, read back."""
        model = request.model
        poses = _poses(request)
        outputs: Any = request.options.get("outputs") or ["joints", "tip"]

        matrices: dict[str, list[Array]] = {key: [] for key in ("A", "B", "C", "D", "M", "K")}
        for theta in poses:
            linear = linearize(model, theta, outputs=outputs)
            for key in ("A", "B", "C", "D"):
                matrices[key].append(np.asarray(getattr(linear, key), float))
            mass, stiffness = _unbent_matrices(request, theta)
            matrices["M"].append(mass)
            matrices["K"].append(stiffness)

        data: dict[str, Any] = {"theta": poses}
        for key, values in matrices.items():
            data[key] = np.stack(values, axis=-1)
        mass, stiffness = _unbent_matrices(request, request.theta)
        data["M_compared"] = mass
        data["K_compared"] = stiffness
        data["coordinates"] = np.array(model.coordinates, dtype=object)
        data["motors"] = np.array(model.chain.motors, dtype=object)

        read = read_mat(mat_bytes(data))
        frequency_hz = model_frequencies(
            read["M_compared"], read["K_compared"], model.joints, request.count
        )
        rule = model_rule(request.robot, model.basis)
        about = [
            "Linear models at the poses theta, one row each: A, B, C, D (:, :, pose).",
            "M and K are over the coordinates of the Model, unbent; M_compared and K_compared are "
            "those of the pose at which frequencies are compared.",
            *request.error_lines(frequency_hz, rule),
        ]
        place = write_mat(path / f"{request.name}.mat", data, about)
        return Written((place,), frequency_hz, rule)


def _poses(request: Request) -> Array:
    """Joint coordinates (poses, joints) of the linear models."""
    given = request.options.get("poses")
    poses = request.theta[None] if given is None else np.atleast_2d(given)
    joints = request.model.joints
    if poses.shape[1] != joints or not np.isfinite(poses).all():
        raise SuppleError(
            f"poses has shape {poses.shape}: give a row of {joints} finite joint coordinates for "
            "each pose"
        )
    return poses


def _unbent_matrices(request: Request, theta: Array) -> tuple[Array, Array]:
    """M and K (N, N) of a Model, unbent with its joints at theta."""
    model = standing(request.model, theta)
    q = assembled_pose(model, theta)
    stiffness = stiffness_by_differences(model.inverse_dynamics, model.gravity, q)
    return model.mass_matrix(q), stiffness
