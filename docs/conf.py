"""Sphinx configuration; every warning is an error (see the Makefile and tests/docs)."""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gallery_pages import write_gallery
from reference_pages import write_all

from pictures import draw_all

project = "supple"
author = "The supple authors"
copyright = "2026, The supple authors"
version = release = version_of("supple")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # sections of docstrings: Parameters, Returns, Notes, Examples
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas render without the network
]

source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autodoc_typehints = "none"  # the docstrings say what a parameter is
napoleon_use_rtype = False
napoleon_preprocess_types = False
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
# Docstrings cite papers as [Key]; what looks like a reference to code is checked, types are not.
nitpicky = False
suppress_warnings = ["ref.python"]  # words such as theta or path in a type are no references

html_theme = "furo"
html_title = "supple"
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text: |u|, M* and with_ are no markup; examples stay as they are."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = re.split(r"(``.*?``)", line)  # literals stay as they are too
            parts[::2] = [re.sub(r"([|*])|(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def write_gallery_pages(app):
    """Run the scripts of the gallery and write their pages beside them."""
    source = Path(app.srcdir)
    write_gallery(source / "gallery", source / "_pictures" / "gallery")


def setup(app):
    app.connect("builder-inited", lambda app: draw_all(Path(app.srcdir) / "_pictures"))
    app.connect("builder-inited", lambda app: write_all(Path(app.srcdir) / "reference"))
    app.connect("builder-inited", write_gallery_pages)
    app.connect("autodoc-process-docstring", plain, priority=100)  # before napoleon
