"""What exists on POSIX alone stands in these places, each for a reason; anything new fails here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = {"fcntl", "resource", "select", "termios", "tty", "pty", "pwd", "grp", "posix", "syslog"}
OF_OS = {
    *("fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "getgroups", "setuid", "setsid"),
    *("setpgid", "getpgid", "killpg", "mkfifo", "mknod", "nice", "sysconf", "getloadavg", "uname"),
    *(
        "statvfs",
        "pread",
        "pwrite",
        "fchmod",
        "fchown",
        "chown",
        "lchown",
        "chroot",
        "sync",
        "wait",
    ),
    *("waitpid", "register_at_fork", "sched_getaffinity", "setpriority", "mkdirat", "ttyname"),
    *("O_NONBLOCK", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_SYNC", "O_DSYNC", "O_TMPFILE"),
}
OF_SIGNAL = {
    *("SIGKILL", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGCHLD"),
    *("SIGSTOP", "SIGCONT", "SIGTSTP", "SIGWINCH", "alarm", "setitimer", "pause", "sigwait"),
    *("pthread_kill", "pthread_sigmask", "siginterrupt", "set_wakeup_fd"),
}
WORDS = {"preexec_fn", "start_new_session", "pass_fds", "process_group"}  # of subprocess
TEXTS = ("/dev/", "/proc/", "/tmp/", "/etc/", "/usr/", "/bin/", "/var/")
COMPILER = {"-fPIC", "-shared", "gcc", "cc", "-lm"}
# (file, what): why it may stand there.
KNOWN = {
    ("src/supple/files/data.py", "select"): "asked only of what is no regular file, on POSIX",
    ("src/supple/files/data.py", "O_NONBLOCK"): "getattr: nought where it does not exist",
    ("src/supple/files/disk.py", "select"): "pipes with a name exist on POSIX only",
    ("src/supple/files/disk.py", "O_NONBLOCK"): "the same: after S_ISFIFO",
    ("src/supple/files/disk.py", "/dev/"): "no path on Windows begins so",
    ("src/supple/files/disk.py", "/proc/"): "missed without harm: the host's name is enough",
    ("src/supple/equations/evaluate.py", "-fPIC"): "left out on Windows",
    ("src/supple/equations/evaluate.py", "-shared"): "gcc and clang take it on Windows too",
    ("src/supple/equations/evaluate.py", "-lm"): "the same",
    ("src/supple/equations/evaluate.py", "gcc"): "looked for, and missed in a sentence",
    ("src/supple/equations/evaluate.py", "cc"): "the same",
    ("src/supple/exporters/c_library.py", "-fPIC"): "left out on Windows",
    ("src/supple/exporters/c_library.py", "-shared"): "gcc and clang take it on Windows too",
    ("src/supple/exporters/c_library.py", "-lm"): "the same",
    ("src/supple/exporters/c_library.py", "gcc"): "looked for, and missed in a sentence",
    ("src/supple/exporters/c_library.py", "cc"): "the same",
    ("bench/__main__.py", "getloadavg"): "after hasattr",
    ("bench/sweep.py", "resource"): "not told where it does not exist",
}


def found_in(path: Path) -> Iterator[str]:
    """What a file uses of POSIX, by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").split(".")[0] in MODULES:
                yield str(node.module)
            if node.module in ("os", "signal"):
                yield from (n.name for n in node.names if n.name in OF_OS | OF_SIGNAL)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in {"os": OF_OS, "signal": OF_SIGNAL}.get(node.value.id, set()):
                yield node.attr
        elif isinstance(node, ast.keyword) and node.arg in WORDS:
            yield str(node.arg)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
        ):
            if node.value in OF_OS | COMPILER:
                yield node.value
            yield from (text for text in TEXTS if node.value.startswith(text))


def files() -> list[Path]:
    return [
        ROOT / "setup.py",
        *sorted((ROOT / "src").rglob("*.py")),
        *sorted((ROOT / "bench").rglob("*.py")),
    ]


def test_posix_stands_where_it_is_known() -> None:
    found = {(p.relative_to(ROOT).as_posix(), name) for p in files() for name in found_in(p)}
    assert found - set(KNOWN) == set(), "guard it, or give its reason in KNOWN"
    assert set(KNOWN) - found == set(), "no longer there"


@pytest.mark.parametrize(
    "line",
    [
        "import fcntl",
        "from resource import getrusage",
        "import os\nos.fork()",
        "import signal\nsignal.SIGKILL",
        "open('/dev/null')",
        "run(x, preexec_fn=f)",
        "getattr(os, 'geteuid')",
        "from os import O_NONBLOCK",
    ],
)
def test_a_new_line_would_be_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "new.py").write_text(line, encoding="utf-8")
    assert list(found_in(tmp_path / "new.py"))
