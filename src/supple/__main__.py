"""`supple` and `python -m supple`: the command line, quiet about Ctrl-C from its first import."""

import signal
import sys
from types import FrameType

__all__ = ["main"]

STOPPED = 130  # what shells report of a program that was ended by Ctrl-C


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line, even while it still imports."""
    pressed = []

    def hear(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)  # by an exception, so that unfinished files and workers go too

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, hear)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)
    try:
        from .cli import main as run

        code = run()
    except BaseException as problem:  # compiled code may turn Ctrl-C into an error of its own
        if isinstance(problem, SystemExit) or not (pressed or type(problem) is KeyboardInterrupt):
            raise
        code = STOPPED
        sys.stderr.write("stopped\n")
    for number in (signal.SIGINT, signal.SIGTERM):  # nothing is left that would need to be told
        signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


if __name__ == "__main__":
    main()
