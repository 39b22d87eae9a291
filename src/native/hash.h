#ifndef CLSORT_NATIVE_HASH_H_
#define CLSORT_NATIVE_HASH_H_

#include <cstddef>
#include <cstdint>

namespace clsort {

/**
 * XXH64 with seed 0 of bytes that come in pieces: four lanes take 8 bytes each of every stripe, and are mixed with the
 * rest at the end. As JavaScript has it: the hash of all so far, how many bytes those are, the lanes, and the bytes of a
 * stripe that is not whole. All zero before the first byte.
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

#endif  // CLSORT_NATIVE_HASH_H_
