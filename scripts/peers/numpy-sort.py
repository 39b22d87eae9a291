"""Times numpy.sort on a raw file of u32 keys: python3 numpy-sort.py FILE REPEATS → {"version", "seconds", "ok"}."""

import json
import sys

import numpy as np
from timing import timed

keys = np.fromfile(sys.argv[1], dtype="<u4")
seconds, result = timed(lambda: np.sort(keys), int(sys.argv[2]))
ok = bool((result[1:] >= result[:-1]).all() and result.sum(dtype="u8") == keys.sum(dtype="u8"))
print(json.dumps({"version": np.__version__, "seconds": seconds, "ok": ok}))
