#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "../ceil_divide.h"
#include "columns.h"
#include "threads.h"

namespace clsort::host {

/** Keys that a thread counts or writes at a time. */
constexpr size_t kCountedKeys = size_t{1} << 18;

/** A key, and the end of its copies in the result. */
template <typename Key>
struct Copies {
  Key key;
  size_t end;
};

/** Writes copies of keys one after another; `stops` if it may end early, which leaves the result incomplete. */
template <typename Key>
bool WriteCopies(const Copies<Key>* all, size_t size, char* sorted, bool stops, Threads& threads) {
  const size_t n = all[size - 1].end;
  threads.For(CeilDivide(n, kCountedKeys), [&](size_t s) {
    if (stops && threads.stopped()) return;
    size_t at = s * kCountedKeys;
    const size_t last = std::min(at + kCountedKeys, n);
    const auto ends_before = [](size_t place, const Copies<Key>& copies) { return place < copies.end; };
    const Copies<Key>* copies = std::upper_bound(all, all + size, at, ends_before);
    Key block[kBlock];
    for (; at < last; copies++) {
      const size_t to = std::min(last, copies->end);
      std::fill_n(block, std::min(kBlock, to - at), copies->key);
      for (; at < to; at += std::min(kBlock, to - at)) {
        std::memcpy(sorted + at * sizeof(Key), block, std::min(kBlock, to - at) * sizeof(Key));
      }
    }
  });
  return true;
}

/**
 * Sorts keys of 8 or 16 bits by counting each possible key. Keys with equal codes are identical, so counts suffice.
 *
 * @return whether there was enough memory
 */
template <typename Key>
bool CountingSort(const char* keys, size_t n, const Codec<Key>& codec, char* sorted, Threads& threads) {
  constexpr size_t kKeys = size_t{1} << (8 * sizeof(Key));
  constexpr size_t kTables = sizeof(Key) == 1 ? 4 : 1;  // an increment of the same counter waits for the one before
  constexpr size_t kMaxCount = size_t{1} << 31;
  const size_t tasks = std::min<size_t>(threads.count(), CeilDivide(n, kCountedKeys));
  std::unique_ptr<uint32_t[]> tables(new (std::nothrow) uint32_t[tasks * kTables * kKeys]());
  std::unique_ptr<size_t[]> counts(new (std::nothrow) size_t[kKeys]());
  std::unique_ptr<Copies<Key>[]> all(new (std::nothrow) Copies<Key>[kKeys]);
  if (!tables || !counts || !all) return false;
  std::mutex guard;
  threads.For(tasks, [&](size_t task) {
    uint32_t* const own = &tables[task * kTables * kKeys];
    size_t counted = 0;
    const auto add = [&] {
      std::lock_guard<std::mutex> lock(guard);
      for (size_t i = 0; i < kTables * kKeys; i++) counts[i % kKeys] += std::exchange(own[i], 0);
      counted = 0;
    };
    for (size_t at = task * kCountedKeys; at < n && !threads.stopped(); at += tasks * kCountedKeys) {
      const size_t count = std::min(kCountedKeys, n - at);
      const char* from = keys + at * sizeof(Key);
      for (size_t i = 0; i < count; i++) {
        Key key;
        std::memcpy(&key, from + i * sizeof(Key), sizeof key);
        own[i % kTables * kKeys + key]++;
      }
      counted += count;
      if (counted > kMaxCount) add();
    }
    add();
  });
  if (threads.stopped()) return true;
  size_t size = 0, end = 0;
  for (size_t code = 0; code < kKeys; code++) {
    const Key key = codec.KeyOf(static_cast<Key>(code));
    if (counts[key]) all[size++] = {key, end += counts[key]};
  }
  return WriteCopies(all.get(), size, sorted, sorted != keys, threads);
}

/**
 * Sorts keys that have few different values, by counting them: one read and one write.
 *
 * @param sample codes, in ascending order
 * @return whether it did; if not, the sample has many values or the keys have others
 */
template <typename Key>
bool SortFewValues(const char* keys, size_t n, const Codec<Key>& codec, const Key* sample, size_t sample_size,
                   char* sorted, Threads& threads) {
  constexpr size_t kMaxValues = 64, kSlots = 4096, kTries = 64;
  constexpr unsigned kSlotBits = 12;
  std::vector<Key> codes, table;
  std::unique_copy(sample, sample + sample_size, std::back_inserter(codes));
  if (codes.size() > kMaxValues) return false;
  // A hash without collisions. Free slots hold a code that has another slot.
  uint64_t factor = 0x9e3779b97f4a7c15;
  const auto slot_of = [&factor](Key code) { return static_cast<size_t>((code * factor) >> (64 - kSlotBits)); };
  const auto collides = [&] {
    table.assign(kSlots, codes[0]);
    return std::any_of(codes.begin() + 1, codes.end(), [&](Key code) {
      return slot_of(code) == slot_of(codes[0]) || std::exchange(table[slot_of(code)], code) != codes[0];
    });
  };
  for (size_t tries = 0; collides(); tries++) {
    if (tries == kTries) return false;
    factor = factor * 0xd1342543de82ef95 + 2;  // a generator of odd numbers
  }
  std::vector<std::atomic<size_t>> counts(kSlots);
  std::atomic<bool> other{false};
  threads.For(CeilDivide(n, kCountedKeys), [&](size_t s) {
    if (other || threads.stopped()) return;
    uint32_t own[kSlots] = {};
    Key block[kBlock];
    const size_t end = std::min((s + 1) * kCountedKeys, n);
    for (size_t at = s * kCountedKeys; at < end && !other; at += kBlock) {
      const size_t count = std::min(kBlock, end - at);
      Encode(codec, keys + at * sizeof(Key), count, block);
      bool differs = false;
      for (size_t i = 0; i < count; i++) {
        const size_t slot = slot_of(block[i]);
        differs |= table[slot] != block[i];
        own[slot]++;
      }
      if (differs) other = true;
    }
    for (Key code : codes) counts[slot_of(code)] += own[slot_of(code)];
  });
  if (other) return false;
  if (threads.stopped()) return true;
  std::vector<Copies<Key>> all;
  size_t end = 0;
  for (Key code : codes) all.push_back({codec.KeyOf(code), end += counts[slot_of(code)]});
  return WriteCopies(all.data(), all.size(), sorted, sorted != keys, threads);
}

}  // namespace clsort::host
