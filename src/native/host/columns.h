#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../key_codec.h"

namespace clsort::host {

/** Elements that are encoded or decoded at a time: they stay in the fastest cache. */
constexpr size_t kBlock = 512;

/** Keeps a function that handles whole blocks out of its callers, which would each have a copy of its vector code. */
#define CLSORT_NOINLINE __attribute__((noinline))

/** Encodes keys of an array without alignment. */
template <typename Key>
CLSORT_NOINLINE void Encode(const Codec<Key>& codec, const char* keys, size_t n, Key* codes) {
  if (codec.identity) {
    std::memcpy(codes, keys, n * sizeof(Key));
    return;
  }
  for (size_t i = 0; i < n; i++) {
    Key key;
    std::memcpy(&key, keys + i * sizeof(Key), sizeof key);
    codes[i] = codec.CodeOf(key);
  }
}

/** Calls `use(at, codes, count)` for blocks of the keys from `first` to before `last`, and their codes. */
template <typename Key, typename Use>
void ForCodes(const Key* keys, const Codec<Key>& codec, size_t first, size_t last, const Use& use) {
  Key codes[kBlock];
  for (size_t at = first; at < last; at += kBlock) {
    const size_t count = std::min(kBlock, last - at);
    Encode(codec, reinterpret_cast<const char*>(keys + at), count, codes);
    use(at, codes, count);
  }
}

/** Decodes codes to an array without alignment, which may be the memory of the codes. */
template <typename Key>
CLSORT_NOINLINE void Decode(const Codec<Key>& codec, const Key* codes, size_t n, char* keys) {
  if (codec.identity) {
    if (keys != reinterpret_cast<const char*>(codes)) std::memcpy(keys, codes, n * sizeof(Key));
    return;
  }
  Key block[kBlock];
  for (size_t at = 0; at < n; at += kBlock) {
    const size_t count = std::min(kBlock, n - at);
    for (size_t i = 0; i < count; i++) block[i] = codec.KeyOf(codes[at + i]);
    std::memcpy(keys + at * sizeof(Key), block, count * sizeof(Key));
  }
}

/** Values of 1 to 8 bytes, or positions, that travel with the keys as payloads. */
struct Values {
  /** Null for positions. */
  const char* data = nullptr;
  size_t bytes = 0;

  /** Reads payloads `first` to `first + n`; positions count from `origin`. */
  template <typename Payload>
  CLSORT_NOINLINE void Read(size_t first, size_t n, size_t origin, Payload* payloads) const {
    if (!data) {
      for (size_t i = 0; i < n; i++) payloads[i] = static_cast<Payload>(first - origin + i);
      return;
    }
    if (bytes == sizeof(Payload)) {
      std::memcpy(payloads, data + first * bytes, n * bytes);
      return;
    }
    for (size_t i = 0; i < n; i++) {
      payloads[i] = 0;
      std::memcpy(&payloads[i], data + (first + i) * bytes, bytes);
    }
  }
};

/** Writes payloads as values of `bytes` bytes to elements `first` to `first + n`. */
template <typename Payload>
CLSORT_NOINLINE void WriteValues(const Payload* payloads, size_t n, char* data, size_t bytes, size_t first) {
  if (bytes == sizeof(Payload)) {
    std::memmove(data + first * bytes, payloads, n * bytes);
    return;
  }
  for (size_t i = 0; i < n; i++) std::memcpy(data + (first + i) * bytes, &payloads[i], bytes);
}

}  // namespace clsort::host
