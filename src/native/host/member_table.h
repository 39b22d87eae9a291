#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include "columns.h"
#include "large_memory.h"
#include "slices.h"

namespace clsort::host {

/** Keys in any order. */
template <typename Key>
struct KeySpan {
  const Key* keys;
  size_t n;
};

/**
 * Marks the keys that are among others by a table with a byte for each code from the least to the greatest of the
 * others, as NumPy's `isin` does with `kind='table'`. When inverted, it marks the others.
 *
 * @param bytes_per_key limit of the table's size, in bytes for each of all keys
 * @return whether it did: the table may be larger than the limit or than the free memory
 */
template <typename Key>
bool ContainsByTable(const KeySpan<Key>& among, const KeySpan<Key>& wanted, const Codec<Key>& codec, bool inverted,
                     size_t bytes_per_key, uint8_t* mask, Threads& threads) {
  using Mark = std::atomic<uint8_t>;
  static_assert(sizeof(Mark) == 1 && Mark::is_always_lock_free);
  Key least = static_cast<Key>(-1), greatest = 0;
  std::mutex guard;
  ForSlices(among.n, threads, [&](size_t, size_t first, size_t last) {
    Key low = static_cast<Key>(-1), high = 0;
    ForCodes(among.keys, codec, first, last, [&](size_t, const Key* codes, size_t count) {
      for (size_t i = 0; i < count; i++) {
        low = std::min(low, codes[i]);
        high = std::max(high, codes[i]);
      }
    });
    std::lock_guard<std::mutex> lock(guard);
    least = std::min(least, low);
    greatest = std::max(greatest, high);
  });
  if (among.n == 0 || threads.stopped()) return false;
  const uint64_t range = static_cast<uint64_t>(greatest) - least;
  if (range / bytes_per_key >= among.n + wanted.n) return false;
  LargeMemory memory;
  if (!memory.Allocate(range + 1)) return false;
  Mark* const table = memory.as<Mark>();
  ForSlices(range + 1, threads, [&](size_t, size_t first, size_t last) {
    std::memset(static_cast<void*>(table + first), inverted, last - first);
  });
  const Key begin = least;
  ForSlices(among.n, threads, [&](size_t, size_t first, size_t last) {
    ForCodes(among.keys, codec, first, last, [=](size_t, const Key* codes, size_t count) {
      for (size_t i = 0; i < count; i++) {
        const auto offset = static_cast<Key>(codes[i] - begin);
        // Beyond the table are only keys that have changed. A store to a marked code would take its cache line from the
        // other threads.
        if (offset > range || table[offset].load(std::memory_order_relaxed) != inverted) continue;
        table[offset].store(!inverted, std::memory_order_relaxed);
      }
    });
  });
  ForSlices(wanted.n, threads, [&](size_t, size_t first, size_t last) {
    ForCodes(wanted.keys, codec, first, last, [=](size_t at, const Key* codes, size_t count) {
      for (size_t i = 0; i < count; i++) {
        const auto offset = static_cast<Key>(codes[i] - begin);
        mask[at + i] = offset <= range ? table[offset].load(std::memory_order_relaxed) : inverted;
      }
    });
  });
  return true;
}

}  // namespace clsort::host
