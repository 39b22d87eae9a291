#include <string>
#include <type_traits>

#include "../host_keys.h"
#include "gather.h"
#include "job.h"
#include "radix_sort.h"

namespace clsort {

namespace {

using host::LargeMemory;
using host::Memory;
using host::None;
using host::RadixSort;
using host::SortArguments;

/** Bytes of the longest value that moves with its key; longer ones are gathered by positions. */
constexpr size_t kMaxPayload = sizeof(uint64_t);

/** Memory and parameters of one sort. */
struct Sort {
  static constexpr char kName[] = "hostSortAsync";
  Memory keys, sorted, values, moved, offsets;
  size_t width = 0, value_bytes = 0;
  uint64_t codec[kCodecWords];
  bool from_segment = false;

  /** Reads the arguments; throws if one is invalid. @return whether all are valid */
  bool Read(Call& call);
  /** @return whether there was enough memory */
  bool Run(host::Threads& threads) const;

 private:
  template <typename Key>
  bool RunWith(host::Threads& threads) const;
};

bool Sort::Read(Call& call) {
  keys.Read(call, 2, 0);
  width = call.Size(3);
  HostMemory words = call.Memory(4, sizeof codec);
  if (!call.ok() || !CheckKeys(call, keys.bytes, width)) return false;
  const size_t n = keys.bytes / width;
  sorted.Read(call, 5, keys.bytes);
  values.Read(call, 6, 0);
  value_bytes = call.SizeOr0(7);
  moved.Read(call, 8, 0);
  offsets.Read(call, 9, 0);
  from_segment = call.Bool(10);
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
  if (offsets.given &&
      (offsets.bytes < sizeof(uint32_t) || reinterpret_cast<uintptr_t>(offsets.data) % alignof(uint32_t) != 0)) {
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
  const bool enough = RadixSort<Key, uint32_t>(arguments, threads).Run();
  // Keys in the memory of the input are a permutation of it now, which the values have to follow.
  const bool incomplete = !enough || threads.stopped();
  if (incomplete && arguments.sorted != arguments.keys) return enough;
  host::Gather({from, arguments.n, value_bytes}, positions.as<uint32_t>(), arguments.n, moved.data, false, threads);
  return enough;
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

/** Sorts on the calling thread, which suits small arrays: a change of threads takes longer than their sort. */
CLSORT_EXPORT(hostSort, "hostSort") {
  Sort sort;
  if (!sort.Read(call)) return;
  host::PoolThreads threads(call.environment(), 1, nullptr);
  call.Check(sort.Run(threads) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
}

const host::ExportedJobs<Sort> kJobs;

}  // namespace

}  // namespace clsort
