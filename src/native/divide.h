#ifndef CLSORT_NATIVE_DIVIDE_H_
#define CLSORT_NATIVE_DIVIDE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define CLSORT_AVX512 1
#include <immintrin.h>
#else
#define CLSORT_AVX512 0
#endif

#include "key_codec.h"

namespace clsort {

/** Where a share begins: at a code, and among its equals at a position. */
struct Border {
  uint64_t code;
  uint64_t position;
};

/** Bytes behind all keys of a part that may be written, too. */
constexpr size_t kBytesBehind = 64;

#if CLSORT_AVX512

/** The same for as many whole vectors as there are. @return keys that were divided */
__attribute__((target("avx512f"))) inline size_t DivideVectors(const char* data, size_t keys,
                                                               const Codec<uint32_t>& codec, uint32_t border,
                                                               bool equals, uint32_t** below, uint32_t** above) {
  const __m512i positive = _mm512_set1_epi32(static_cast<int>(codec.positive)),
                sign = _mm512_set1_epi32(static_cast<int>(codec.sign)),
                rotate = _mm512_set1_epi32(static_cast<int>(codec.rotate)),
                last = _mm512_set1_epi32(static_cast<int>(codec.last)),
                nan_shift = _mm512_set1_epi32(static_cast<int>(codec.nan_shift)),
                mask = _mm512_set1_epi32(static_cast<int>(codec.mask)),
                limit = _mm512_set1_epi32(static_cast<int>(border));
  size_t i = 0;
  for (; i + 16 <= keys; i += 16) {
    __m512i key = _mm512_loadu_si512(data + i * sizeof(uint32_t));
    __m512i negative = _mm512_srai_epi32(key, 31);
    __m512i code = _mm512_xor_si512(_mm512_xor_si512(key, positive), _mm512_and_si512(negative, sign));
    code = _mm512_sub_epi32(code, rotate);
    if (codec.descending) code = _mm512_mask_sub_epi32(code, _mm512_cmple_epu32_mask(code, last), last, code);
    code = _mm512_and_si512(_mm512_add_epi32(code, nan_shift), mask);
    __mmask16 is_above = equals ? _mm512_cmpge_epu32_mask(code, limit) : _mm512_cmpgt_epu32_mask(code, limit);
    auto is_below = static_cast<__mmask16>(~is_above);
    _mm512_storeu_si512(*below, _mm512_maskz_compress_epi32(is_below, key));
    _mm512_storeu_si512(*above, _mm512_maskz_compress_epi32(is_above, key));
    *below += __builtin_popcount(is_below);
    *above += __builtin_popcount(is_above);
  }
  return i;
}

__attribute__((target("avx512f"))) inline size_t DivideVectors(const char* data, size_t keys,
                                                               const Codec<uint64_t>& codec, uint64_t border,
                                                               bool equals, uint64_t** below, uint64_t** above) {
  auto all = [](uint64_t word)
                 __attribute__((target("avx512f"))) { return _mm512_set1_epi64(static_cast<long long>(word)); };
  const __m512i positive = all(codec.positive), sign = all(codec.sign), rotate = all(codec.rotate),
                last = all(codec.last), nan_shift = all(codec.nan_shift), mask = all(codec.mask), limit = all(border);
  size_t i = 0;
  for (; i + 8 <= keys; i += 8) {
    __m512i key = _mm512_loadu_si512(data + i * sizeof(uint64_t));
    __m512i negative = _mm512_srai_epi64(key, 63);
    __m512i code = _mm512_xor_si512(_mm512_xor_si512(key, positive), _mm512_and_si512(negative, sign));
    code = _mm512_sub_epi64(code, rotate);
    if (codec.descending) code = _mm512_mask_sub_epi64(code, _mm512_cmple_epu64_mask(code, last), last, code);
    code = _mm512_and_si512(_mm512_add_epi64(code, nan_shift), mask);
    __mmask8 is_above = equals ? _mm512_cmpge_epu64_mask(code, limit) : _mm512_cmpgt_epu64_mask(code, limit);
    auto is_below = static_cast<__mmask8>(~is_above);
    _mm512_storeu_si512(*below, _mm512_maskz_compress_epi64(is_below, key));
    _mm512_storeu_si512(*above, _mm512_maskz_compress_epi64(is_above, key));
    *below += __builtin_popcount(is_below);
    *above += __builtin_popcount(is_above);
  }
  return i;
}

/** Narrower keys go one by one. */
template <typename Key>
size_t DivideVectors(const char*, size_t, const Codec<Key>&, Key, bool, Key**, Key**) {
  return 0;
}

#endif

/**
 * Appends each key to those whose codes are below a border or to those above it; `equals` says whether the latter are joined by
 * those at the border. Nothing branches on a key: each is written behind both, and counts for one.
 *
 * @param low, high have room for all keys beside what is there, and for `kBytesBehind` more
 */
template <typename Key>
void DivideKeys(const char* data, size_t keys, const Codec<Key>& codec, Key border, bool equals, Key* low, size_t* lows,
                Key* high, size_t* highs) {
  Key *below = low + *lows, *above = high + *highs;
  size_t done = 0;
#if CLSORT_AVX512
  static const bool has_vectors = __builtin_cpu_supports("avx512f");
  if (has_vectors) done = DivideVectors(data, keys, codec, border, equals, &below, &above);
#endif
  for (size_t i = done; i < keys; i++) {
    Key key;
    std::memcpy(&key, data + i * sizeof key, sizeof key);
    Key code = codec.CodeOf(key);
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
