#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "columns.h"
#include "slices.h"

namespace clsort::host {

/** Sorted keys. */
template <typename Key>
struct Sorted {
  const Key* keys;
  size_t n;
};

/** Keys that are searched for at a time: the reads of one overlap those of the others. */
constexpr size_t kTogether = 16;

/** Sorted keys that each key is compared with: vectors of keys take less time for so few than a search. */
constexpr size_t kCompared = 8;

/** Calls `use(i, code, place)` for each key: `place` of the sorted keys come before it; with `right`, or equal it. */
template <typename Key, typename Use>
void ForPlaces(const Sorted<Key>& sorted, const Key* keys, size_t n, const Codec<Key>& codec, bool right,
               Threads& threads, const Use& use) {
  if (sorted.n <= kCompared) {
    Key edges[kCompared];
    Encode(codec, reinterpret_cast<const char*>(sorted.keys), sorted.n, edges);
    ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
      ForCodes(keys, codec, first, last, [&](size_t at, const Key* codes, size_t count) {
        Key places[kBlock] = {};
        for (size_t edge = 0; edge < sorted.n; edge++) {
          const Key code = edges[edge];
          for (size_t i = 0; i < count; i++) places[i] += right ? code <= codes[i] : code < codes[i];
        }
        for (size_t i = 0; i < count; i++) use(at + i, codes[i], static_cast<size_t>(places[i]));
      });
    });
    return;
  }
  const auto comes_before = [&](size_t place, Key code) {
    const Key one = codec.CodeOf(sorted.keys[place]);
    return right ? one <= code : one < code;
  };
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    // The code of the key before these, and its place.
    Key previous = 0;
    size_t reached = 0;
    for (size_t at = first; at < last; at += kTogether) {
      const size_t count = std::min(kTogether, last - at);
      Key codes[kTogether];
      size_t places[kTogether] = {};
      for (size_t i = 0; i < count; i++) codes[i] = codec.CodeOf(keys[at + i]);
      // The place of a key is between places[i] and places[i] + rest.
      size_t rest = sorted.n;
      if (previous <= codes[0] && std::is_sorted(codes, codes + count)) {
        // Keys in order have their places soon after the last one: a galloping search (Bentley and Yao 1976).
        std::fill(places, places + count, reached);
        rest = kTogether;
        while (rest < sorted.n - reached && comes_before(reached + rest - 1, codes[count - 1])) rest *= 2;
        rest = std::min(rest, sorted.n - reached);
      }
      while (rest > 0) {
        const size_t half = (rest + 1) / 2;
        for (size_t i = 0; i < count; i++) places[i] += comes_before(places[i] + half - 1, codes[i]) ? half : 0;
        rest -= half;
      }
      for (size_t i = 0; i < count; i++) use(at + i, codes[i], places[i]);
      previous = codes[count - 1];
      reached = places[count - 1];
    }
  });
}

/** Computes how many of `sorted` come before each key; with `right`, equal keys count as well. */
template <typename Key, typename Position>
void SearchSorted(const Sorted<Key>& sorted, const Key* keys, size_t n, const Codec<Key>& codec, bool right,
                  Position* places, Threads& threads) {
  ForPlaces(sorted, keys, n, codec, right, threads,
            [&](size_t i, Key, size_t place) { places[i] = static_cast<Position>(place); });
}

/** Marks the keys that are among `sorted`; when inverted, the others. */
template <typename Key>
void Contains(const Sorted<Key>& sorted, const Key* keys, size_t n, const Codec<Key>& codec, bool inverted,
              uint8_t* mask, Threads& threads) {
  ForPlaces(sorted, keys, n, codec, false, threads, [&](size_t i, Key code, size_t place) {
    mask[i] = (place < sorted.n && codec.CodeOf(sorted.keys[place]) == code) != inverted;
  });
}

/** Returns how many of the first `count` merged keys are of `a`. */
template <typename Key>
size_t MergeRank(const Sorted<Key>& a, const Sorted<Key>& b, const Codec<Key>& codec, size_t count) {
  size_t low = count - std::min(count, b.n), high = std::min(count, a.n);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const bool before = codec.CodeOf(a.keys[middle]) <= codec.CodeOf(b.keys[count - 1 - middle]);
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}

/** Merges keys from `i` to before `end_a` of `a` and from `j` to before `end_b` of `b`. Of equal keys those of `a` come first. */
template <typename Key>
void MergeSlice(const Sorted<Key>& a, size_t i, size_t end_a, const Sorted<Key>& b, size_t j, size_t end_b,
                const Codec<Key>& codec, Key* to) {
  // Two chains of comparisons, one from each end, without branches. Narrow keys repeat, so that branches are predicted.
  size_t begin = 0, end = (end_a - i) + (end_b - j);
  while (sizeof(Key) >= sizeof(uint32_t)) {
    // As many keys are left in each array, whichever the comparisons take them from.
    const size_t steps = std::min(end_a - i, end_b - j) / 2;
    if (steps == 0) break;
    for (size_t step = 0; step < steps; step++) {
      const Key *first_a = a.keys + i, *first_b = b.keys + j;
      const bool begins_with_a = codec.CodeOf(*first_a) <= codec.CodeOf(*first_b);
      to[begin++] = *(begins_with_a ? first_a : first_b);
      i += begins_with_a;
      j += !begins_with_a;
      const Key *last_a = a.keys + end_a - 1, *last_b = b.keys + end_b - 1;
      const bool ends_with_b = codec.CodeOf(*last_a) <= codec.CodeOf(*last_b);
      to[--end] = *(ends_with_b ? last_b : last_a);
      end_a -= !ends_with_b;
      end_b -= ends_with_b;
    }
  }
  while (i < end_a && j < end_b) {
    const Key left = a.keys[i], right = b.keys[j];
    const bool takes_a = codec.CodeOf(left) <= codec.CodeOf(right);
    to[begin++] = takes_a ? left : right;
    i += takes_a;
    j += !takes_a;
  }
  std::copy(a.keys + i, a.keys + end_a, to + begin);
  std::copy(b.keys + j, b.keys + end_b, to + begin + (end_a - i));
}

/**
 * Merges sorted keys. Of equal keys those of `a` come first. Threads merge slices of the result.
 *
 * @param to holds as many keys as `a` and `b`
 * @return whether there was enough memory
 */
template <typename Key>
bool Merge(const Sorted<Key>& a, const Sorted<Key>& b, const Codec<Key>& codec, Key* to, Threads& threads) {
  const size_t n = a.n + b.n, slices = SlicesOf(n);
  std::unique_ptr<size_t[]> ranks(new (std::nothrow) size_t[slices + 1]());
  if (!ranks) return false;
  for (size_t slice = 0; slice < slices; slice++) {
    // Keys that are not sorted still result in a permutation: no slice begins before its predecessor ends.
    const size_t end = std::min((slice + 1) * kSlice, n), rank = MergeRank(a, b, codec, end);
    ranks[slice + 1] = std::clamp(rank, ranks[slice], ranks[slice] + (end - slice * kSlice));
  }
  ForSlices(n, threads, [&](size_t slice, size_t first, size_t last) {
    const size_t i = ranks[slice], end_a = ranks[slice + 1];
    MergeSlice(a, i, end_a, b, first - i, last - end_a, codec, to + first);
  });
  return true;
}

}  // namespace clsort::host
