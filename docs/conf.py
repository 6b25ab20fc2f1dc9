"""Sphinx configuration; every warning is an error (see the Makefile and tests/docs)."""

from importlib.metadata import version as version_of

project = "supple"
author = "The supple authors"
copyright = "2026, The supple authors"
version = release = version_of("supple")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
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
autodoc_class_signature = "separated"
napoleon_google_docstring = True
napoleon_numpy_docstring = True
# Docstrings cite papers as [Key]; what looks like a reference to code is checked, types are not.
nitpicky = False

html_theme = "furo"
html_title = "supple"
html_copy_source = False
pygments_style = "sphinx"
