"""Meshes of robots: STL, OBJ and DAE files, read by trimesh."""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SuppleError
from ..kernels.meshes import Mesh, simplify_mesh

__all__ = ["MESH_TYPES", "find_mesh", "read_mesh"]

MESH_TYPES = (".stl", ".obj", ".dae")
BYTES_LIMIT = 200_000_000


def find_mesh(name: str, urdf: str) -> str | None:
    """Return the path of a mesh as a URDF names it, or None where there is no such file.

    `package://NAME/rest` is looked for in the folders above the URDF, with and without NAME, and in
    those of ROS_PACKAGE_PATH; other names are seen from the URDF.
    """
    plain = name.removeprefix("file://")
    folder = Path(os.path.abspath(urdf)).parent
    if not plain.startswith("package://"):
        found = folder / plain
        return str(found) if found.is_file() else None
    bare = plain.removeprefix("package://")
    inside = bare.partition("/")[2]
    roots = [folder, *folder.parents]
    roots += [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(":") if place]
    for root in roots:
        for rest in (bare, inside):
            if rest and (root / rest).is_file():
                return str(root / rest)
    return None


def read_mesh(path: str, most: int | None = None) -> Mesh:
    """Return vertices and triangles of a mesh file: all of them, or at most so many triangles."""
    try:
        stamp = os.stat(path)
    except OSError:
        raise SuppleError(f"the mesh {path} is not there") from None
    if stamp.st_size > BYTES_LIMIT or Path(path).suffix.lower() not in MESH_TYPES:
        raise SuppleError(f"the mesh {path} is larger than 200 MB, or no STL, OBJ or DAE file")
    if most is None:
        return _whole(path, stamp.st_mtime)
    return _simplified(path, stamp.st_mtime, most)


@lru_cache(maxsize=256)
def _simplified(path: str, changed: float, most: int) -> Mesh:
    return simplify_mesh(*_whole(path, changed), most)


@lru_cache(maxsize=80)
def _whole(path: str, _: float) -> Mesh:
    try:
        import trimesh
    except ImportError:
        raise SuppleError("meshes need trimesh: pip install trimesh pycollada") from None
    logging.getLogger("trimesh").setLevel(logging.CRITICAL)
    try:
        loaded: Any = trimesh.load(path, force="mesh", skip_materials=True)
        vertices = np.asarray(loaded.vertices, np.float64)
        faces = np.asarray(loaded.faces, np.int64)
    except Exception as problem:  # noqa: BLE001 - a library's own, reported as one sentence
        said = " ".join(str(problem).split())[:120] or type(problem).__name__
        raise SuppleError(f"the mesh {path} cannot be read: {said}") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise SuppleError(f"the mesh {path} has no triangles")
    return vertices, faces
