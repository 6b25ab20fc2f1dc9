"""supple timed beside other engines: `make bench`, or `python -m bench --help`.

One file a topic; each bench checks its own answer and returns a `Report`.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # per core: nobody brings a second thread; read when numpy loads
