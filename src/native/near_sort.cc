#include <algorithm>
#include <atomic>
#include <cstring>

#include "host_keys.h"
#include "key_codec.h"
#include "thread_pool.h"
#include "wait.h"

namespace clsort {

namespace {

/** Keys per work item of the thread pool. */
constexpr size_t kPiece = size_t{1} << 16;

/** Average moves per key before the sort gives up: beyond that, passes of a radix sort are faster. */
constexpr size_t kMaxMoves = 8;

/** Keys without alignment. */
template <typename Key>
class Keys {
 public:
  explicit Keys(char* data) : data_(data) {}

  Key operator[](size_t i) const { return KeyAt<Key>(data_, i); }

  void Put(size_t i, Key key) { std::memcpy(data_ + i * sizeof key, &key, sizeof key); }

 private:
  char* data_;
};

/**
 * Inserts keys [begin, end) one by one into the sorted keys from `floor` on; stable.
 *
 * @param ordered whether the keys from `begin` on are already sorted: the first one that stays in place ends the loop
 * @return whether it finished within `moves` moves
 */
template <typename Key>
bool Insert(Keys<Key> keys, const Codec<Key>& codec, size_t floor, size_t begin, size_t end, bool ordered,
            size_t moves) {
  if (begin == 0) return true;
  Key last = codec.CodeOf(keys[begin - 1]);
  for (size_t i = begin; i < end; i++) {
    Key key = keys[i], code = codec.CodeOf(key);
    if (code >= last) {
      if (ordered) return true;
      last = code;
      continue;
    }
    size_t place = i;
    do {
      keys.Put(place, keys[place - 1]);
      place--;
      if (moves-- == 0) {
        keys.Put(place, key);
        return false;
      }
    } while (place > floor && codec.CodeOf(keys[place - 1]) > code);
    keys.Put(place, key);
  }
  return true;
}

class NearSortJob final : public PromiseJob {
 public:
  NearSortJob(Environment& environment, const HostMemory& keys, size_t width, const uint64_t* codec,
              const HostMemory& sorted, unsigned threads)
      : PromiseJob("nearSortAsync"),
        environment_(environment),
        keys_store_(keys.store),
        data_(static_cast<char*>(keys.data)),
        keys_(keys.bytes / width),
        width_(width),
        sorted_store_(sorted.store),
        sorted_(sorted.data),
        threads_(threads) {
    std::copy(codec, codec + kCodecWords, codec_);
  }

  void Run() override {
    bool sorted = ByWidth(width_, [&](auto key) { return SortKeys<decltype(key)>(); });
    uint32_t word = sorted ? 1 : 0;
    std::memcpy(sorted_, &word, sizeof word);
  }

 private:
  template <typename Key>
  bool SortKeys() {
    const Codec<Key> codec(codec_);
    Keys<Key> keys(data_);
    std::atomic<bool> within{true};
    ParallelForRanges(environment_, threads_, keys_, kPiece, [&](size_t first, size_t count) {
      size_t end = first + count;
      if (within && !Insert<Key>(keys, codec, first, first + 1, end, false, kMaxMoves * kPiece)) within = false;
    });
    // The first keys of a piece may belong before the last keys of earlier pieces.
    for (size_t begin = kPiece; within && begin < keys_; begin += kPiece) {
      size_t end = std::min(begin + kPiece, keys_);
      within = Insert<Key>(keys, codec, 0, begin, end, true, kMaxMoves * kPiece);
    }
    return within;
  }

  Environment& environment_;
  std::shared_ptr<v8::BackingStore> keys_store_;
  char* data_;
  size_t keys_;
  size_t width_;
  uint64_t codec_[kCodecWords];
  std::shared_ptr<v8::BackingStore> sorted_store_;
  void* sorted_;
  unsigned threads_;
};

NAN_METHOD(NearSortAsync) {
  Call call(info, "nearSortAsync");
  HostMemory keys = call.LastingMemory(0, 0);
  size_t width = call.Size(1);
  HostMemory codec = call.Memory(2, kCodecWords * sizeof(uint64_t));
  HostMemory sorted = call.LastingMemory(3, sizeof(uint32_t));
  auto threads = static_cast<unsigned>(call.Unsigned(4, CL_INVALID_VALUE, kMaxPoolThreads));
  if (!call.ok()) return;
  if (!CheckKeys(call, keys.bytes, width)) return;
  uint64_t words[kCodecWords];
  std::memcpy(words, codec.data, sizeof words);
  StartPromise(call, std::make_unique<NearSortJob>(call.environment(), keys, width, words, sorted, threads), nullptr);
}

}  // namespace

void ExportNearSort(Exports& exports) { exports.Set<NearSortAsync>("nearSortAsync"); }

}  // namespace clsort
