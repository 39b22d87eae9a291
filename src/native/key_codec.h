#ifndef CLSORT_NATIVE_KEY_CODEC_H_
#define CLSORT_NATIVE_KEY_CODEC_H_

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

  /** Branchless, because the signs of real data are hard to predict. */
  Key CodeOf(Key key) const {
    auto negative = static_cast<Key>(-static_cast<Key>(key >> (8 * sizeof(Key) - 1)));
    auto code = static_cast<Key>((key ^ positive ^ (negative & sign)) - rotate);
    if (descending) code = code <= last ? static_cast<Key>(last - code) : code;
    return static_cast<Key>(code + nan_shift) & mask;
  }

  const Key positive, sign, rotate, last, nan_shift, mask;
  const bool descending;
};

}  // namespace clsort

#endif  // CLSORT_NATIVE_KEY_CODEC_H_
