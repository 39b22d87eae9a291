#ifndef CLSORT_NATIVE_CREW_H_
#define CLSORT_NATIVE_CREW_H_

#include <functional>

#include "environment.h"

namespace clsort {

/**
 * Runs `work` on this thread and, at the same time, on up to `threads - 1` others of the environment that are free to
 * come, and returns when all are done. Whoever comes takes what is left to do: none but this thread may come at all.
 * The others stay for the next crew, since making a thread takes as long as copying a few hundred kilobytes.
 */
void InCrew(Environment& environment, unsigned threads, const std::function<void()>& work);

}  // namespace clsort

#endif  // CLSORT_NATIVE_CREW_H_
