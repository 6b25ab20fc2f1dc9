"""`python -m supple` is the same as `supple`."""

from .cli import main

if __name__ == "__main__":
    main()
