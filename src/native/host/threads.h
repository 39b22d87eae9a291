#pragma once

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

/** One of the threads of a computation. */
class OneThread final : public Threads {
 public:
  explicit OneThread(const Threads& all) : all_(all) {}
  unsigned count() const override { return 1; }
  void For(size_t n, const std::function<void(size_t)>& work) override {
    for (size_t i = 0; i < n; i++) work(i);
  }
  bool stopped() const override { return all_.stopped(); }

 private:
  const Threads& all_;
};

}  // namespace clsort::host
