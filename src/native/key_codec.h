#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace clsort {

/** Words of a key codec, see src/keys/key-codec.ts, and the mask of the significant bits of the code. */
enum CodecWord { kPositiveFlip, kNegativeFlip, kRotate, kLastNumber, kNanShift, kDescending, kMask, kCodecWords };

/** Codec with words as wide as the keys, in which it computes. */
template <typename Key>
struct Codec {
  explicit Codec(const uint64_t* words)
      : positive(static_cast<Key>(words[kPositiveFlip])),
        sign(static_cast<Key>(words[kPositiveFlip] ^ words[kNegativeFlip])),
        rotate(static_cast<Key>(words[kRotate])),
        last(static_cast<Key>(words[kLastNumber])),
        nan_shift(static_cast<Key>(words[kNanShift])),
        mask(static_cast<Key>(words[kMask])),
        descending(words[kDescending] != 0) {}

  /** Returns the codec without the mask. */
  static Codec Whole(const uint64_t* words) {
    uint64_t whole[kCodecWords];
    std::copy_n(words, kMask, whole);
    whole[kMask] = ~uint64_t{0};
    return Codec(whole);
  }

  /** Branchless, because the signs of real data are hard to predict. */
  Key CodeOf(Key key) const {
    auto negative = static_cast<Key>(-static_cast<Key>(key >> (8 * sizeof(Key) - 1)));
    auto code = static_cast<Key>((key ^ positive ^ (negative & sign)) - rotate);
    if (descending) code = code <= last ? static_cast<Key>(last - code) : code;
    return static_cast<Key>(code + nan_shift) & mask;
  }

  /** Inverse of `CodeOf` without the mask. */
  Key KeyOf(Key code) const {
    auto bits = static_cast<Key>(code - nan_shift);
    if (descending) bits = bits <= last ? static_cast<Key>(last - bits) : bits;
    bits = static_cast<Key>(bits + rotate);
    // The top bit of a signed or float key is the inverse of its code's; unsigned keys flip nothing.
    auto positive_key = static_cast<Key>(-static_cast<Key>(bits >> (8 * sizeof(Key) - 1)));
    return static_cast<Key>(bits ^ positive ^ (~positive_key & sign));
  }

  const Key positive, sign, rotate, last, nan_shift, mask;
  const bool descending;
  /** Whether each code is the key. */
  const bool identity = !positive && !sign && !rotate && !nan_shift && !descending && mask == static_cast<Key>(-1);
};

}  // namespace clsort
