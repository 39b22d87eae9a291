"""Times numpy.sort on a raw file of keys: python3 numpy-sort.py FILE REPEATS [u32|f64] → {"version", "seconds", "ok"}."""

import json
import sys

import numpy as np
from timing import timed

keys = np.fromfile(sys.argv[1], dtype={"u32": "<u4", "f64": "<f8"}[sys.argv[3] if len(sys.argv) > 3 else "u32"])
seconds, result = timed(lambda: np.sort(keys), int(sys.argv[2]))
same = np.array_equal(np.bincount(result.view("u1")), np.bincount(keys.view("u1")))
ok = bool((result[1:] >= result[:-1]).all() and same)
print(json.dumps({"version": np.__version__, "seconds": seconds, "ok": ok}))
