#pragma once

#include <cstddef>
#include <functional>

#include "ceil_divide.h"
#include "environment.h"

namespace clsort {

/** Maximum number of threads of a parallel loop. */
constexpr unsigned kMaxPoolThreads = 64;

/**
 * Runs `work(i)` for i from 0 to count - 1, started in this order, on this thread and on up to `threads - 1` free pool
 * threads; returns when all calls have returned. Possibly no pool thread is free. Threads are reused, because creating
 * one takes as long as copying a few hundred kilobytes.
 */
void ParallelFor(Environment& environment, unsigned threads, size_t count, const std::function<void(size_t)>& work);

/** Like `ParallelFor` over pieces: `work(first, count)` gets the start of a piece and its size. */
void ParallelForRanges(Environment& environment, unsigned threads, size_t all, size_t each,
                       const std::function<void(size_t first, size_t count)>& work);

}  // namespace clsort
