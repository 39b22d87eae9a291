#ifndef CLSORT_NATIVE_DIVIDE_H_
#define CLSORT_NATIVE_DIVIDE_H_

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define CLSORT_AVX512 1
#include <immintrin.h>
#else
#define CLSORT_AVX512 0
#endif

#include "host_keys.h"
#include "key_codec.h"

namespace clsort {

/** Splitter between two partitions: the code, and among equal keys the position, of the first key of the second one. */
struct Border {
  uint64_t code;
  uint64_t position;
};

/** Bytes after all keys of a partition that may also be written. */
constexpr size_t kPaddingBytes = 64;

#if CLSORT_AVX512

/** Vector of keys or codes, with the same function names for 32 and 64 bits. */
template <typename Key>
struct Vector;

#define CLSORT_OF_VECTORS __attribute__((target("avx512f"), always_inline)) static inline

template <>
struct Vector<uint32_t> {
  using Mask = __mmask16;
  CLSORT_OF_VECTORS __m512i Of(uint32_t word) { return _mm512_set1_epi32(static_cast<int>(word)); }
  CLSORT_OF_VECTORS __m512i Signs(__m512i a) { return _mm512_srai_epi32(a, 31); }
  CLSORT_OF_VECTORS __m512i Sum(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
  CLSORT_OF_VECTORS __m512i Difference(__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); }
  CLSORT_OF_VECTORS __m512i DifferenceIf(Mask mask, __m512i otherwise, __m512i a, __m512i b) {
    return _mm512_mask_sub_epi32(otherwise, mask, a, b);
  }
  CLSORT_OF_VECTORS Mask AtMost(__m512i a, __m512i b) { return _mm512_cmple_epu32_mask(a, b); }
  CLSORT_OF_VECTORS Mask AtLeast(__m512i a, __m512i b) { return _mm512_cmpge_epu32_mask(a, b); }
  CLSORT_OF_VECTORS Mask Above(__m512i a, __m512i b) { return _mm512_cmpgt_epu32_mask(a, b); }
  CLSORT_OF_VECTORS __m512i Compressed(Mask mask, __m512i a) { return _mm512_maskz_compress_epi32(mask, a); }
};

template <>
struct Vector<uint64_t> {
  using Mask = __mmask8;
  CLSORT_OF_VECTORS __m512i Of(uint64_t word) { return _mm512_set1_epi64(static_cast<long long>(word)); }
  CLSORT_OF_VECTORS __m512i Signs(__m512i a) { return _mm512_srai_epi64(a, 63); }
  CLSORT_OF_VECTORS __m512i Sum(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }
  CLSORT_OF_VECTORS __m512i Difference(__m512i a, __m512i b) { return _mm512_sub_epi64(a, b); }
  CLSORT_OF_VECTORS __m512i DifferenceIf(Mask mask, __m512i otherwise, __m512i a, __m512i b) {
    return _mm512_mask_sub_epi64(otherwise, mask, a, b);
  }
  CLSORT_OF_VECTORS Mask AtMost(__m512i a, __m512i b) { return _mm512_cmple_epu64_mask(a, b); }
  CLSORT_OF_VECTORS Mask AtLeast(__m512i a, __m512i b) { return _mm512_cmpge_epu64_mask(a, b); }
  CLSORT_OF_VECTORS Mask Above(__m512i a, __m512i b) { return _mm512_cmpgt_epu64_mask(a, b); }
  CLSORT_OF_VECTORS __m512i Compressed(Mask mask, __m512i a) { return _mm512_maskz_compress_epi64(mask, a); }
};

#undef CLSORT_OF_VECTORS

/** Like `DivideKeys`, for whole vectors only. @return the number of keys divided */
template <typename Key>
__attribute__((target("avx512f"))) size_t DivideVectors(const char* data, size_t keys, const Codec<Key>& codec,
                                                        Key border, bool equals, Key** below, Key** above) {
  using V = Vector<Key>;
  using Mask = typename V::Mask;
  constexpr size_t kLanes = sizeof(__m512i) / sizeof(Key);
  const __m512i positive = V::Of(codec.positive), sign = V::Of(codec.sign), rotate = V::Of(codec.rotate),
                last = V::Of(codec.last), nan_shift = V::Of(codec.nan_shift), mask = V::Of(codec.mask),
                limit = V::Of(border);
  size_t i = 0;
  for (; i + kLanes <= keys; i += kLanes) {
    __m512i key = _mm512_loadu_si512(data + i * sizeof(Key));
    // Same as `Codec::CodeOf`.
    __m512i code = _mm512_xor_si512(_mm512_xor_si512(key, positive), _mm512_and_si512(V::Signs(key), sign));
    code = V::Difference(code, rotate);
    if (codec.descending) code = V::DifferenceIf(V::AtMost(code, last), code, last, code);
    code = _mm512_and_si512(V::Sum(code, nan_shift), mask);
    Mask is_above = equals ? V::AtLeast(code, limit) : V::Above(code, limit);
    auto is_below = static_cast<Mask>(~is_above);
    _mm512_storeu_si512(*below, V::Compressed(is_below, key));
    _mm512_storeu_si512(*above, V::Compressed(is_above, key));
    *below += __builtin_popcount(is_below);
    *above += __builtin_popcount(is_above);
  }
  return i;
}

#endif

/**
 * Appends each key with a code below the splitter to one array and each key with a code above it to another; `equals`
 * says whether keys at the splitter go to the latter. Branchless: each key is written to both, and only one count
 * advances.
 *
 * @param low, high have room for all keys after the existing ones, and for `kPaddingBytes` more
 */
template <typename Key>
void DivideKeys(const char* data, size_t keys, const Codec<Key>& codec, Key border, bool equals, Key* low, size_t* lows,
                Key* high, size_t* highs) {
  Key *below = low + *lows, *above = high + *highs;
  size_t done = 0;
#if CLSORT_AVX512
  if constexpr (sizeof(Key) >= sizeof(uint32_t)) {  // narrower keys use scalar code
    static const bool has_vectors = __builtin_cpu_supports("avx512f");
    if (has_vectors) done = DivideVectors(data, keys, codec, border, equals, &below, &above);
  }
#endif
  for (size_t i = done; i < keys; i++) {
    Key key = KeyAt<Key>(data, i), code = codec.CodeOf(key);
    bool is_above = (code > border) | ((code == border) & equals);
    *below = key;
    *above = key;
    below += !is_above;
    above += is_above;
  }
  *lows = static_cast<size_t>(below - low);
  *highs = static_cast<size_t>(above - high);
}

}  // namespace clsort

#endif  // CLSORT_NATIVE_DIVIDE_H_
