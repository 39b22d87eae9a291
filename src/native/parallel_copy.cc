#include <algorithm>
#include <cstring>
#include <vector>

#include "policy.h"
#include "thread_pool.h"
#include "wait.h"

namespace clsort {

namespace {

/** Copy between host memories; if several have the same destination, one of them holds its store. */
struct Copy {
  std::shared_ptr<v8::BackingStore> from_store, to_store;
  const char* from;
  char* to;
  size_t bytes;
};

/** Copies by several threads, which divide all bytes as if they were contiguous. */
class ParallelCopy final : public PromiseJob {
 public:
  ParallelCopy(const char* name, Environment& environment, std::vector<Copy> copies, unsigned threads)
      : PromiseJob(name), environment_(environment), copies_(std::move(copies)), threads_(threads) {
    size_t end = 0;
    for (const Copy& copy : copies_) ends_.push_back(end += copy.bytes);
  }

  void Run() override {
    const size_t all = ends_.empty() ? 0 : ends_.back();
    ParallelForRanges(environment_, threads_, all, kCopyBytes,
                      [&](size_t first, size_t bytes) { Move(first, first + bytes); });
  }

 private:
  /** Copies bytes [begin, end) of all bytes. */
  void Move(size_t begin, size_t end) {
    size_t i = std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
    for (size_t at = begin; at < end; i++) {
      const Copy& copy = copies_[i];
      size_t skipped = at - (ends_[i] - copy.bytes), length = std::min(end, ends_[i]) - at;
      std::memmove(copy.to + skipped, copy.from + skipped, length);
      at += length;
    }
  }

  Environment& environment_;  // waits for its jobs before it ends
  const std::vector<Copy> copies_;
  /** End of each copy in the sequence of all bytes. */
  std::vector<size_t> ends_;
  const unsigned threads_;
};

CLSORT_EXPORT(copyAsync, "copyAsync") {
  // First, because reading elements runs JavaScript, which may detach memory.
  auto from = call.Elements(0), to = call.Elements(1);
  unsigned threads = call.Threads(2);
  if (!call.ok()) return;
  if (from.size() != to.size())
    return (void)call.FailArgument(1, CL_INVALID_VALUE, std::to_string(from.size()) + " destinations",
                                   std::to_string(to.size()));
  std::vector<Copy> copies;
  copies.reserve(from.size());
  size_t all = 0;
  for (size_t i = 0; i < from.size(); i++) {
    HostMemory source = call.LastingMemory(from[i], 0, CL_INVALID_VALUE);
    HostMemory target = call.LastingMemory(to[i], source.bytes, CL_INVALID_VALUE);
    if (!call.ok()) return;
    if (source.bytes == 0) continue;  // its pointer may be null
    // The same memory may occur many times.
    if (source.bytes > SIZE_MAX - kCopyBytes - all)
      return (void)call.Fail(CL_INVALID_VALUE, "expected fewer than 2^64 bytes but got more");
    all += source.bytes;
    copies.push_back({source.store, target.store, static_cast<const char*>(source.data),
                      static_cast<char*>(target.data), source.bytes});
  }
  StartPromise(call, std::make_unique<ParallelCopy>("copyAsync", call.environment(), std::move(copies), threads),
               nullptr);
}

/** Concatenates many pieces of memory. Destinations follow from the sources, because there may be tens of thousands. */
CLSORT_EXPORT(joinAsync, "joinAsync") {
  auto from = call.Elements(0);  // first, as in CopyAsync; the rest runs no JavaScript
  HostMemory target = call.LastingMemory(1, 0);
  unsigned threads = call.Threads(2);
  if (!call.ok()) return;
  std::vector<Copy> copies;
  copies.reserve(from.size());
  char* to = static_cast<char*>(target.data);
  size_t left = target.bytes;
  for (size_t i = 0; i < from.size(); i++) {
    HostMemory source;
    if (!HostMemory::Of(from[i], &source)) {
      call.SetSubject("element", i + 1);
      return (void)call.FailValue(CL_INVALID_VALUE, "a Buffer, a typed array, a DataView or an ArrayBuffer", from[i]);
    }
    call.environment().mappings().Claim(&source);
    if (source.bytes > left) {
      return (void)call.FailArgument(1, CL_INVALID_VALUE, "memory that holds all elements",
                                     std::to_string(target.bytes) + " bytes");
    }
    if (source.bytes == 0) continue;
    if (source.resizable) {
      std::memmove(to, source.data, source.bytes);  // it may shrink as soon as the program continues
    } else {
      copies.push_back({std::move(source.store), copies.empty() ? target.store : nullptr,
                        static_cast<const char*>(source.data), to, source.bytes});
    }
    to += source.bytes;
    left -= source.bytes;
  }
  if (left > 0) {
    return (void)call.FailArgument(1, CL_INVALID_VALUE, std::to_string(target.bytes - left) + " bytes",
                                   std::to_string(target.bytes));
  }
  StartPromise(call, std::make_unique<ParallelCopy>("joinAsync", call.environment(), std::move(copies), threads),
               nullptr);
}

}  // namespace

}  // namespace clsort
