"""Times calls of NumPy, CuPy and PyTorch, whichever are there, on the inputs of `clsort bench calls`.

python3 calls.py FOLDER REPEATS CHAIN WARM_UP_SECONDS PLACES OPERATIONS SKIPPED, lists with commas between words.

FOLDER has keys.u32, values.u32, few.u32, indices.u32 and segments.u32, and what each operation has to make: OPERATION.0 for
the first part of the result, and so on. Prints a line of JSON for each peer: {"peer", "version", "calls"} or {"peer", "missing"}.
A call is {"operation", "place", "seconds", "chained"?, "ok"}, or has "error" instead of times.

Times are wall time up to when the device is done. On 'device' inputs and results stay there, sums and counts too, where
clsort brings these to the host; on 'host' all come from NumPy arrays (for PyTorch: tensors in host memory) and go back.
"""

import json
import sys
import time

import numpy as np
from timing import timed

CHAIN_SECONDS = 0.25
CHAIN_BYTES = 2**30
SHORTEST_CHAIN = 4
TIMED_SHARE = 1 / 3  # of the seconds of a warm-up, which calls are timed for at least
SIGN_BIT = 1 << 31
QUARTILES = (0.25, 0.5, 0.75)
FIRST_OF_SEGMENT = 10  # keys that topKSegments takes from each

folder, repeats, most, warm_up = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
places, operations, skipped = (words.split(",") for words in sys.argv[5:8])
INPUTS = ("keys", "values", "few", "indices", "segments")
HOST = {name: np.fromfile(f"{folder}/{name}.u32", dtype="<u4") for name in INPUTS}
N = HOST["keys"].size

# Operations on rows of one length each; of the others that take rows, the last may be shorter.
ROWS = ("segmentedArgsort", "segmentedSortPairs", "topKSegments")

# What the parts of a result are. Positions may differ from ours where keys are equal: not all peers are stable. Places are
# positions that are counted from the beginning of each row. Halves are the positions of the keys up to the median, and of
# those behind it, in any order.
PARTS = {
    "sort": ("keys",),
    "argsort": ("positions",),
    "sortPairs": ("keys", "positions"),
    "lexsort": ("rows",),
    "topK": ("keys", "positions"),
    "unique": ("numbers", "numbers"),
    "uniqueInverse": ("numbers", "numbers", "numbers"),
    "intersect": ("numbers",),
    "union": ("numbers",),
    "difference": ("numbers",),
    "setXor": ("numbers",),
    "isIn": ("mask",),
    "mergeMany": ("keys",),
    "join": ("numbers", "numbers"),
    "nth": ("sum",),
    "quantile": ("number", "number", "number"),
    "argpartition": ("halves",),
    "reduce": ("sum",),
    "scan": ("sums",),
    "scanMax": ("keys",),
    "histogram": ("numbers",),
    "filter": ("keys",),
    "searchSorted": ("numbers",),
    "gather": ("keys",),
    "segmentedSort": ("keys",),
    "segmentedArgsort": ("places",),
    "segmentedSortPairs": ("keys", "positions"),
    "topKSegments": ("keys", "positions"),
    "sortMany": ("keys",),
}


class Inputs:
    """Inputs by their names, brought to where the peer works when they are asked for first."""

    def __init__(self, host, load):
        self._host = host
        self._load = load

    def __getattr__(self, name):
        array = self._load(self._host[name])
        setattr(self, name, array)
        return array


def split(operation):
    """'topK-100' -> ('topK', 100); no number for a mix of lengths."""
    name, _, parameter = operation.partition("-")
    return name, int(parameter) if parameter.isdigit() else None


class NumPy:
    name = "NumPy"
    places = ("host",)
    xp = np
    host = HOST
    version = np.__version__

    def load(self, array):
        return array

    def fetch(self, part):
        return np.asarray(part)

    def synchronize(self):
        pass

    def argsort(self, keys):
        """Of each row, if there are several."""
        return np.argsort(keys, kind="stable")

    def lexsort(self, last, first):
        return np.lexsort((last, first))

    def join(self, a):
        """Positions of the pairs of equal keys, in the order of the first ones."""
        order = self.argsort(a.values)
        partners = a.values[order]
        first = np.searchsorted(partners, a.indices)
        counts = np.searchsorted(partners, a.indices, side="right") - first
        left = np.repeat(np.arange(N), counts)
        begins = np.cumsum(counts) - counts
        return left, order[np.repeat(first - begins, counts) + np.arange(left.size)]

    def last(self, keys, k):
        """Positions of the k largest keys, in order."""
        found = np.argpartition(keys, N - k)[N - k :] if k < N else np.arange(N)
        return found[np.argsort(keys[found])]

    def last_of_rows(self, rows, k):
        """Places of the k largest keys of each row, in order."""
        found = np.argpartition(rows, rows.shape[1] - k, axis=1)[:, rows.shape[1] - k :]
        order = np.argsort(np.take_along_axis(rows, found, axis=1), axis=1)
        return np.take_along_axis(found, order, axis=1)

    def call(self, operation):
        """The operation as a function of inputs, or None where the peer has none."""
        xp = self.xp
        name, parameter = split(operation)
        k = min(parameter or 0, N)

        def pairs(a):
            order = self.argsort(a.keys)
            return a.keys[order], a.values[order]

        def top(a):
            order = self.last(a.keys, k)[::-1]
            return a.keys[order], order

        def rows(array):
            return array[: N - N % k].reshape(-1, k)

        def sorted_rows(a):
            whole = xp.sort(rows(a.keys), axis=1).reshape(-1)
            return (xp.concatenate((whole, xp.sort(a.keys[whole.size :]))) if N % k else whole,)

        def pairs_of_rows(a):
            order = self.argsort(rows(a.keys))
            return tuple(xp.take_along_axis(rows(array), order, axis=1).reshape(-1) for array in (a.keys, a.values))

        def top_of_rows(a):
            keys = rows(a.keys)
            order = self.last_of_rows(keys, FIRST_OF_SEGMENT)[:, ::-1]
            begins = xp.arange(0, N, k)[:, None]
            return xp.take_along_axis(keys, order, axis=1).reshape(-1), (begins + order).reshape(-1)

        if operation == "segmentedSort-zipf":
            return lambda a: (a.keys[self.lexsort(a.keys, a.segments)],)
        if "-" in operation and not k:
            return None
        if name in ROWS and N % k:
            return None
        return {
            "segmentedSort": sorted_rows,
            "sortMany": sorted_rows,
            "segmentedArgsort": lambda a: (self.argsort(rows(a.keys)).reshape(-1),),
            "segmentedSortPairs": pairs_of_rows,
            "topKSegments": top_of_rows,
            "mergeMany": lambda a: (xp.sort(xp.concatenate((a.values,) * parameter)),),
            "sort": lambda a: (xp.sort(a.keys),),
            "argsort": lambda a: (self.argsort(a.keys),),
            "sortPairs": pairs,
            "lexsort": lambda a: (self.lexsort(a.keys, a.few),),
            "topK": top,
            "unique": lambda a: xp.unique(a.few, return_counts=True),
            "uniqueInverse": lambda a: xp.unique(a.few, return_index=True, return_inverse=True),
            "intersect": lambda a: (xp.intersect1d(a.indices, a.keys),),
            "union": lambda a: (xp.union1d(a.indices, a.keys),),
            "difference": lambda a: (xp.setdiff1d(a.indices, a.keys),),
            "setXor": lambda a: (xp.setxor1d(a.indices, a.keys),),
            "isIn": lambda a: (xp.isin(a.keys, a.few),),
            "quantile": lambda a: tuple(xp.quantile(a.keys, QUARTILES)),
            "argpartition": lambda a: (xp.argpartition(a.keys, N >> 1),),
            "join": self.join,
            "nth": lambda a: (xp.partition(a.keys, N >> 1)[N >> 1],),
            "reduce": lambda a: (a.keys.sum(dtype="u8"),),
            "scan": lambda a: (xp.cumsum(a.keys, dtype="u4"),),
            "scanMax": lambda a: (xp.maximum.accumulate(a.keys),),
            "histogram": lambda a: (xp.histogram(a.keys, bins=256, range=(0, 2**32))[0],),
            "filter": lambda a: (a.keys[a.keys < SIGN_BIT],),
            "searchSorted": lambda a: (xp.searchsorted(a.values, a.indices),),
            "gather": lambda a: (xp.take(a.keys, a.indices),),
        }.get(name)

    def plain(self, kind, part):
        """A part of a result as clsort has it."""
        return part


class CuPy(NumPy):
    name = "CuPy"
    places = ("device", "host")
    join = None  # its repeat takes no array of counts

    def __init__(self):
        import cupy

        cupy.cuda.runtime.getDeviceCount()  # fails where there is none
        self.xp = cupy
        self.version = cupy.__version__

    def load(self, array):
        return self.xp.asarray(array)

    def fetch(self, part):
        return self.xp.asnumpy(part)

    def synchronize(self):
        self.xp.cuda.get_current_stream().synchronize()

    def argsort(self, keys):
        return self.xp.argsort(keys)  # always stable

    def lexsort(self, last, first):
        return self.xp.lexsort(self.xp.stack((last, first)))

    def last(self, keys, k):
        return self.argsort(keys)[N - k :]  # its argpartition sorts all keys, too

    def last_of_rows(self, rows, k):
        return self.argsort(rows)[:, rows.shape[1] - k :]


class PyTorch:
    """PyTorch sorts no u32, so keys are i32 of the same order: as many bits, and the same work."""

    def __init__(self, device):
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("PyTorch has no CUDA device")
        self.torch = torch
        self.device = device
        self.name = "PyTorch on CUDA" if device == "cuda" else "PyTorch on the CPU"
        self.places = ("device", "host") if device == "cuda" else ("host",)
        self.version = torch.__version__
        arrays = {
            "keys": (HOST["keys"] ^ np.uint32(SIGN_BIT)).view("<i4"),
            "values": HOST["values"].view("<i4"),
            "few": HOST["few"].view("<i4"),
            "indices": HOST["indices"].astype("<i8"),
            "segments": HOST["segments"].view("<i4"),
        }
        self.host = {name: torch.from_numpy(array) for name, array in arrays.items()}

    def load(self, array):
        return array.to(self.device)

    def fetch(self, part):
        return part.to("cpu")

    def synchronize(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def call(self, operation):
        torch = self.torch
        name, parameter = split(operation)
        k = min(parameter or 0, N)

        def pairs(a):
            keys, order = torch.sort(a.keys, stable=True)
            return keys, a.values[order]

        def by_few_and_keys(a):
            order = torch.sort(a.keys, stable=True).indices
            return (order[torch.sort(a.few[order], stable=True).indices],)

        def mixed_segments(a):
            keys, order = torch.sort(a.keys, stable=True)
            return (keys[torch.sort(a.segments[order], stable=True).indices],)

        def rows(array):
            return array[: N - N % k].view(-1, k)

        def sorted_rows(a):
            whole = torch.sort(rows(a.keys), dim=1).values.view(-1)
            return (torch.cat((whole, torch.sort(a.keys[N - N % k :]).values)) if N % k else whole,)

        def pairs_of_rows(a):
            keys, order = torch.sort(rows(a.keys), dim=1, stable=True)
            return keys.reshape(-1), torch.gather(rows(a.values), 1, order).view(-1)

        def top_of_rows(a):
            keys, order = torch.topk(rows(a.keys), FIRST_OF_SEGMENT, dim=1)
            begins = torch.arange(0, N, k, device=self.device)[:, None]
            return keys.reshape(-1), (begins + order).view(-1)

        if operation == "segmentedSort-zipf":
            return mixed_segments
        if "-" in operation and not k:
            return None
        if name in ROWS and N % k:
            return None
        return {
            "segmentedSort": sorted_rows,
            "sortMany": sorted_rows,
            "segmentedArgsort": lambda a: (torch.sort(rows(a.keys), dim=1, stable=True).indices.reshape(-1),),
            "segmentedSortPairs": pairs_of_rows,
            "topKSegments": top_of_rows,
            "sort": lambda a: (torch.sort(a.keys).values,),
            "argsort": lambda a: (torch.sort(a.keys, stable=True).indices,),
            "sortPairs": pairs,
            "lexsort": by_few_and_keys,
            "topK": lambda a: tuple(torch.topk(a.keys, k)),
            "unique": lambda a: torch.unique(a.few, return_counts=True),
            "reduce": lambda a: (torch.sum(a.keys, dtype=torch.int64),),
            "scan": lambda a: (torch.cumsum(a.keys, 0, dtype=torch.int32),),
            "scanMax": lambda a: (torch.cummax(a.keys, 0).values,),
            "histogram": lambda a: (torch.bincount((a.keys >> 24) + 128, minlength=256),),
            "filter": lambda a: (a.keys[a.keys < 0],),
            "searchSorted": lambda a: (torch.searchsorted(a.values.long(), a.indices),),
            "gather": lambda a: (torch.index_select(a.keys, 0, a.indices),),
        }.get(name)

    def plain(self, kind, part):
        # Each key is less by 2^31 than ours, and so are sums by as many times that as keys are in them.
        array = part.numpy()
        if kind == "keys":
            return array.view("<u4") ^ np.uint32(SIGN_BIT)
        if kind == "sum":
            return int(array) + N * SIGN_BIT
        if kind == "sums":
            odd = (np.arange(1, N + 1) & 1).astype("<u4")
            return array.view("<u4") + odd * np.uint32(SIGN_BIT)
        return array


def is_part_right(kind, part, file, length):
    """Is a part of a result what the file has? `length` is that of rows, for places in them."""
    if kind == "sum":
        with open(file, encoding="ascii") as text:
            return int(part) == int(text.read())
    if kind == "number":
        with open(file, encoding="ascii") as text:
            return bool(np.isclose(float(part), float(text.read()), rtol=1e-12))
    wanted = np.fromfile(file, dtype="u1" if kind == "mask" else "<u4")
    if part.size != wanted.size:
        return False
    if kind == "halves":
        keys, middle = HOST["keys"][part], N >> 1
        pivot = HOST["keys"][wanted[middle]]
        separated = (keys[:middle] <= pivot).all() and keys[middle] == pivot and (keys[middle:] >= pivot).all()
        return bool(separated) and np.unique(part).size == N
    if kind == "places":
        begins = np.arange(N) // length * length
        if (part < 0).any() or (part >= length).any():
            return False
        part, wanted = begins + part, begins + wanted
    if kind in ("positions", "rows", "places"):
        by = HOST["keys"].astype("<u8")
        if kind == "rows":
            by += HOST["few"].astype("<u8") << np.uint64(32)
        positions = part.astype("<i8")
        return bool((by[positions] == by[wanted]).all()) and np.unique(positions).size == wanted.size
    return bool((part.astype("<u4") == wanted).all())


def is_right(peer, operation, parts):
    name, length = split(operation)
    kinds = PARTS[name]
    plain = [peer.plain(kind, peer.fetch(part)) for kind, part in zip(kinds, parts)]
    return len(parts) == len(kinds) and all(
        is_part_right(kind, part, f"{folder}/{operation}.{i}", length)
        for i, (kind, part) in enumerate(zip(kinds, plain))
    )


def measure(peer, operation, place):
    call = peer.call(operation)
    if call is None:
        return None
    resident = Inputs(peer.host, peer.load)

    def once():
        if place == "device":
            result = call(resident)
            peer.synchronize()
            return result
        return tuple(peer.fetch(part) for part in call(Inputs(peer.host, peer.load)))

    about = {"operation": operation, "place": place}
    try:
        min_seconds = warm_up * TIMED_SHARE
        seconds, result = timed(once, repeats, warm_up, min_seconds)
        answer = {**about, "seconds": seconds}
        ok = is_right(peer, operation, result)
        if place == "device":
            size = 1 + sum(getattr(part, "nbytes", 0) for part in result)
            fitting = min(CHAIN_SECONDS / sorted(seconds)[len(seconds) // 2], CHAIN_BYTES / size)
            length = min(most, max(SHORTEST_CHAIN, int(fitting)))
            chained = []
            while len(chained) < repeats + 1 or sum(chained) * length < min_seconds:
                start = time.perf_counter()
                results = [call(resident) for _ in range(length)]  # all there at the end, as those of clsort are
                peer.synchronize()
                chained.append((time.perf_counter() - start) / length)
                result = results.pop()
                del results
            answer["chained"] = chained[1:]  # the first one finds no memory in the pool
            ok = ok and is_right(peer, operation, result)
        return {**answer, "ok": ok}
    except Exception as error:  # one operation that a version lacks is no reason to leave the others out
        return {**about, "error": f"{type(error).__name__}: {error}"}


PEERS = {
    "NumPy": NumPy,
    "CuPy": CuPy,
    "PyTorch on the CPU": lambda: PyTorch("cpu"),
    "PyTorch on CUDA": lambda: PyTorch("cuda"),
}
for name, opened in PEERS.items():
    if name.lower() in skipped:
        continue
    try:
        peer = opened()
    except Exception as error:
        print(json.dumps({"peer": name, "missing": str(error).strip().partition("\n")[0]}), flush=True)
        continue
    measured = [
        measure(peer, operation, place) for operation in operations for place in places if place in peer.places
    ]
    calls = [one for one in measured if one is not None]
    print(json.dumps({"peer": name, "version": peer.version, "calls": calls}), flush=True)
