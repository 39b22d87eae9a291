/** The program, in Python, of a process that measures the first calls of NumPy or CuPy. */
export const PEER_PROGRAM = `
import importlib, importlib.util, json, sys, time
library, operation, dtype, n, distinct, calls, source = sys.argv[1:8]
n, calls = int(n), int(calls)
if importlib.util.find_spec(library) is None:
    print(json.dumps({"missing": library}))
    sys.exit()
now = time.perf_counter
started = now()
import numpy as np
xp = importlib.import_module(library)
imported = now() - started
RUNS = {
    "sort": lambda keys: [xp.sort(keys)],
    "argsort": lambda keys: [xp.argsort(keys)],
    "unique": lambda keys: xp.unique(keys, return_counts=True),
    "topK": lambda keys: [xp.sort(xp.partition(keys, keys.size - 100)[keys.size - 100:])[::-1]],
    "segmentedSort": lambda keys: [xp.sort(keys.reshape(-1, 1000), axis=1)],
    "scan": lambda keys: [xp.cumsum(keys)],
    "reduce": lambda keys: [xp.sum(keys)],
}
run = RUNS[operation]
def call(keys):
    parts = run(xp.asarray(keys))
    return [part.get() if library == "cupy" else part for part in parts]
if source:
    (part, *_) = call(np.fromfile(source, dtype=dtype))
    np.asarray(part).tofile(source + ".out")
    sys.exit()
random = np.random.default_rng(1)
keys = random.random(n) if dtype == "f8" else random.integers(0, int(distinct) or 2**32, n, dtype=np.uint32)
times = []
for i in range(calls):
    started = now()
    parts = call(keys)
    times.append(now() - started)
xp = np
expected = run(keys)
if operation == "argsort":
    parts, expected = [keys[parts[0]]], [keys[expected[0]]]
ok = all(np.array_equal(a, b) for a, b in zip(parts, expected))
print(json.dumps({"import": imported, "first": times[0], "second": times[1], "last": times[-1], "ok": bool(ok)}))
`;
