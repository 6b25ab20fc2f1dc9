"""What a soak test counts and keeps: cases tried, faults found, the texts that caused them."""

import hashlib
import os
import sys
import time
from pathlib import Path

__all__ = ["Figures", "minutes"]

FOUND = Path(__file__).parents[2] / "build" / "soak"


def minutes(usual: float) -> float:
    """Seconds of a test that usually takes so many minutes; SUPPLE_SOAK_SCALE makes it longer."""
    return 60 * usual * float(os.environ.get("SUPPLE_SOAK_SCALE", "1"))


class Figures:
    """Counts; `close` prints them and fails when something was found."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.faults = [""][:0]
        self.began = time.process_time()
        self.seed = int(os.environ.get("SUPPLE_SOAK_SEED", "0"))

    def tried(self, sentence: str | None = None) -> None:
        self.count += 1
        if sentence is not None and (not sentence.strip() or "Traceback" in sentence):
            self.found(sentence, ValueError("no sentence"))

    def found(self, case: str, problem: BaseException) -> None:
        """Keep the case, so that it can be mended and put into the corpus."""
        self.count += 1
        FOUND.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(case.encode(errors="replace")).hexdigest()[:12]
        (FOUND / f"{self.name}-{digest}").write_text(case, encoding="utf-8", errors="replace")
        self.faults.append(f"{digest}: {type(problem).__name__}: {str(problem)[:200]}")

    def close(self) -> None:
        own = max(time.process_time() - self.began, 1e-3)
        sys.stderr.write(
            f"\n{self.name}: {self.count:,} tried, {len(self.faults)} found; "
            f"{self.count / own * 3600:,.0f} in an hour of this process\n"
        )
        assert self.count > 0
        assert not self.faults, "\n".join(self.faults[:20])
