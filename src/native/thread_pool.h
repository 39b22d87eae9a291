#ifndef CLSORT_NATIVE_THREAD_POOL_H_
#define CLSORT_NATIVE_THREAD_POOL_H_

#include <cstddef>
#include <functional>

#include "environment.h"

namespace clsort {

/** Threads that a crew may have. */
constexpr unsigned kMaxPoolThreads = 64;

/**
 * Runs `work(i)` for i from 0 to count - 1, begun in this order, on this thread and on up to `threads - 1` others of the
 * environment that are free to come; returns when all is done. None but this thread may come at all. The others stay
 * for the next crew, since making a thread takes as long as copying a few hundred kilobytes.
 */
void ParallelFor(Environment& environment, unsigned threads, size_t count, const std::function<void(size_t)>& work);

/** Pieces of so many each that make up all; the last one may be smaller. */
constexpr size_t CeilDivide(size_t all, size_t each) { return (all + each - 1) / each; }

/** The same piece by piece: `work(first, count)` is given where a piece begins among all, and how many it has. */
void ParallelForRanges(Environment& environment, unsigned threads, size_t all, size_t each,
                       const std::function<void(size_t first, size_t count)>& work);

}  // namespace clsort

#endif  // CLSORT_NATIVE_THREAD_POOL_H_
