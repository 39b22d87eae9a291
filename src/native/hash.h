#pragma once

#include <cstddef>
#include <cstdint>

namespace clsort {

/**
 * Incremental XXH64 with seed 0: four lanes take 8 bytes each of every stripe and are mixed with the rest at the end.
 * The layout is the array of words in JavaScript: the hash so far, the number of bytes, the lanes, and the incomplete
 * stripe. All words are zero before the first byte.
 */
struct Hash {
  static constexpr size_t kStripe = 32;

  uint64_t value, bytes, lanes[4];
  unsigned char rest[kStripe];

  void Add(const unsigned char* data, size_t length);

 private:
  void Stripes(const unsigned char* data, size_t count);
  uint64_t End() const;
};

}  // namespace clsort
