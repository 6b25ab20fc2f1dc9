"""The gallery: every script of `docs/gallery` is run, and becomes a page with its picture.

A script begins with a docstring (a title, and one paragraph) and draws `NAME.png`, NAME being its
own name, into the current folder. GROUPS says where it stands; a script that is missing here fails
the build and a test.
"""

import ast
import os
import runpy
import warnings
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

SCRIPTS = Path(__file__).parent / "gallery"
GROUPS: dict[str, tuple[str, ...]] = {
    "Whole jobs": ("lightest_arm", "sampled_regulator", "shaped_program"),
    "How it vibrates": (
        "frequencies_of_my_arm",
        "frequency_over_the_elbow",
        "map_of_a_delta",
        "thick_and_thin_beams",
        "crane_with_a_cylinder",
        "a_load_that_hangs",
        "palletizer",
        "ur5_with_a_flexible_forearm",
        "poles_and_zeros",
        "sag_under_loads",
    ),
    "Design": (
        "payload_and_pose",
        "a_million_poses",
        "nothing_rings_at_ten_hertz",
        "least_mass",
        "how_precise_must_it_be",
    ),
    "Motion and control": (
        "my_own_controller",
        "a_beam_that_slides",
        "lqg_with_strain_gauges",
        "shaping_a_ros_trajectory",
        "four_ways_to_stop",
    ),
    "Measure and export": (
        "resonances_of_a_recording",
        "stiffness_from_frequencies",
        "into_mujoco",
    ),
}


def title_and_text(script: Path) -> tuple[str, str]:
    """Return the title and the paragraph of a script's docstring."""
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    title, _, text = docstring.partition("\n")
    return title.strip(), text.lstrip("=\n ").strip()


def code_of(script: Path) -> str:
    """Return what follows the docstring of a script."""
    source = script.read_text(encoding="utf-8")
    docstring = ast.parse(source).body[0]
    lines = source.splitlines()[docstring.end_lineno :]
    return "\n".join(lines).strip() + "\n"


def run_script(script: Path, folder: Path) -> str:
    """Run a script in a folder, where it leaves its picture, and return what it printed."""
    import matplotlib.pyplot as plt

    printed = StringIO()
    with chdir(folder), redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    if not (folder / f"{script.stem}.png").is_file():
        raise RuntimeError(f"{script.name} drew no picture {script.stem}.png")
    return printed.getvalue()


def write_gallery(folder: Path, pictures: Path) -> None:
    """Run all scripts and write their pages and the page that lists them into a folder."""
    folder.mkdir(exist_ok=True)
    pictures.mkdir(parents=True, exist_ok=True)
    overview = [
        "# Gallery",
        "",
        "Short scripts, each with its picture: copy one and change it.",
        "",
    ]
    for group, names in GROUPS.items():
        overview += [f"## {group}", ""]
        for name in names:
            script = SCRIPTS / f"{name}.py"
            title, text = title_and_text(script)
            printed = run_script(script, pictures)
            picture = f"{os.path.relpath(pictures, folder)}/{name}.png"
            page = [f"# {title}", "", text, "", f"```{{image}} {picture}", f":alt: {title}", "```"]
            page += ["", "```python", code_of(script).rstrip(), "```", ""]
            if printed.strip():
                page += ["It prints", "", "```text", printed.rstrip(), "```", ""]
            (folder / f"{name}.md").write_text("\n".join(page), encoding="utf-8")
            overview += [f"### [{title}]({name}.md)", "", f"[![{title}]({picture})]({name}.md)"]
            overview += ["", text, ""]
    overview += ["```{toctree}", ":hidden:", ""]
    overview += [name for names in GROUPS.values() for name in names]
    overview += ["```", ""]
    (folder / "index.md").write_text("\n".join(overview), encoding="utf-8")
