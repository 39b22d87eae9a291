"""Times torch.sort of a raw file of u32 keys, from tensor to tensor in host memory and on the device alone.

PyTorch has no sort of u32, so the keys are taken as i32: as many bits, and the same work. torch.sort always
makes positions of 64 bits too, which stay where they are.

python3 torch-sort.py FILE REPEATS cpu|cuda -> {"version", "seconds", "deviceSeconds"?, "ok"}
"""

import json
import sys

import numpy as np
import torch
from timing import timed

keys = torch.from_numpy(np.fromfile(sys.argv[1], dtype="<i4"))
repeats = int(sys.argv[2])
place = sys.argv[3]


def end_to_end():
    return torch.sort(keys.to(place)).values.to("cpu")


seconds, result = timed(end_to_end, repeats)
answer = {"version": torch.__version__, "seconds": seconds}
if place == "cuda":
    on_device = keys.to(place)
    device = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        torch.sort(on_device)
        end.record()
        end.synchronize()
        device.append(begin.elapsed_time(end) / 1e3)
    answer["deviceSeconds"] = device
ordered = bool((result[1:] >= result[:-1]).all())
answer["ok"] = ordered and int(result.sum(dtype=torch.int64)) == int(keys.sum(dtype=torch.int64))
print(json.dumps(answer))
