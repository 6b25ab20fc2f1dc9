"""Holds an installed supple to what it promises; run by its Python alone, outside the checkout.

Every number here is checked against a published one or a closed form by the test suite itself; this
asks whether the wheel brought all its parts: kernel, library, pages, pictures, files, commands.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import supple
from supple.kernels import _exact, _tape


def main() -> None:
    """Ask each part once."""
    here = Path(supple.__file__).parent
    assert "site-packages" in here.parts, f"{here} is not an installed supple"
    for kernel in (_exact.__file__, _tape.__file__):
        assert "abi3" in kernel or kernel.endswith(".pyd"), kernel
    beam = supple.loads(
        "name: beam\nplanar: true\nlinks:\n  - {name: a, joint: {type: fixed}, length: 1, "
        "mass_per_length: 1, bending_stiffness: 1}"
    )
    found = supple.modes(beam, count=3)  # clamped and free: cos x cosh x = -1
    np.testing.assert_allclose(np.sqrt(found.omega), [1.8751041, 4.6940911, 7.8547574], rtol=1e-7)
    assert found.certified
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        found.plot(place / "modes.png")
        found.save_page(place / "modes.html")
        model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
        run = supple.simulate(model, tau=supple.BangBang(0.1, 0.05), duration=0.1)
        run.save(place / "run.nc")
        assert np.array_equal(supple.load_response(place / "run.nc").q, run.q)
        for words in (["robots"], ["modes", "kuo-delta", "--position", "0.1,0,0.5", "--json"]):
            command = [sys.executable, "-m", "supple", *words]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    sys.stdout.write(f"supple {supple.__version__} works under Python {sys.version.split()[0]}\n")


if __name__ == "__main__":
    main()
