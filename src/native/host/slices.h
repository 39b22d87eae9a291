#pragma once

#include <algorithm>
#include <cstddef>

#include "../ceil_divide.h"
#include "threads.h"

namespace clsort::host {

/** Elements that a thread processes at a time: at most about a tenth of a millisecond of work for most operations. */
constexpr size_t kSlice = size_t{1} << 16;

constexpr size_t SlicesOf(size_t n) { return CeilDivide(n, kSlice); }

/** Calls `work(slice, first, last)` for each slice of n elements, on several threads; skips the others when stopped. */
template <typename Work>
void ForSlices(size_t n, Threads& threads, const Work& work) {
  threads.For(SlicesOf(n), [&](size_t slice) {
    if (threads.stopped()) return;
    work(slice, slice * kSlice, std::min((slice + 1) * kSlice, n));
  });
}

/** Returns the number of tasks of `ForTasks`. */
inline size_t TasksOf(size_t n, const Threads& threads) { return std::min<size_t>(threads.count(), SlicesOf(n)); }

/** Calls `work(task, first, last)` for each slice. Each task runs on one thread, so that it can have its own memory. */
template <typename Work>
void ForTasks(size_t n, Threads& threads, const Work& work) {
  const size_t tasks = TasksOf(n, threads), slices = SlicesOf(n);
  threads.For(tasks, [&](size_t task) {
    for (size_t slice = task; slice < slices && !threads.stopped(); slice += tasks) {
      work(task, slice * kSlice, std::min((slice + 1) * kSlice, n));
    }
  });
}

}  // namespace clsort::host
