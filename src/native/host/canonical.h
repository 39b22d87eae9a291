#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../key_codec.h"
#include "slices.h"

namespace clsort::host {

/** Returns the same bits for floats that are equal as numbers: one NaN, and +0 for both zeros. */
template <typename Key>
Key CanonicalOf(Key key, Key infinity) {
  constexpr Key kNaN = static_cast<Key>(-1) >> 1;
  const Key magnitude = key & kNaN;
  return magnitude == 0 ? 0 : magnitude > infinity ? kNaN : key;
}

/** Replaces floats that are equal as numbers by equal bits. `to` may be `keys`. */
template <typename Key>
void Canonical(const Key* keys, size_t n, Key infinity, Key* to, Threads& threads) {
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) to[i] = CanonicalOf(keys[i], infinity);
  });
}

/**
 * Shifts the code of each key into the packed codes of its row.
 *
 * @param infinity bits of infinity, for floats, whose codes are those of canonical keys; otherwise 0
 * @param replaces whether the packed codes were empty
 */
template <typename Key, typename Packed>
void AppendCodes(const Key* keys, size_t n, Key infinity, const Codec<Key>& codec, unsigned shift, bool replaces,
                 Packed* packed, Threads& threads) {
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
      const Key key = infinity ? CanonicalOf(keys[i], infinity) : keys[i];
      const auto code = static_cast<Packed>(static_cast<Packed>(codec.CodeOf(key)) << shift);
      packed[i] = replaces ? code : packed[i] | code;
    }
  });
}

/** Computes the length of each run from where the runs begin and where the last one ends. */
inline void RunLengths(const uint32_t* begins, size_t runs, size_t n, uint32_t* lengths, Threads& threads) {
  ForSlices(runs, threads, [&](size_t, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
      lengths[i] = static_cast<uint32_t>((i + 1 < runs ? begins[i + 1] : n) - begins[i]);
    }
  });
}

/** Writes the number of the run of each element. The runs begin at `begins`, the first one at 0; some may be empty. */
inline void SegmentIds(const uint32_t* begins, size_t runs, const uint32_t* positions, size_t n, uint32_t* ids,
                       Threads& threads) {
  ForSlices(n, threads, [&](size_t, size_t first, size_t last) {
    const size_t begun = static_cast<size_t>(std::upper_bound(begins, begins + runs, first) - begins);
    size_t run = begun == 0 ? 0 : begun - 1;
    for (size_t i = first; i < last; i++) {
      while (run + 1 < runs && begins[run + 1] <= i) run++;
      const size_t at = positions ? positions[i] : i;
      if (at < n) ids[at] = static_cast<uint32_t>(run);
    }
  });
}

}  // namespace clsort::host
