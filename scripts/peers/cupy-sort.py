"""Times CuPy's sort of a raw file of u32 keys, from NumPy array to NumPy array and on the device alone.

python3 cupy-sort.py FILE REPEATS -> {"version", "seconds", "deviceSeconds", "ok"}
"""

import json
import sys

import cupy as cp
import numpy as np
from timing import timed

keys = np.fromfile(sys.argv[1], dtype="<u4")
repeats = int(sys.argv[2])
seconds, result = timed(lambda: cp.asnumpy(cp.sort(cp.asarray(keys))), repeats)
on_device = cp.asarray(keys)
device = []
for _ in range(repeats):
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    cp.sort(on_device)
    end.record()
    end.synchronize()
    device.append(cp.cuda.get_elapsed_time(begin, end) / 1e3)
ok = bool((result[1:] >= result[:-1]).all() and result.sum(dtype="u8") == keys.sum(dtype="u8"))
print(json.dumps({"version": cp.__version__, "seconds": seconds, "deviceSeconds": device, "ok": ok}))
