#include "hash.h"

#include <algorithm>
#include <cstring>

#include "wait.h"

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

class HashJob final : public PromiseJob {
 public:
  HashJob(const HostMemory& host, const HostMemory& hash)
      : PromiseJob("hashAsync"),
        host_(host.store),
        data_(static_cast<unsigned char*>(host.data)),
        bytes_(host.bytes),
        hash_store_(hash.store),
        hash_(hash.data) {}
  /** Works on a copy, so that changes of the memory by the program are harmless. */
  void Run() override {
    Hash hash;
    std::memcpy(&hash, hash_, sizeof hash);
    hash.Add(data_, bytes_);
    std::memcpy(hash_, &hash, sizeof hash);
  }

 private:
  std::shared_ptr<v8::BackingStore> host_;
  const unsigned char* data_;
  size_t bytes_;
  std::shared_ptr<v8::BackingStore> hash_store_;
  void* hash_;
};

CLSORT_EXPORT(hashAsync, "hashAsync") {
  HostMemory host = call.LastingMemory(0, 0);
  HostMemory hash = call.LastingMemory(1, sizeof(Hash));
  if (call.ok()) StartPromise(call, std::make_unique<HashJob>(host, hash), nullptr);
}

}  // namespace

}  // namespace clsort
