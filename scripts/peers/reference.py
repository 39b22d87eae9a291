"""Computes what an operation returns for random cases, with NumPy.

python3 reference.py FOLDER OPERATION

FOLDER has in.json, a list of cases [dtype, number of keys, number of others, random number], and in.bin, the keys and others
of each case. Writes out.bin, the results, and out.json, the bytes of each result of each case.

NumPy has no bf16: these keys become f32, which holds all of them, and results of f32 become bf16 again.
"""

import json
import sys

import numpy as np

METHODS = ("linear", "lower", "higher", "nearest", "midpoint")
NO_PARTNER = 2**32 - 1
MOST_JOINED = (1000, 300)  # keys of either array: the join compares all of them


def with_equal_nans(operation):
    """The sets of NumPy treat every NaN as different. They see a number instead that neither array has."""

    def apply(a, b):
        if a.dtype.kind != "f":
            return operation(a, b)
        number = a.dtype.type(77.5)
        while number in a or number in b:
            number = number + a.dtype.type(1)
        found = operation(*(np.where(np.isnan(x), number, x) for x in (a, b)))
        if found.dtype.kind != "f":
            return found
        return np.sort(np.where(found == number, a.dtype.type(np.nan), found))

    return apply


def unique(a, b, number):
    keys, index, inverse, counts = np.unique(a, True, True, True)
    return [keys, *(one.astype("<u4") for one in (counts, index, inverse))]


def numbers_of(a):
    """The keys that are numbers; a zero if there are none."""
    found = a[~np.isnan(a)] if a.dtype.kind == "f" else a
    return found if found.size else np.zeros(1, a.dtype)


def interpolated(keys, q, found, weight):
    """The quantile that NumPy found; beside an infinity and where the distance is no double, what its neighbours make."""
    if weight is None or np.isfinite(found):
        return found
    low, high = (np.quantile(keys, q, method=m) for m in ("lower", "higher"))
    return low if low == high else low * (1 - weight) + high * weight


def quantile(a, b, number):
    keys = numbers_of(a)
    doubles, q = keys.astype("f8"), number % 101 / 100
    weights = {"linear": q * (len(keys) - 1) % 1, "midpoint": 0.5}
    found = {m: np.quantile(doubles, q, method=m) for m in METHODS}
    return [keys, np.array([interpolated(doubles, q, found[m], weights.get(m)) for m in METHODS])]


def median(a, b, number):
    keys = numbers_of(a)
    doubles = keys.astype("f8")
    return [keys, np.array([interpolated(doubles, 0.5, np.median(doubles), 0.5)])]


def nth(a, b, number):
    n = len(a)
    return [np.sort(a)[[number % n, 0, n - 1, n // 2]]]


def argpartition(a, b, number):
    """For each key, how many are less than it."""
    return [np.searchsorted(np.sort(a), a).astype("<u4")]


def join(a, b, number):
    a, b = (x[:most] for x, most in zip((a, b), MOST_JOINED))
    equal = a[:, None] == b[None, :]
    if a.dtype.kind == "f":
        equal |= np.isnan(a)[:, None] & np.isnan(b)[None, :]
    some = equal.any(axis=1)
    left, right = np.nonzero(equal)
    alone = np.nonzero(~some)[0]
    both = np.concatenate((left, alone))
    order = np.argsort(both, kind="stable")
    partners = np.concatenate((right, np.full(alone.size, NO_PARTNER)))
    pairs = (left, right, both[order], partners[order], np.nonzero(some)[0], alone)
    return [one.astype("<u4") for one in pairs]


def of_sets(operation):
    return lambda a, b, number: [with_equal_nans(operation)(a, b)]


OPERATIONS = {
    "unique": unique,
    "quantile": quantile,
    "median": median,
    "nth": nth,
    "argpartition": argpartition,
    "isIn": of_sets(lambda a, b: np.isin(a, b).astype("u1")),
    "intersect": of_sets(np.intersect1d),
    "union": of_sets(np.union1d),
    "difference": of_sets(np.setdiff1d),
    "setXor": of_sets(np.setxor1d),
    "join": join,
}


def decoded(bits, dtype):
    return (bits.astype("u4") << 16).view("f4") if dtype == "bf16" else bits


def encoded(result, dtype):
    if dtype == "bf16" and result.dtype == np.float32:
        return (result.view("u4") >> 16).astype("u2")
    return result


def main(folder, name):
    np.seterr(all="ignore")
    with open(f"{folder}/in.json") as file:
        cases = json.load(file)
    with open(f"{folder}/in.bin", "rb") as file:
        data = file.read()
    at, sizes = 0, []
    with open(f"{folder}/out.bin", "wb") as out:
        for dtype, n, m, number in cases:
            stored = np.dtype("<u2" if dtype == "bf16" else f"<{dtype[0]}{int(dtype[1:]) // 8}")
            a = decoded(np.frombuffer(data, stored, n, at), dtype)
            b = decoded(np.frombuffer(data, stored, m, at + n * stored.itemsize), dtype)
            at += (n + m) * stored.itemsize
            results = [np.ascontiguousarray(encoded(one, dtype)).tobytes() for one in OPERATIONS[name](a, b, number)]
            sizes.append([len(one) for one in results])
            out.writelines(results)
    with open(f"{folder}/out.json", "w") as file:
        json.dump(sizes, file)


main(*sys.argv[1:])
