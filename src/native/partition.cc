#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "divide.h"
#include "host_keys.h"
#include "key_codec.h"
#include "stream_copy.h"
#include "thread_pool.h"
#include "wait.h"

namespace clsort {

namespace {

/** Elements per work item of the thread pool. */
constexpr size_t kPiece = size_t{1} << 16;

/** Maximum number of partitions: a byte stores the partition of a key. */
constexpr size_t kMaxShares = 256;

/** Determines the partition of each key and counts the keys of each partition. */
template <typename Key>
void Count(const char* data, size_t keys, uint64_t position, const uint64_t* words, const std::vector<Border>& borders,
           uint8_t* shares, uint32_t* counts) {
  const Codec<Key> codec(words);
  for (size_t i = 0; i < keys; i++) {
    uint64_t code = codec.CodeOf(KeyAt<Key>(data, i));
    unsigned share = 0;
    // Branchless: there are few splitters, so comparing with all of them is cheap.
    for (const Border& border : borders) {
      share += code > border.code || (code == border.code && position + i >= border.position);
    }
    shares[i] = static_cast<uint8_t>(share);
    counts[share]++;
  }
}

/** Moves each element to the next position of its partition; elements of partitions without output are skipped. */
template <size_t kBytes>
void Move(const char* data, size_t elements, const uint8_t* shares, uint32_t* next, char* const* to) {
  for (size_t i = 0; i < elements; i++) {
    size_t share = shares[i];
    if (to[share]) std::memcpy(to[share] + size_t{next[share]++} * kBytes, data + i * kBytes, kBytes);
  }
}

/** Bytes of keys that are divided in buffers before they are written, so that output is written in long runs. */
constexpr size_t kBufferBytes = 16384;

/**
 * `Count` for keys alone and two partitions, below and above a splitter; `equals` says whether keys at the splitter go
 * above. Partitions are not stored, because computing them again is as fast.
 */
template <typename Key>
size_t CountAbove(const char* data, size_t keys, const Codec<Key>& codec, Key border, bool equals) {
  size_t above = 0;
  for (size_t i = 0; i < keys; i++) {
    Key code = codec.CodeOf(KeyAt<Key>(data, i));
    above += (code > border) | ((code == border) & equals);
  }
  return above;
}

/** Output of limited size; bytes beyond it are dropped. */
struct OutputSpan {
  char* to;
  size_t bytes;

  void Put(const void* data, size_t count) {
    count = std::min(count, bytes);
    if (!to || count == 0) return;
    StreamCopy(to, static_cast<const char*>(data), count);
    to += count;
    bytes -= count;
  }
};

/** Moves keys to the two partitions that `CountAbove` has counted. */
template <typename Key>
void Divide(const char* data, size_t keys, const Codec<Key>& codec, Key border, bool equals, OutputSpan* below,
            OutputSpan* above) {
  constexpr size_t kBufferKeys = kBufferBytes / sizeof(Key);
  constexpr size_t kPaddingKeys = kPaddingBytes / sizeof(Key);
  Key low[kBufferKeys + kPaddingKeys], high[kBufferKeys + kPaddingKeys];
  for (size_t start = 0; start < keys; start += kBufferKeys) {
    size_t lows = 0, highs = 0;
    DivideKeys(data + start * sizeof(Key), std::min(kBufferKeys, keys - start), codec, border, equals, low, &lows, high,
               &highs);
    below->Put(low, lows * sizeof(Key));
    above->Put(high, highs * sizeof(Key));
  }
}

void WritePositions(uint64_t position, size_t elements, const uint8_t* shares, uint32_t* next, char* const* to) {
  for (size_t i = 0; i < elements; i++) {
    size_t share = shares[i];
    auto number = static_cast<uint32_t>(position + i);
    if (to[share]) std::memcpy(to[share] + size_t{next[share]++} * sizeof number, &number, sizeof number);
  }
}

/** Host memory and the store that keeps it alive. */
struct HostSpan {
  HostSpan() = default;
  explicit HostSpan(const HostMemory& memory)
      : store(memory.store), data(static_cast<char*>(memory.data)), bytes(memory.bytes) {}

  std::shared_ptr<v8::BackingStore> store;
  char* data = nullptr;
  size_t bytes = 0;
};

/** Input and output of a partition. */
struct PartitionArguments {
  HostSpan keys;
  size_t width;
  uint64_t codec[kCodecWords];
  std::vector<Border> borders;
  uint64_t position;
  /** Bytes of the value of each key, 0 for none; values without memory are positions. */
  size_t value_bytes;
  HostSpan values;
  std::vector<HostSpan> to_keys;
  std::vector<HostSpan> to_values;
  HostSpan counts;
  unsigned threads;
};

class PartitionJob final : public PromiseJob {
 public:
  PartitionJob(Environment& environment, PartitionArguments split)
      : PromiseJob("splitAsync"),
        environment_(environment),
        arguments_(std::move(split)),
        n_(arguments_.keys.bytes / arguments_.width) {}

  void Run() override {
    if (IsTwoWay() && UsesAllBits()) return RunUnordered();
    RunInOrder();
  }

 private:
  /**
   * Stable counting pass. Partitions are stored, or outputs are limited to the counted size, so that concurrent changes
   * of the keys cannot cause writes outside the output.
   */
  void RunInOrder() {
    size_t shares = arguments_.borders.size() + 1;
    size_t pieces = CeilDivide(n_, kPiece);
    if (!IsTwoWay()) share_.reset(new uint8_t[n_]);
    next_.resize(pieces * shares);
    ParallelFor(environment_, arguments_.threads, pieces, [&](size_t i) { CountPiece(i); });
    std::vector<uint32_t> counts(shares);
    for (size_t s = 0; s < shares; s++) {
      for (size_t i = 0; i < pieces; i++) {
        uint32_t count = next_[i * shares + s];
        next_[i * shares + s] = counts[s];
        counts[s] += count;
      }
    }
    std::memcpy(arguments_.counts.data, counts.data(), shares * sizeof(uint32_t));
    auto to_keys = Places(arguments_.to_keys, arguments_.width, counts);
    auto to_values = Places(arguments_.to_values, arguments_.value_bytes, counts);
    ParallelFor(environment_, arguments_.threads, pieces, [&](size_t i) {
      if (!IsTwoWay()) return MovePiece(i, to_keys, to_values);
      OutputSpan outputs[2];
      for (size_t s = 0; s < 2; s++) {
        size_t begin = next_[2 * i + s], end = 2 * i + 2 < next_.size() ? next_[2 * i + 2 + s] : counts[s];
        outputs[s] = OutputAt(to_keys[s], begin, end - begin);
      }
      DividePiece(i, outputs);
    });
  }

  /**
   * Equal codes are equal keys here, so the order in a partition is free: pieces reserve positions in the order of
   * their completion and each key is read from memory once. Writes never exceed the size of the output.
   */
  void RunUnordered() {
    size_t pieces = CeilDivide(n_, kPiece);
    next_.resize(pieces * 2);
    std::atomic<size_t> counts[2] = {{0}, {0}};
    ParallelFor(environment_, arguments_.threads, pieces, [&](size_t i) {
      CountPiece(i);
      OutputSpan outputs[2];
      for (size_t s = 0; s < 2; s++) {
        size_t count = next_[2 * i + s], begin = counts[s].fetch_add(count);
        const HostSpan& to = arguments_.to_keys[s];
        outputs[s] = OutputAt(begin + count <= to.bytes / arguments_.width ? to.data : nullptr, begin, count);
      }
      DividePiece(i, outputs);
    });
    for (size_t s = 0; s < 2; s++) {
      auto count = static_cast<uint32_t>(counts[s]);
      std::memcpy(arguments_.counts.data + s * sizeof count, &count, sizeof count);
    }
  }

  OutputSpan OutputAt(char* keys, size_t begin, size_t count) const {
    return {keys ? keys + begin * arguments_.width : nullptr, count * arguments_.width};
  }

  size_t In(size_t piece) const { return std::min(kPiece, n_ - piece * kPiece); }

  /** Returns whether there are two partitions and no values. */
  bool IsTwoWay() const { return arguments_.borders.size() == 1 && arguments_.value_bytes == 0; }

  /** Returns whether all bits of the codes are significant. */
  bool UsesAllBits() const {
    return arguments_.codec[kMask] << (64 - 8 * arguments_.width) == ~uint64_t{0} << (64 - 8 * arguments_.width);
  }

  /**
   * Calls `use(data, keys, codec, border, equals)` for both parts of a piece: keys at the splitter belong to different
   * partitions in them.
   */
  template <typename Key, typename Use>
  void ByEquals(size_t i, const Use& use) {
    const Codec<Key> codec(arguments_.codec);
    const Border& border = arguments_.borders[0];
    uint64_t first = arguments_.position + i * kPiece;
    size_t keys = In(i);
    size_t before = border.position <= first ? 0 : std::min<uint64_t>(border.position - first, keys);
    const char* data = arguments_.keys.data + i * kPiece * sizeof(Key);
    auto code = static_cast<Key>(border.code);
    use(data, before, codec, code, false);
    use(data + before * sizeof(Key), keys - before, codec, code, true);
  }

  void CountPiece(size_t i) {
    size_t first = i * kPiece;
    const char* data = arguments_.keys.data + first * arguments_.width;
    auto count = [&](auto key) {
      using Key = decltype(key);
      if (IsTwoWay()) {
        size_t above = 0;
        ByEquals<Key>(i, [&](const char* part, size_t keys, const Codec<Key>& codec, Key border, bool equals) {
          above += CountAbove(part, keys, codec, border, equals);
        });
        next_[2 * i] = static_cast<uint32_t>(In(i) - above);
        next_[2 * i + 1] = static_cast<uint32_t>(above);
        return;
      }
      Count<Key>(data, In(i), arguments_.position + first, arguments_.codec, arguments_.borders, &share_[first],
                 &next_[i * (arguments_.borders.size() + 1)]);
    };
    ByWidth(arguments_.width, count);
  }

  /** Returns the outputs of all partitions; null if an output is too small for the counted elements. */
  static std::vector<char*> Places(const std::vector<HostSpan>& to, size_t bytes, const std::vector<uint32_t>& counts) {
    std::vector<char*> places;
    for (size_t s = 0; s < to.size(); s++) {
      bool fits = to[s].data && to[s].bytes / bytes >= counts[s];
      places.push_back(fits ? to[s].data : nullptr);
    }
    return places;
  }

  void MovePiece(size_t i, const std::vector<char*>& to_keys, const std::vector<char*>& to_values) {
    size_t shares = arguments_.borders.size() + 1;
    size_t first = i * kPiece;
    auto move = [&](const char* data, size_t bytes, const std::vector<char*>& to) {
      std::vector<uint32_t> next(&next_[i * shares], &next_[i * shares] + shares);
      const uint8_t* share = &share_[first];
      if (!data) return WritePositions(arguments_.position + first, In(i), share, next.data(), to.data());
      data += first * bytes;
      switch (bytes) {
        case 1: return Move<1>(data, In(i), share, next.data(), to.data());
        case 2: return Move<2>(data, In(i), share, next.data(), to.data());
        case 4: return Move<4>(data, In(i), share, next.data(), to.data());
        case 8: return Move<8>(data, In(i), share, next.data(), to.data());
        default: return Move<16>(data, In(i), share, next.data(), to.data());
      }
    };
    move(arguments_.keys.data, arguments_.width, to_keys);
    if (arguments_.value_bytes > 0) move(arguments_.values.data, arguments_.value_bytes, to_values);
  }

  void DividePiece(size_t i, OutputSpan* outputs) {
    auto divide = [&](auto key) {
      using Key = decltype(key);
      ByEquals<Key>(i, [&](const char* data, size_t keys, const Codec<Key>& codec, Key border, bool equals) {
        Divide(data, keys, codec, border, equals, &outputs[0], &outputs[1]);
      });
    };
    ByWidth(arguments_.width, divide);
    EndStreamCopies();
  }

  Environment& environment_;
  PartitionArguments arguments_;
  size_t n_;
  std::unique_ptr<uint8_t[]> share_;
  std::vector<uint32_t> next_;
};

NAN_METHOD(PartitionAsync) {
  Call call(info, "splitAsync");
  // First, because reading elements runs JavaScript, which may detach memory.
  auto keys_to = call.Elements(8);
  auto values_to = call.Has(9) ? call.Elements(9) : std::vector<v8::Local<v8::Value>>();
  PartitionArguments split;
  HostMemory keys = call.LastingMemory(0, 0);
  split.width = call.Size(1);
  HostMemory codec = call.Memory(2, kCodecWords * sizeof(uint64_t));
  HostMemory codes = call.Memory(3, 0);
  HostMemory positions = call.Memory(4, 0);
  split.position = call.Size(5);
  HostMemory values;
  if (call.Has(6)) values = call.LastingMemory(6, 0);
  split.value_bytes = call.Size(7);
  size_t shares = codes.bytes / sizeof(uint64_t) + 1;
  HostMemory counts = call.LastingMemory(10, shares * sizeof(uint32_t));
  split.threads = static_cast<unsigned>(call.Unsigned(11, CL_INVALID_VALUE, kMaxPoolThreads));
  auto places = [&](const std::vector<v8::Local<v8::Value>>& elements) {
    std::vector<HostSpan> spans;
    for (auto element : elements) {
      if (element->IsNullOrUndefined()) {
        spans.emplace_back();
        continue;
      }
      HostMemory memory = call.Memory(element, 0, CL_INVALID_VALUE);
      if (memory.resizable) call.FailExpected(CL_INVALID_VALUE, "an ArrayBuffer of fixed length", "a resizable one");
      spans.emplace_back(memory);
    }
    return spans;
  };
  split.to_keys = places(keys_to);
  split.to_values = places(values_to);
  if (!call.ok()) return;
  if (!CheckKeys(call, keys.bytes, split.width)) return;
  size_t n = keys.bytes / split.width;
  if (n > UINT32_MAX) return (void)call.FailArgument(0, CL_INVALID_VALUE, "fewer than 2^32 keys", std::to_string(n));
  if (shares > kMaxShares)
    return (void)call.Fail(CL_INVALID_VALUE, "expected at most 256 shards but got " + std::to_string(shares));
  if (positions.bytes != codes.bytes) return (void)call.Fail(CL_INVALID_VALUE, "expected a position for each code");
  if (split.to_keys.size() != shares) return (void)call.Fail(CL_INVALID_VALUE, "expected a destination for each shard");
  bool carries = split.value_bytes > 0;
  if (carries && !IsKeyWidth(split.value_bytes) && split.value_bytes != 16) {
    return (void)call.Fail(CL_INVALID_VALUE,
                           "expected values of 1, 2, 4, 8 or 16 bytes but got " + std::to_string(split.value_bytes));
  }
  if (split.to_values.size() != (carries ? shares : 0)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected a destination for the values of each shard");
  }
  if (carries && !values.data && split.value_bytes != sizeof(uint32_t)) {
    return (void)call.Fail(CL_INVALID_VALUE,
                           "expected positions of 4 bytes but got " + std::to_string(split.value_bytes));
  }
  if (values.data && (!carries || values.bytes / split.value_bytes < n)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected a value for each key");
  }
  std::memcpy(split.codec, codec.data, sizeof split.codec);
  for (size_t s = 0; s + 1 < shares; s++) {
    split.borders.push_back({static_cast<uint64_t*>(codes.data)[s], static_cast<uint64_t*>(positions.data)[s]});
  }
  split.keys = HostSpan(keys);
  if (values.data) split.values = HostSpan(values);
  split.counts = HostSpan(counts);
  StartPromise(call, std::make_unique<PartitionJob>(call.environment(), std::move(split)), nullptr);
}

}  // namespace

void ExportPartition(Exports& exports) { exports.Set<PartitionAsync>("splitAsync"); }

}  // namespace clsort
