#pragma once

#include <memory>
#include <utility>

#include "../thread_pool.h"
#include "../wait.h"
#include "threads.h"

namespace clsort::host {

/** Threads of the environment's pool, and the word by which JavaScript ends a computation. */
class PoolThreads final : public Threads {
 public:
  PoolThreads(Environment& environment, unsigned count, const int32_t* stop)
      : environment_(environment), count_(count), stop_(stop) {}
  unsigned count() const override { return count_; }
  void For(size_t n, const std::function<void(size_t)>& work) override { ParallelFor(environment_, count_, n, work); }
  bool stopped() const override { return stop_ && __atomic_load_n(stop_, __ATOMIC_RELAXED) != 0; }

 private:
  Environment& environment_;
  const unsigned count_;
  const int32_t* const stop_;
};

/** Memory of an optional argument, which lives as long as this. */
struct Memory {
  bool given = false;
  char* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<v8::BackingStore> store;

  void Read(Call& call, int i, size_t bytes_needed) {
    if (!call.Has(i)) return;
    HostMemory memory = call.LastingMemory(i, bytes_needed);
    given = true;
    data = static_cast<char*>(memory.data);
    bytes = memory.bytes;
    store = std::move(memory.store);
  }
};

/**
 * Job that runs a computation on the environment's pool. The first arguments of its function are the number of threads,
 * and the word that ends it.
 *
 * `Work::Read(call)` reads the other arguments, throws if one is invalid and returns whether all are valid.
 * `Work::Run(threads)` computes and returns whether there was enough memory.
 */
template <typename Work>
class HostJob final : public PromiseJob {
 public:
  /** Function of JavaScript that starts a job and returns a promise. */
  static void Start(const Nan::FunctionCallbackInfo<v8::Value>& info) {
    Call call(info, Work::kName);
    auto job = std::make_unique<HostJob>(call.environment());
    job->thread_count_ = call.Threads(0);
    job->stop_.Read(call, 1, sizeof(int32_t));
    if (job->work_.Read(call)) StartPromise(call, std::move(job), nullptr);
  }
  explicit HostJob(Environment& environment) : PromiseJob(Work::kName), environment_(environment) {}

  void Run() override {
    PoolThreads threads(environment_, thread_count_, reinterpret_cast<const int32_t*>(stop_.data));
    if (!work_.Run(threads)) status_ = CL_OUT_OF_HOST_MEMORY;
  }

 private:
  Environment& environment_;  // waits for its jobs before it ends
  unsigned thread_count_ = 1;
  Memory stop_;
  Work work_;
};

/** Exports a function for each kind of work. */
template <typename... Works>
struct ExportedJobs {
  const Export exports[sizeof...(Works)] = {{Works::kName, Export::Invoke<HostJob<Works>::Start>}...};
};

}  // namespace clsort::host
