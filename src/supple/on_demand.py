"""Modules that are imported when one of their names is first used.

A command that reads a file, prints its help or refuses its arguments needs no arrays, and `import
numpy` takes as long as all the rest of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["ModuleOnDemand"]


class ModuleOnDemand:
    """Stands for a module; the first use of a name imports it, later ones find the name here.

    Parameters
    ----------
    module_name : str
        Absolute name of the module, such as ``"numpy"``.

    Examples
    --------
    >>> math = ModuleOnDemand("math")
    >>> math.cos(0.0)
    1.0
    """

    def __init__(self, module_name: str) -> None:
        self._module_name = module_name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._module_name), name)
        setattr(self, name, value)
        return value
