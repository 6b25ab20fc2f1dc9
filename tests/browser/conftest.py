"""A real Chromium: the system's own, installed when that can be done, required where asked for.

Without it, and without the right to install it, these tests are skipped and say so; with
SUPPLE_REQUIRE_BROWSER=1 in the environment (as in `.ci/run`) that is a failure instead.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from bench.browser import FLAGS, chromium

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "build" / "browser"


def install_chromium() -> str | None:
    """Debian's package, by root only; one process installs, the others wait."""
    if getattr(os, "geteuid", lambda: 1)() != 0 or shutil.which("apt-get") is None:
        return None
    import fcntl  # where apt-get is, this is too

    with Path(tempfile.gettempdir(), "supple-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if chromium() is None:
            for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
                subprocess.run(["apt-get", "-qq", *words], check=False, capture_output=True)
    return chromium()


def unavailable(reason: str) -> None:
    if os.environ.get("SUPPLE_REQUIRE_BROWSER"):
        pytest.fail(f"a browser is required here: {reason}")
    pytest.skip(f"NO BROWSER TESTS: {reason}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("playwright is not installed; `make setup` brings it")
    found = chromium() or install_chromium()
    if found is None:
        unavailable("no chromium; as root, `apt-get install chromium`")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@dataclass
class Watched:
    """A page and all it said and asked for."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def shot(self, name: str, **options: Any) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", **options)

    def clean(self, *allowed: str) -> None:
        """Nothing went wrong, and nothing left the machine."""
        assert self.errors == []
        away = [url for url in self.requests if not url.startswith((*allowed, "data:", "blob:"))]
        assert away == []


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    contexts = []

    def open_page(url: str, **options: Any) -> Watched:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **options}
        )
        contexts.append(context)
        page = context.new_page()
        watched = Watched(page)
        page.on("pageerror", lambda error: watched.errors.append(str(error)))
        page.on(
            "console",
            lambda message: (
                watched.errors.append(message.text) if message.type == "error" else None
            ),
        )
        page.on("request", lambda request: watched.requests.append(request.url))
        page.goto(url)
        return watched

    yield open_page
    for context in contexts:
        context.close()


@dataclass
class Served:
    """A studio started from the command line."""

    process: subprocess.Popen[str]
    url: str
    port: int

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C; returns exit code and what was said on the error stream."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


def _mind_interrupts() -> None:
    """A shell's background jobs ignore Ctrl-C and hand that down; the studio is to mind it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def studio() -> Iterator[Any]:
    started: list[Served] = []

    def start(*words: str, port: int = 0) -> Served:
        process = subprocess.Popen(
            [sys.executable, "-m", "supple", "view", *words, "--port", str(port), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_mind_interrupts,  # noqa: PLW1509 - nothing here holds a lock
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        answer = json.loads(line) if line else pytest.fail(process.stderr.read())  # type: ignore
        served = Served(process, answer["url"], answer["port"])
        started.append(served)
        return served

    yield start
    for served in started:
        if served.process.poll() is None:
            served.interrupt()
        for stream in (served.process.stdout, served.process.stderr):
            if stream is not None:
                stream.close()
