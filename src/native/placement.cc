#include <algorithm>
#include <cstring>
#include <vector>

#include "host_keys.h"
#include "key_codec.h"
#include "thread_pool.h"
#include "wait.h"

namespace clsort {

namespace {

/** Keys per work item of the thread pool. */
constexpr size_t kPiece = size_t{1} << 16;

/** Splitters between partitions and their number before each cell of the codes, see src/io/external/splitters.ts. */
struct Thresholds {
  std::vector<uint64_t> firsts;
  std::vector<uint16_t> before;
  unsigned shift;

  /** Returns whether every code stays within the tables. */
  bool IsValid() const {
    if (firsts.empty()) return true;
    if (shift > 63 || firsts.size() > UINT16_MAX || firsts.back() < firsts.front()) return false;
    uint64_t cells = (firsts.back() >> shift) - (firsts.front() >> shift);
    if (before.size() < 2 || before.size() - 2 < cells) return false;
    return *std::max_element(before.begin(), before.end()) <= firsts.size();
  }

  size_t PartitionOf(uint64_t code) const {
    if (code < firsts.front()) return 0;
    if (code >= firsts.back()) return firsts.size();
    uint64_t cell = (code >> shift) - (firsts.front() >> shift);
    size_t begin = before[cell], end = before[cell + 1];
    while (begin < end) {
      size_t middle = (begin + end) / 2;
      if (code >= firsts[middle]) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};

/** Determines the partition of each key and counts the keys of each partition. */
template <typename Key>
void Count(const char* data, size_t keys, const uint64_t* words, const Thresholds& thresholds, uint16_t* partitions,
           uint32_t* counts) {
  const Codec<Key> codec(words);
  for (size_t i = 0; i < keys; i++) {
    size_t p = thresholds.PartitionOf(codec.CodeOf(KeyAt<Key>(data, i)));
    partitions[i] = static_cast<uint16_t>(p);
    counts[p]++;
  }
}

/** Moves each key to the next position of its partition. */
template <typename Key>
void Move(const char* data, size_t keys, const uint16_t* partitions, uint32_t* next, char* to) {
  for (size_t i = 0; i < keys; i++) {
    std::memcpy(to + size_t{next[partitions[i]]++} * sizeof(Key), data + i * sizeof(Key), sizeof(Key));
  }
}

class PlaceJob final : public PromiseJob {
 public:
  PlaceJob(Environment& environment, const HostMemory& keys, size_t width, const uint64_t* codec, Thresholds thresholds,
           const HostMemory& to, const HostMemory& counts, unsigned threads)
      : PromiseJob("placeAsync"),
        environment_(environment),
        host_(keys.store),
        data_(static_cast<char*>(keys.data)),
        keys_(keys.bytes / width),
        width_(width),
        thresholds_(std::move(thresholds)),
        to_store_(to.store),
        to_(static_cast<char*>(to.data)),
        counts_store_(counts.store),
        counts_(counts.data),
        threads_(threads) {
    std::copy(codec, codec + kCodecWords, codec_);
  }

  void Run() override {
    ByWidth(width_, [&](auto key) { Place<decltype(key)>(); });
  }

 private:
  /**
   * Stable counting pass. Partitions are stored, so that concurrent changes of the keys cannot cause writes outside the
   * output.
   */
  template <typename Key>
  void Place() {
    size_t partitions = thresholds_.firsts.size() + 1;
    size_t pieces = CeilDivide(keys_, kPiece);
    std::unique_ptr<uint16_t[]> partition(new uint16_t[keys_]);
    std::vector<uint32_t> next(pieces * partitions);
    auto next_of = [&](size_t first) { return &next[first / kPiece * partitions]; };
    ParallelForRanges(environment_, threads_, keys_, kPiece, [&](size_t first, size_t keys) {
      const char* data = data_ + first * sizeof(Key);
      if (partitions > 1) {
        Count<Key>(data, keys, codec_, thresholds_, &partition[first], next_of(first));
      } else {
        std::fill_n(&partition[first], keys, 0);
        *next_of(first) = static_cast<uint32_t>(keys);
      }
    });
    std::vector<uint32_t> counts(partitions);
    uint32_t place = 0;
    for (size_t p = 0; p < partitions; p++) {
      uint32_t begin = place;
      for (size_t i = 0; i < pieces; i++) {
        uint32_t count = next[i * partitions + p];
        next[i * partitions + p] = place;
        place += count;
      }
      counts[p] = place - begin;
    }
    ParallelForRanges(environment_, threads_, keys_, kPiece, [&](size_t first, size_t keys) {
      Move<Key>(data_ + first * sizeof(Key), keys, &partition[first], next_of(first), to_);
    });
    std::memcpy(counts_, counts.data(), counts.size() * sizeof(uint32_t));
  }

  Environment& environment_;
  std::shared_ptr<v8::BackingStore> host_;
  const char* data_;
  size_t keys_;
  size_t width_;
  uint64_t codec_[kCodecWords];
  Thresholds thresholds_;
  std::shared_ptr<v8::BackingStore> to_store_;
  char* to_;
  std::shared_ptr<v8::BackingStore> counts_store_;
  void* counts_;
  unsigned threads_;
};

/** Copies the elements of host memory. */
template <typename Element>
std::vector<Element> ToVector(const HostMemory& memory) {
  std::vector<Element> elements(memory.bytes / sizeof(Element));
  if (!elements.empty()) std::memcpy(elements.data(), memory.data, elements.size() * sizeof(Element));
  return elements;
}

NAN_METHOD(PlaceAsync) {
  Call call(info, "placeAsync");
  HostMemory keys = call.LastingMemory(0, 0);
  size_t width = call.Size(1);
  HostMemory codec = call.Memory(2, kCodecWords * sizeof(uint64_t));
  HostMemory firsts = call.Memory(3, 0);
  HostMemory before = call.Memory(4, 0);
  auto shift = static_cast<unsigned>(call.Unsigned(5, CL_INVALID_VALUE, 63));
  HostMemory to = call.LastingMemory(6, 0);
  HostMemory counts = call.LastingMemory(7, 0);
  auto threads = static_cast<unsigned>(call.Unsigned(8, CL_INVALID_VALUE, kMaxPoolThreads));
  if (!call.ok()) return;
  if (!CheckKeys(call, keys.bytes, width)) return;
  if (keys.bytes / width > UINT32_MAX)
    return (void)call.FailArgument(0, CL_INVALID_VALUE, "fewer than 2^32 keys", std::to_string(keys.bytes / width));
  if (to.bytes < keys.bytes)
    return (void)call.FailArgument(6, CL_INVALID_VALUE, "memory for all keys", std::to_string(to.bytes) + " bytes");
  Thresholds thresholds{ToVector<uint64_t>(firsts), ToVector<uint16_t>(before), shift};
  if (!thresholds.IsValid())
    return (void)call.Fail(CL_INVALID_VALUE, "expected a table of the thresholds but got another");
  if (counts.bytes / sizeof(uint32_t) <= thresholds.firsts.size()) {
    return (void)call.FailArgument(7, CL_INVALID_VALUE, "a count for each partition",
                                   std::to_string(counts.bytes) + " bytes");
  }
  uint64_t words[kCodecWords];
  std::memcpy(words, codec.data, sizeof words);
  StartPromise(
      call,
      std::make_unique<PlaceJob>(call.environment(), keys, width, words, std::move(thresholds), to, counts, threads),
      nullptr);
}

}  // namespace

void ExportPlacement(Exports& exports) { exports.Set<PlaceAsync>("placeAsync"); }

}  // namespace clsort
