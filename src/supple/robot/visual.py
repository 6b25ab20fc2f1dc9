"""Visual: a shape that is only drawn, as the visuals of a URDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ..on_demand import ModuleOnDemand
from ..values import Before, Positive, Triple, as_tuple
from .body import NO_MOUNT, Description, Mount

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = ["Visual", "Visuals"]

SHAPES = ("mesh", "box", "cylinder", "sphere")


class Visual(Description):
    """A shape drawn with a link, in the axes of the link's end: it changes no answer.

    One of `mesh` (name of an STL, OBJ or DAE file, times `scale`), `box` (three sizes, m),
    `cylinder` (radius and length along z, m) and `sphere` (radius, m).

    Examples
    --------
    >>> import supple
    >>> from supple.robot import Visual
    >>> Visual(box=(0.1, 0.1, 0.3), mount={"xyz": (0, 0, 0.15)}).kind
    'box'
    """

    mesh: Annotated[str, Field(min_length=1)] | None = None
    scale: Triple = (1.0, 1.0, 1.0)
    box: Annotated[tuple[Positive, Positive, Positive], Before(as_tuple)] | None = None
    cylinder: Annotated[tuple[Positive, Positive], Before(as_tuple)] | None = None
    sphere: Positive | None = None
    mount: Mount = NO_MOUNT
    colour: Triple | None = None

    def _problem(self) -> str | None:
        given = [key for key in SHAPES if getattr(self, key) is not None]
        if len(given) != 1:
            given_keys = " and ".join(given) or "none of them"
            return f"a visual is one of {', '.join(SHAPES)}: {given_keys} is given"
        if self.colour is not None and not all(0 <= part <= 1 for part in self.colour):
            return f"colour is {list(self.colour)}: give red, green and blue from 0 to 1"
        return None

    @property
    def kind(self) -> str:
        """Which shape it is."""
        return next(key for key in SHAPES if getattr(self, key) is not None)

    @property
    def transform(self) -> np.ndarray:
        """(4, 4) from its own axes to those of the link's end."""
        from ..kernels.spatial import rpy_rotation  # loads NumPy

        T = np.eye(4)
        T[:3, :3] = rpy_rotation(self.mount.rpy)
        T[:3, 3] = self.mount.xyz
        return T


def _as_list(value: Any) -> Any:
    """Read one visual as a list of one."""
    return (value,) if isinstance(value, dict | Visual) else as_tuple(value)


Visuals = Annotated[tuple[Visual, ...], Before(_as_list)]
