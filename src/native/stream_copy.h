#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#define CLSORT_STREAMS 1
#include <emmintrin.h>
#else
#define CLSORT_STREAMS 0
#endif

namespace clsort {

/**
 * Copies past the caches data that is not read soon: the destination is not read before it is written, which saves a
 * third of the memory traffic. For overlapping memory the result is undefined.
 */
inline void StreamCopy(char* to, const char* from, size_t bytes) {
#if CLSORT_STREAMS
  constexpr size_t kVector = sizeof(__m128i);
  size_t at = std::min(bytes, (kVector - reinterpret_cast<uintptr_t>(to) % kVector) % kVector);
  std::memmove(to, from, at);
  for (; at + kVector <= bytes; at += kVector) {
    __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), some);
  }
  std::memmove(to + at, from + at, bytes - at);
#else
  std::memmove(to, from, bytes);
#endif
}

/** Copies 64 bytes past the caches; both addresses are multiples of 64. */
inline void StreamLine(void* to, const void* from) {
#if CLSORT_STREAMS
  for (size_t v = 0; v < 64 / sizeof(__m128i); v++) {
    _mm_stream_si128(static_cast<__m128i*>(to) + v, static_cast<const __m128i*>(from)[v]);
  }
#else
  std::memcpy(to, from, 64);
#endif
}

/** Makes earlier copies visible to other threads before this thread signals them. */
inline void EndStreamCopies() {
#if CLSORT_STREAMS
  _mm_sfence();
#endif
}

}  // namespace clsort
