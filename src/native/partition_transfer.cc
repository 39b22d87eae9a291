#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "divide.h"
#include "dual_staging.h"
#include "host_keys.h"
#include "key_codec.h"
#include "thread_pool.h"
#include "wait.h"

namespace clsort {

namespace {

/** Bytes of keys that a thread divides at a time; the result stays in the processor's caches. */
constexpr size_t kDividedBytes = size_t{64} << 10;

/** Buffers of a thread for divided keys. */
struct Parts {
  uint64_t parts[2][(kDividedBytes + kPaddingBytes) / sizeof(uint64_t)];
};

/**
 * Thread-local: freed pages may have to be faulted in again, and another thread's buffer is far from this processor.
 */
Parts& ThreadBuffers() {
  static thread_local std::unique_ptr<Parts> buffers(new Parts);
  return *buffers;
}

/** Input of the partition. */
struct Source {
  std::shared_ptr<v8::BackingStore> store;
  const char* data;
  size_t bytes;
  size_t width;
  uint64_t codec[kCodecWords];
  Border border;
  uint64_t position;
};

/** Result of a partition: its number of keys and the status of its transfers. One partition may fail alone. */
struct ShareResult {
  int64_t count;
  int64_t status;
};

/**
 * Partitions keys between two buffers, usually of two devices. Threads divide ranges of the keys and copy both parts
 * into the ring of the buffer, whose pieces are transferred when they are full.
 *
 * A range reserves its positions in both rings at once. The first unfinished range therefore waits for no other, so
 * there is no deadlock.
 */
class PartitionTransfer final : public PromiseJob {
 public:
  PartitionTransfer(Environment& environment, Source source, std::vector<std::unique_ptr<TransferRing>> rings,
                    const HostMemory& result)
      : PromiseJob("splitToBuffersAsync"),
        environment_(environment),
        source_(std::move(source)),
        rings_(std::move(rings)),
        result_store_(result.store),
        result_(static_cast<ShareResult*>(result.data)) {}

  void Run() override {
    for (auto& ring : rings_) ring->Begin(1);
    ParallelForRanges(environment_, rings_[0]->threads_, source_.bytes, kDividedBytes, [&](size_t start, size_t bytes) {
      ByWidth(source_.width, [&](auto key) { Divide<decltype(key)>(start, bytes); });
    });
    for (size_t s = 0; s < 2; s++) {
      TransferRing& ring = *rings_[s];
      if (next_[s] <= ring.bytes_) ring.TransferRest(next_[s]);
      ShareResult result = {static_cast<int64_t>(next_[s] / source_.width), ring.End()};
      std::memcpy(result_ + s, &result, sizeof result);
    }
  }

 private:
  template <typename Key>
  void Divide(size_t start, size_t bytes) {
    if (rings_[0]->Failed() && rings_[1]->Failed()) return;
    const Codec<Key> codec(source_.codec);
    auto border = static_cast<Key>(source_.border.code);
    size_t keys = bytes / sizeof(Key);
    uint64_t first = source_.position + start / sizeof(Key);
    size_t before = source_.border.position <= first ? 0 : std::min<uint64_t>(source_.border.position - first, keys);
    Key* parts[2] = {reinterpret_cast<Key*>(ThreadBuffers().parts[0]),
                     reinterpret_cast<Key*>(ThreadBuffers().parts[1])};
    size_t counts[2] = {0, 0};
    auto divide = [&](size_t from, size_t to, bool equals) {
      const char* data = source_.data + start + from * sizeof(Key);
      DivideKeys(data, to - from, codec, border, equals, parts[0], &counts[0], parts[1], &counts[1]);
    };
    divide(0, before, false);
    divide(before, keys, true);
    size_t places[2];
    {
      std::lock_guard<std::mutex> lock(guard_);
      for (size_t s = 0; s < 2; s++) {
        places[s] = next_[s];
        next_[s] += counts[s] * sizeof(Key);
      }
    }
    for (size_t s = 0; s < 2; s++)
      CopyToRing(*rings_[s], places[s], reinterpret_cast<const char*>(parts[s]), counts[s] * sizeof(Key));
  }

  /** Drops data beyond the end of the buffer. */
  static void CopyToRing(TransferRing& ring, size_t at, const char* data, size_t bytes) {
    if (at + bytes > ring.bytes_) return;
    while (bytes > 0) {
      size_t piece = at / ring.piece_, in = at % ring.piece_;
      size_t some = std::min(bytes, ring.piece_ - in);
      char* slot = ring.AcquireSlot(piece);
      if (!slot) return;
      std::memcpy(slot + in, data, some);
      ring.ReleaseSlot(piece, some);
      at += some;
      data += some;
      bytes -= some;
    }
  }

  Environment& environment_;  // waits for its jobs before it ends
  const Source source_;
  const std::vector<std::unique_ptr<TransferRing>> rings_;
  const std::shared_ptr<v8::BackingStore> result_store_;
  ShareResult* const result_;
  std::mutex guard_;
  /** Next position of either partition in bytes; guarded by `guard_`. */
  size_t next_[2] = {0, 0};
};

NAN_METHOD(PartitionToBuffersAsync) {
  Call call(info, "splitToBuffersAsync");
  // First, because reading elements runs JavaScript, which may detach memory.
  auto queues = call.Elements(6), buffers = call.Elements(7), rings = call.Elements(10);
  HostMemory keys = call.LastingMemory(0, 0);
  Source source{};
  source.width = call.Size(1);
  HostMemory codec = call.Memory(2, kCodecWords * sizeof(uint64_t));
  source.border.code = call.Unsigned(3, CL_INVALID_VALUE);
  source.border.position = call.Unsigned(4, CL_INVALID_VALUE);
  source.position = call.Size(5);
  HostMemory offsets = call.Memory(8, 2 * sizeof(uint64_t));
  HostMemory capacities = call.Memory(9, 2 * sizeof(uint64_t));
  size_t piece = call.Size(11);
  HostMemory result = call.LastingMemory(12, 2 * sizeof(ShareResult));
  unsigned threads = call.Threads(13);
  if (!call.ok()) return;
  if (!CheckKeys(call, keys.bytes, source.width)) return;
  if (piece == 0 || piece % source.width != 0)
    return (void)call.FailArgument(11, CL_INVALID_VALUE, "pieces of whole keys");
  DualStaging made;
  const bool writes[] = {true, true};
  auto *from = static_cast<uint64_t*>(offsets.data), *capacity = static_cast<uint64_t*>(capacities.data);
  if (!ReadDualStaging(call, {queues, buffers, rings, writes, from, capacity, piece, threads}, &made)) return;
  std::memcpy(source.codec, codec.data, sizeof source.codec);
  source.store = keys.store;
  source.data = static_cast<const char*>(keys.data);
  source.bytes = keys.bytes;
  StartPromise(
      call, std::make_unique<PartitionTransfer>(call.environment(), std::move(source), std::move(made.rings), result),
      made.platform);
}

}  // namespace

void ExportPartitionTransfer(Exports& exports) { exports.Set<PartitionToBuffersAsync>("splitToBuffersAsync"); }

}  // namespace clsort
