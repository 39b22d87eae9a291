#ifndef CLSORT_NATIVE_HOST_THREADS_H_
#define CLSORT_NATIVE_HOST_THREADS_H_

#include <cstddef>
#include <functional>

namespace clsort::host {

/** Threads of one computation of the host engine. */
class Threads {
 public:
  virtual ~Threads() = default;
  /** Number of threads, at least 1. */
  virtual unsigned count() const = 0;
  /** Calls `work(i)` for i from 0 to n - 1, in any order; returns when all calls have returned. */
  virtual void For(size_t n, const std::function<void(size_t)>& work) = 0;
  /** Whether the computation shall end early, with an undefined result. */
  virtual bool stopped() const = 0;
};

}  // namespace clsort::host

#endif  // CLSORT_NATIVE_HOST_THREADS_H_
