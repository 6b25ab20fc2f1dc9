"""Sphinx configuration; every warning is an error (see the Makefile and tests/docs)."""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pictures import draw_all

project = "supple"
author = "The supple authors"
copyright = "2026, The supple authors"
version = release = version_of("supple")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas render without the network
]

source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
# Docstrings cite papers as [Key]; what looks like a reference to code is checked, types are not.
nitpicky = False

html_theme = "furo"
html_title = "supple"
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text: |u|, M* and with_ are no markup."""
    lines[:] = [re.sub(r"([|*])|(?<=\w)_(?!\w)", r"\\\g<0>", line) for line in lines]


def setup(app):
    app.connect("builder-inited", lambda app: draw_all(Path(app.srcdir) / "_pictures"))
    app.connect("autodoc-process-docstring", plain)
