#pragma once

#include <memory>
#include <utility>

#include "wait.h"

namespace clsort {

/** Host memory and the store that keeps it alive, for other threads. */
struct HostSpan {
  HostSpan() = default;
  explicit HostSpan(const HostMemory& memory)
      : store(memory.store), data(static_cast<char*>(memory.data)), bytes(memory.bytes) {}

  std::shared_ptr<v8::BackingStore> store;
  char* data = nullptr;
  size_t bytes = 0;
};

/** Job that calls a function. */
template <typename Work>
class WorkJob final : public PromiseJob {
 public:
  WorkJob(const char* name, Work work) : PromiseJob(name), work_(std::move(work)) {}
  void Run() override { work_(); }

 private:
  Work work_;
};

/** Calls `work` on another thread, and returns a promise of its end. The environment waits for its jobs before it ends. */
template <typename Work>
void StartWork(Call& call, const char* name, Work work) {
  StartPromise(call, std::make_unique<WorkJob<Work>>(name, std::move(work)), nullptr);
}

}  // namespace clsort
