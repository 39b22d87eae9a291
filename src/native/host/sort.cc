#include <string>
#include <type_traits>

#include "../host_keys.h"
#include "../thread_pool.h"
#include "../wait.h"
#include "gather.h"
#include "radix_sort.h"

namespace clsort {

namespace {

using host::LargeMemory;
using host::None;
using host::RadixSort;
using host::SortArguments;

/** Bytes of the longest value that moves with its key; longer ones are gathered by positions. */
constexpr size_t kMaxPayload = sizeof(uint64_t);

/** Threads of the environment's pool, and the word by which JavaScript ends a computation. */
class PoolThreads final : public host::Threads {
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

/** Memory and parameters of one sort. */
struct Sort {
  Memory keys, sorted, values, moved, offsets, stop;
  size_t width = 0, value_bytes = 0;
  uint64_t codec[kCodecWords];
  bool from_segment = false;
  unsigned threads = 1;

  /** Reads the arguments; throws if one is invalid. @return whether all are valid */
  bool Read(Call& call);
  /** @return whether there was enough memory */
  bool Run(host::Threads& threads) const;

 private:
  template <typename Key>
  bool RunWith(host::Threads& threads) const;
};

bool Sort::Read(Call& call) {
  keys.Read(call, 0, 0);
  width = call.Size(1);
  HostMemory words = call.Memory(2, sizeof codec);
  if (!call.ok() || !CheckKeys(call, keys.bytes, width)) return false;
  const size_t n = keys.bytes / width;
  sorted.Read(call, 3, keys.bytes);
  values.Read(call, 4, 0);
  value_bytes = call.SizeOr0(5);
  moved.Read(call, 6, 0);
  offsets.Read(call, 7, 0);
  from_segment = call.Bool(8);
  threads = call.Threads(9);
  stop.Read(call, 10, sizeof(int32_t));
  if (!call.ok()) return false;
  std::memcpy(codec, words.data, sizeof codec);
  if (!moved.given && !sorted.given) return call.Fail(CL_INVALID_VALUE, "expected a destination but got none");
  if (moved.given) {
    const size_t longest = values.given ? 2 * kMaxPayload : kMaxPayload;
    const bool valid = values.given ? value_bytes >= 1 && value_bytes <= longest : value_bytes == 4 || value_bytes == 8;
    if (!valid) return call.Fail(CL_INVALID_VALUE, "expected values of 1 to 16 bytes, or positions of 4 or 8 bytes");
    if (moved.bytes / value_bytes < n || (values.given && values.bytes / value_bytes < n)) {
      return call.Fail(CL_INVALID_VALUE, "expected a value for each of " + std::to_string(n) + " keys");
    }
    const bool by_positions = values.given ? value_bytes > kMaxPayload : value_bytes == 4;
    if (by_positions && n > UINT32_MAX) {
      return call.Fail(CL_INVALID_VALUE, "expected fewer than 2^32 keys but got " + std::to_string(n));
    }
  }
  if (offsets.given && (offsets.bytes < sizeof(uint32_t) ||
                        reinterpret_cast<uintptr_t>(offsets.data) % alignof(uint32_t) != 0)) {
    return call.Fail(CL_INVALID_VALUE, "expected aligned 32-bit offsets");
  }
  return true;
}

template <typename Key>
bool Sort::RunWith(host::Threads& threads) const {
  SortArguments arguments{};
  arguments.keys = keys.data;
  arguments.n = keys.bytes / width;
  arguments.codec = codec;
  arguments.sorted = sorted.data;
  arguments.offsets = reinterpret_cast<const uint32_t*>(offsets.data);
  arguments.segments = offsets.data ? offsets.bytes / sizeof(uint32_t) - 1 : 0;
  arguments.from_segment = from_segment;
  if (!moved.given) return RadixSort<Key, None>(arguments, threads).Run();
  arguments.moved = moved.data;
  arguments.moved_bytes = value_bytes;
  if (!values.given || value_bytes <= kMaxPayload) {
    arguments.values = {values.data, value_bytes};
    return value_bytes <= sizeof(uint32_t) ? RadixSort<Key, uint32_t>(arguments, threads).Run()
                                           : RadixSort<Key, uint64_t>(arguments, threads).Run();
  }
  // The values are copied, so that they can be gathered to their own memory.
  LargeMemory positions, copy;
  const char* from = values.data;
  const bool in_place = values.data == moved.data;
  if (!positions.Allocate(arguments.n * sizeof(uint32_t)) || (in_place && !copy.Allocate(arguments.n * value_bytes)))
    return false;
  arguments.moved = positions.as<char>();
  arguments.moved_bytes = sizeof(uint32_t);
  arguments.from_segment = false;
  if (in_place) {
    std::memcpy(copy.as<char>(), from, arguments.n * value_bytes);
    from = copy.as<char>();
  }
  if (!RadixSort<Key, uint32_t>(arguments, threads).Run()) return false;
  if (threads.stopped() && arguments.sorted != arguments.keys) return true;
  host::Gather(from, value_bytes, positions.as<uint32_t>(), arguments.n, moved.data, threads);
  return true;
}

bool Sort::Run(host::Threads& threads) const {
  host::AdviseHugePages(sorted.data, sorted.bytes);
  host::AdviseHugePages(moved.data, moved.bytes);
  switch (width) {
    case 1: return RunWith<uint8_t>(threads);
    case 2: return RunWith<uint16_t>(threads);
    case 4: return RunWith<uint32_t>(threads);
    default: return RunWith<uint64_t>(threads);
  }
}

class SortJob final : public PromiseJob {
 public:
  SortJob(Environment& environment, Sort sort)
      : PromiseJob("hostSortAsync"), environment_(environment), sort_(std::move(sort)) {}

  void Run() override {
    PoolThreads threads(environment_, sort_.threads, reinterpret_cast<const int32_t*>(sort_.stop.data));
    if (!sort_.Run(threads)) status_ = CL_OUT_OF_HOST_MEMORY;
  }

 private:
  Environment& environment_;  // waits for its jobs before it ends
  const Sort sort_;
};

NAN_METHOD(HostSortAsync) {
  Call call(info, "hostSortAsync");
  Sort sort;
  if (!sort.Read(call)) return;
  StartPromise(call, std::make_unique<SortJob>(call.environment(), std::move(sort)), nullptr);
}

/** Sorts on the calling thread, which suits small arrays: a change of threads takes longer than their sort. */
NAN_METHOD(HostSort) {
  Call call(info, "hostSort");
  Sort sort;
  if (!sort.Read(call)) return;
  PoolThreads threads(call.environment(), 1, nullptr);
  call.Check(sort.Run(threads) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
}

}  // namespace

void ExportHostSort(Exports& exports) {
  exports.Set<HostSortAsync>("hostSortAsync");
  exports.Set<HostSort>("hostSort");
}

}  // namespace clsort
