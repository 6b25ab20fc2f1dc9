"""`supple` and `python -m supple`: the command line, quiet about Ctrl-C from its first import."""

import signal
import sys

__all__ = ["main"]

STOPPED = 130  # what shells report of a program that was ended by Ctrl-C


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line, even while it still imports."""
    try:
        from .cli import main as run

        code = run()
    except KeyboardInterrupt:
        code = STOPPED
        sys.stderr.write("stopped\n")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left that would need to be told
    sys.exit(code)


if __name__ == "__main__":
    main()
