"""How the peers in Python are timed: as scripts/bench-peers.ts times ours."""

import time

WARM_UP_SECONDS = 1


def timed(sort, repeats, warm_up=WARM_UP_SECONDS):
    """Sorts for a while, and once at least, which loads and compiles what it takes; then times `repeats` sorts.

    Returns their seconds and the last result.
    """
    begin = time.perf_counter()
    while True:
        sort()
        if time.perf_counter() - begin > warm_up:
            break
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = sort()
        seconds.append(time.perf_counter() - start)
    return seconds, result
