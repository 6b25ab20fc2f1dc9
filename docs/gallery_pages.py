"""The gallery: a page of every script in docs/gallery, with what it prints and draws.

A script begins with a docstring, its title and a paragraph after an empty line, and draws NAME.png
where NAME.py is the script. It runs in a folder of its own with every build, so that pictures and
numbers on the page are those of this version. A new script needs nothing else.
"""

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

INTRODUCTION = """# Gallery

Whole jobs, each a script that runs as it is: take the one that is nearest to yours and change it.

"""
TIME_LIMIT = 600  # s, of one script


@dataclass(frozen=True)
class Example:
    """A script of the gallery: its file, title and paragraph, and the code after these."""

    script: Path
    title: str
    paragraph: str
    code: str

    @classmethod
    def of(cls, script: Path) -> "Example":
        """Read a script; its docstring must have a title, an empty line and a paragraph."""
        text = script.read_text()
        module = ast.parse(text)
        docstring = ast.get_docstring(module) or ""
        title, _, paragraph = docstring.partition("\n\n")
        if not title or not paragraph or "\n" in title:
            raise ValueError(f"{script.name} needs a docstring with a title and a paragraph")
        code = "\n".join(text.splitlines()[module.body[0].end_lineno :]).strip()
        return cls(script, title.strip(), paragraph.strip(), code)

    def run(self, folder: Path) -> str:
        """Run it in a folder, where it leaves its picture, and return what it prints."""
        folder.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"MPLBACKEND": "Agg"}
        found = subprocess.run(
            [sys.executable, str(self.script.resolve())],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIME_LIMIT,
        )
        if found.returncode:
            raise RuntimeError(f"{self.script.name} failed:\n{found.stderr}")
        if not (folder / f"{self.script.stem}.png").is_file():
            raise RuntimeError(f"{self.script.name} draws no {self.script.stem}.png")
        return found.stdout

    def page(self, picture: str, printed: str) -> str:
        """Return its page: paragraph, picture, code, and what it prints."""
        return f"""# {self.title}

{self.paragraph}

```{{image}} {picture}
:alt: {self.title}
:width: 640px
```

```python
{self.code}
```

It prints

```text
{printed.rstrip()}
```
"""


def write_all(folder: Path, pictures: Path) -> None:
    """Run every script of a folder, and write its page and the page that lists them beside it."""
    cards = []
    names = []
    for script in sorted(folder.glob("*.py")):
        example = Example.of(script)
        name = script.stem
        printed = example.run(pictures / name)
        picture = f"/{pictures.name}/{name}/{name}.png"
        (folder / f"{name}.md").write_text(example.page(picture, printed))
        cards.append(
            f"## [{example.title}]({name}.md)\n\n{example.paragraph}\n\n"
            f"```{{image}} {picture}\n:alt: {example.title}\n:target: {name}.html\n"
            ":width: 480px\n```\n"
        )
        names.append(name)
    listed = "\n".join(names)
    toctree = f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    (folder / "index.md").write_text(INTRODUCTION + "\n".join(cards) + "\n" + toctree)
