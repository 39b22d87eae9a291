"""How the peers in Python are timed: as scripts/bench-peers.ts times ours."""

import time

WARM_UP_SECONDS = 1


def timed(sort, repeats, warm_up=WARM_UP_SECONDS, min_seconds=0):
    """Sorts for a while, and once at least, which loads and compiles what it takes; then times `repeats` sorts.

    Short ones are timed for `min_seconds` seconds, however many they are.

    Returns their seconds and the last result.
    """
    begin = time.perf_counter()
    while True:
        sort()
        if time.perf_counter() - begin > warm_up:
            break
    seconds = []
    sum_of_all = 0
    while len(seconds) < repeats or sum_of_all < min_seconds:
        start = time.perf_counter()
        result = sort()
        seconds.append(time.perf_counter() - start)
        sum_of_all += seconds[-1]
    return seconds, result
