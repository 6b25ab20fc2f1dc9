"""The formats in which robots leave: one line each, imported when first used."""

from __future__ import annotations

from importlib import import_module

from .exporter import Exporter

__all__ = ["EXPORTERS", "exporter_named"]

# The word after `to=`, and where its exporter stands.
EXPORTERS: dict[str, str] = {
    "c": "c_project:CProject",
    "fmu": "fmu:Fmu",
    "mujoco": "mujoco_model:Mujoco",
    "urdf": "urdf_files:UrdfFiles",
    "sdf": "sdf_files:SdfFile",
    "exudyn": "exudyn_script:Exudyn",
    "simscape": "simscape_bodies:Simscape",
    "matlab": "matlab_models:MatlabModels",
}


def exporter_named(word: str) -> Exporter:
    """Return the exporter of this word."""
    module, _, name = EXPORTERS[word].partition(":")
    found: Exporter = getattr(import_module(f".{module}", __package__), name)()
    return found
