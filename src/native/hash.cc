#include "hash.h"

#include <algorithm>
#include <cstring>

#include "work_job.h"

namespace clsort {

namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                   kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

/** Files are little-endian, as is every supported machine. */
template <typename Word>
uint64_t Read(const unsigned char* data) {
  Word word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

uint64_t Rotate(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

uint64_t Round(uint64_t lane, uint64_t input) { return Rotate(lane + input * kPrime2, 31) * kPrime1; }

}  // namespace

void Hash::Add(const unsigned char* data, size_t length) {
  if (bytes == 0) {
    lanes[0] = kPrime1 + kPrime2;
    lanes[1] = kPrime2;
    lanes[2] = 0;
    lanes[3] = 0 - kPrime1;
  }
  size_t held = bytes % kStripe;
  bytes += length;
  if (held > 0 && length > 0) {  // the pointer of an empty array may be null
    size_t taken = std::min(length, kStripe - held);
    std::memcpy(rest + held, data, taken);
    data += taken;
    length -= taken;
    if (held + taken == kStripe) Stripes(rest, 1);
  }
  Stripes(data, length / kStripe);
  size_t left = length % kStripe;
  if (left > 0) std::memcpy(rest, data + length - left, left);
  value = End();
}

void Hash::Stripes(const unsigned char* data, size_t count) {
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  for (; count > 0; count--, data += kStripe) {
    a = Round(a, Read<uint64_t>(data));
    b = Round(b, Read<uint64_t>(data + 8));
    c = Round(c, Read<uint64_t>(data + 16));
    d = Round(d, Read<uint64_t>(data + 24));
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

uint64_t Hash::End() const {
  uint64_t mixed = kPrime5;
  if (bytes >= kStripe) {
    mixed = Rotate(lanes[0], 1) + Rotate(lanes[1], 7) + Rotate(lanes[2], 12) + Rotate(lanes[3], 18);
    for (uint64_t lane : lanes) mixed = (mixed ^ Round(0, lane)) * kPrime1 + kPrime4;
  }
  mixed += bytes;
  const unsigned char* data = rest;
  size_t left = bytes % kStripe;
  for (; left >= 8; data += 8, left -= 8) {
    mixed = Rotate(mixed ^ Round(0, Read<uint64_t>(data)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    mixed = Rotate(mixed ^ Read<uint32_t>(data) * kPrime1, 23) * kPrime2 + kPrime3;
    data += 4;
    left -= 4;
  }
  for (; left > 0; data++, left--) mixed = Rotate(mixed ^ *data * kPrime5, 11) * kPrime1;
  mixed = (mixed ^ mixed >> 33) * kPrime2;
  mixed = (mixed ^ mixed >> 29) * kPrime3;
  return mixed ^ mixed >> 32;
}

namespace {

CLSORT_EXPORT(hashAsync, "hashAsync") {
  HostSpan host(call.LastingMemory(0, 0)), state(call.LastingMemory(1, sizeof(Hash)));
  if (!call.ok()) return;
  StartWork(call, "hashAsync", [host, state] {
    Hash hash;  // a copy, so that changes of the memory by the program are harmless
    std::memcpy(&hash, state.data, sizeof hash);
    hash.Add(reinterpret_cast<const unsigned char*>(host.data), host.bytes);
    std::memcpy(state.data, &hash, sizeof hash);
  });
}

}  // namespace

}  // namespace clsort
