"""Times numpy.sort on a raw file of u32 keys: python3 numpy-sort.py FILE REPEATS → {"version", "seconds", "ok"}."""

import json
import sys
import time

import numpy as np

keys = np.fromfile(sys.argv[1], dtype="<u4")
begin = time.perf_counter()
while True:
    np.sort(keys)
    if time.perf_counter() - begin > 0.25:
        break
seconds = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    result = np.sort(keys)
    seconds.append(time.perf_counter() - start)
ok = bool((result[1:] >= result[:-1]).all() and result.sum(dtype="u8") == keys.sum(dtype="u8"))
print(json.dumps({"version": np.__version__, "seconds": seconds, "ok": ok}))
