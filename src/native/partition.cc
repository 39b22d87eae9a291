#include <algorithm>
#include <cstring>
#include <vector>

#include "host_keys.h"
#include "key_codec.h"
#include "policy.h"
#include "thread_pool.h"
#include "work_job.h"

namespace clsort {

namespace {

/** Codes between partitions and their number before each cell of the codes, see src/io/external/splitters.ts. */
struct Thresholds {
  std::vector<uint64_t> firsts;
  std::vector<uint16_t> before;
  unsigned shift;

  /** Returns whether every code stays within the tables. */
  bool IsValid() const {
    if (firsts.empty()) return true;
    if (firsts.size() > UINT16_MAX || firsts.back() < firsts.front()) return false;
    uint64_t cells = (firsts.back() >> shift) - (firsts.front() >> shift);
    if (before.size() < 2 || before.size() - 2 < cells) return false;
    return *std::max_element(before.begin(), before.end()) <= firsts.size();
  }

  size_t partitions() const { return firsts.size() + 1; }

  size_t PartitionOf(uint64_t code, uint64_t) const {
    if (firsts.empty() || code < firsts.front()) return 0;
    if (code >= firsts.back()) return firsts.size();
    uint64_t cell = (code >> shift) - (firsts.front() >> shift);
    size_t begin = before[cell], end = before[cell + 1];
    while (begin < end) {
      size_t middle = (begin + end) / 2;
      if (code >= firsts[middle]) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};

/** First keys of all partitions but the first one: the code and, among equal keys, the position. */
struct Borders {
  std::vector<uint64_t> codes;
  std::vector<uint64_t> positions;

  size_t partitions() const { return codes.size() + 1; }

  /** Branchless: there are few borders, so comparing with all of them is cheap. */
  size_t PartitionOf(uint64_t code, uint64_t position) const {
    size_t partition = 0;
    for (size_t b = 0; b < codes.size(); b++) {
      partition += code > codes[b] || (code == codes[b] && position >= positions[b]);
    }
    return partition;
  }
};

/** Moves each element to the next place of its partition; elements of partitions without output are skipped. */
template <size_t kBytes>
void Move(const char* data, size_t elements, const uint16_t* partitions, uint32_t* next, char* const* to) {
  for (size_t i = 0; i < elements; i++) {
    size_t p = partitions[i];
    if (to[p]) std::memcpy(to[p] + size_t{next[p]++} * kBytes, data + i * kBytes, kBytes);
  }
}

void WritePositions(uint64_t position, size_t elements, const uint16_t* partitions, uint32_t* next, char* const* to) {
  for (size_t i = 0; i < elements; i++) {
    size_t p = partitions[i];
    auto number = static_cast<uint32_t>(position + i);
    if (to[p]) std::memcpy(to[p] + size_t{next[p]++} * sizeof number, &number, sizeof number);
  }
}

/** Input and output of a partition. */
struct PartitionArguments {
  HostSpan keys;
  size_t width;
  uint64_t codec[kCodecWords];
  /** Position of the first key. */
  uint64_t position = 0;
  /** Bytes of the value of each key, 0 for none; values without memory are positions. */
  size_t value_bytes = 0;
  HostSpan values;
  /** Whether all keys go to `to_keys[0]`, partition after partition; otherwise each partition has its own output. */
  bool is_contiguous;
  std::vector<HostSpan> to_keys;
  std::vector<HostSpan> to_values;
  HostSpan counts;
  unsigned threads;
};

/**
 * Stable counting pass. Partitions are stored, so that concurrent changes of the keys cannot cause writes outside the
 * output.
 */
template <typename Splitters>
class PartitionJob final : public PromiseJob {
 public:
  PartitionJob(const char* name, Environment& environment, PartitionArguments arguments, Splitters splitters)
      : PromiseJob(name),
        environment_(environment),
        arguments_(std::move(arguments)),
        splitters_(std::move(splitters)),
        n_(arguments_.keys.bytes / arguments_.width) {}

  void Run() override {
    size_t partitions = splitters_.partitions();
    size_t pieces = CeilDivide(n_, kPartitionKeys);
    partition_.reset(new uint16_t[n_]);
    next_.resize(pieces * partitions);
    ParallelFor(environment_, arguments_.threads, pieces,
                [&](size_t i) { ByWidth(arguments_.width, [&](auto key) { CountPiece<decltype(key)>(i); }); });
    std::vector<uint32_t> counts(partitions);
    for (size_t p = 0; p < partitions; p++) {
      for (size_t i = 0; i < pieces; i++) {
        uint32_t count = next_[i * partitions + p];
        next_[i * partitions + p] = counts[p];
        counts[p] += count;
      }
    }
    std::memcpy(arguments_.counts.data, counts.data(), partitions * sizeof(uint32_t));
    auto to_keys = Places(arguments_.to_keys, arguments_.width, counts);
    auto to_values = Places(arguments_.to_values, arguments_.value_bytes, counts);
    ParallelFor(environment_, arguments_.threads, pieces, [&](size_t i) {
      MovePiece(i, arguments_.keys.data, arguments_.width, to_keys);
      if (arguments_.value_bytes > 0) MovePiece(i, arguments_.values.data, arguments_.value_bytes, to_values);
    });
  }

 private:
  size_t In(size_t piece) const { return std::min(kPartitionKeys, n_ - piece * kPartitionKeys); }

  template <typename Key>
  void CountPiece(size_t i) {
    const Codec<Key> codec(arguments_.codec);
    uint32_t* counts = &next_[i * splitters_.partitions()];
    for (size_t k = i * kPartitionKeys, end = k + In(i); k < end; k++) {
      uint64_t code = codec.CodeOf(KeyAt<Key>(arguments_.keys.data, k));
      size_t p = splitters_.PartitionOf(code, arguments_.position + k);
      partition_[k] = static_cast<uint16_t>(p);
      counts[p]++;
    }
  }

  /** Returns where each partition begins; null if its output is too small for the counted elements. */
  std::vector<char*> Places(const std::vector<HostSpan>& to, size_t bytes, const std::vector<uint32_t>& counts) const {
    std::vector<char*> places;
    size_t begin = 0;
    for (size_t p = 0; p < counts.size() && !to.empty(); p++) {
      const HostSpan& output = to[arguments_.is_contiguous ? 0 : p];
      bool fits = output.data && output.bytes / bytes >= begin + counts[p];
      places.push_back(fits ? output.data + begin * bytes : nullptr);
      if (arguments_.is_contiguous) begin += counts[p];
    }
    return places;
  }

  void MovePiece(size_t i, const char* data, size_t bytes, const std::vector<char*>& to) const {
    size_t first = i * kPartitionKeys, elements = In(i), partitions = splitters_.partitions();
    std::vector<uint32_t> next(&next_[i * partitions], &next_[i * partitions] + partitions);
    const uint16_t* partition = &partition_[first];
    if (!data) return WritePositions(arguments_.position + first, elements, partition, next.data(), to.data());
    data += first * bytes;
    switch (bytes) {
      case 1: return Move<1>(data, elements, partition, next.data(), to.data());
      case 2: return Move<2>(data, elements, partition, next.data(), to.data());
      case 4: return Move<4>(data, elements, partition, next.data(), to.data());
      case 8: return Move<8>(data, elements, partition, next.data(), to.data());
      default: return Move<16>(data, elements, partition, next.data(), to.data());
    }
  }

  Environment& environment_;
  const PartitionArguments arguments_;
  const Splitters splitters_;
  const size_t n_;
  std::unique_ptr<uint16_t[]> partition_;
  std::vector<uint32_t> next_;
};

/** Copies the elements of host memory. */
template <typename Element>
std::vector<Element> ToVector(const HostMemory& memory) {
  std::vector<Element> elements(memory.bytes / sizeof(Element));
  if (!elements.empty()) std::memcpy(elements.data(), memory.data, elements.size() * sizeof(Element));
  return elements;
}

/** Reads the first three arguments: keys, width and codec. */
PartitionArguments ReadKeys(Call& call) {
  PartitionArguments arguments;
  arguments.keys = HostSpan(call.LastingMemory(0, 0));
  arguments.width = call.Size(1);
  HostMemory codec = call.Memory(2, kCodecWords * sizeof(uint64_t));
  if (call.ok()) std::memcpy(arguments.codec, codec.data, sizeof arguments.codec);
  return arguments;
}

/** Throws unless there are whole keys, fewer than 2^32. */
bool CheckCount(Call& call, const PartitionArguments& arguments) {
  if (!CheckKeys(call, arguments.keys.bytes, arguments.width)) return false;
  size_t n = arguments.keys.bytes / arguments.width;
  return n <= UINT32_MAX || call.FailArgument(0, CL_INVALID_VALUE, "fewer than 2^32 keys", std::to_string(n));
}

template <typename Splitters>
void Start(Call& call, const char* name, PartitionArguments arguments, Splitters splitters) {
  StartPromise(
      call,
      std::make_unique<PartitionJob<Splitters>>(name, call.environment(), std::move(arguments), std::move(splitters)),
      nullptr);
}

CLSORT_EXPORT(placeAsync, "placeAsync") {
  PartitionArguments arguments = ReadKeys(call);
  HostMemory firsts = call.Memory(3, 0);
  HostMemory before = call.Memory(4, 0);
  auto shift = static_cast<unsigned>(call.Unsigned(5, CL_INVALID_VALUE, 63));
  arguments.is_contiguous = true;
  arguments.to_keys.emplace_back(call.LastingMemory(6, 0));
  arguments.counts = HostSpan(call.LastingMemory(7, 0));
  arguments.threads = static_cast<unsigned>(call.Unsigned(8, CL_INVALID_VALUE, kMaxPoolThreads));
  if (!call.ok() || !CheckCount(call, arguments)) return;
  size_t to_bytes = arguments.to_keys[0].bytes, counts_bytes = arguments.counts.bytes;
  if (to_bytes < arguments.keys.bytes)
    return (void)call.FailArgument(6, CL_INVALID_VALUE, "memory for all keys", std::to_string(to_bytes) + " bytes");
  Thresholds thresholds{ToVector<uint64_t>(firsts), ToVector<uint16_t>(before), shift};
  if (!thresholds.IsValid())
    return (void)call.Fail(CL_INVALID_VALUE, "expected a table of the thresholds but got another");
  if (counts_bytes / sizeof(uint32_t) < thresholds.partitions()) {
    return (void)call.FailArgument(7, CL_INVALID_VALUE, "a count for each partition",
                                   std::to_string(counts_bytes) + " bytes");
  }
  Start(call, "placeAsync", std::move(arguments), std::move(thresholds));
}

/** Returns the outputs of all partitions, without memory for null. */
std::vector<HostSpan> Outputs(Call& call, const std::vector<v8::Local<v8::Value>>& elements) {
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
}

CLSORT_EXPORT(splitAsync, "splitAsync") {
  // First, because reading elements runs JavaScript, which may detach memory.
  auto keys_to = call.Elements(8);
  auto values_to = call.Has(9) ? call.Elements(9) : std::vector<v8::Local<v8::Value>>();
  PartitionArguments arguments = ReadKeys(call);
  HostMemory codes = call.Memory(3, 0);
  HostMemory positions = call.Memory(4, 0);
  arguments.position = call.Size(5);
  if (call.Has(6)) arguments.values = HostSpan(call.LastingMemory(6, 0));
  size_t value_bytes = arguments.value_bytes = call.Size(7);
  size_t shards = codes.bytes / sizeof(uint64_t) + 1;
  arguments.counts = HostSpan(call.LastingMemory(10, shards * sizeof(uint32_t)));
  arguments.threads = static_cast<unsigned>(call.Unsigned(11, CL_INVALID_VALUE, kMaxPoolThreads));
  arguments.is_contiguous = false;
  arguments.to_keys = Outputs(call, keys_to);
  arguments.to_values = Outputs(call, values_to);
  if (!call.ok() || !CheckCount(call, arguments)) return;
  if (shards > 256)
    return (void)call.Fail(CL_INVALID_VALUE, "expected at most 256 shards but got " + std::to_string(shards));
  if (positions.bytes != codes.bytes) return (void)call.Fail(CL_INVALID_VALUE, "expected a position for each code");
  if (arguments.to_keys.size() != shards)
    return (void)call.Fail(CL_INVALID_VALUE, "expected a destination for each shard");
  if (value_bytes > 0 && !IsKeyWidth(value_bytes) && value_bytes != 16) {
    return (void)call.Fail(CL_INVALID_VALUE,
                           "expected values of 1, 2, 4, 8 or 16 bytes but got " + std::to_string(value_bytes));
  }
  if (arguments.to_values.size() != (value_bytes > 0 ? shards : 0)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected a destination for the values of each shard");
  }
  const HostSpan& values = arguments.values;
  if (value_bytes > 0 && !values.data && value_bytes != sizeof(uint32_t)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected positions of 4 bytes but got " + std::to_string(value_bytes));
  }
  size_t n = arguments.keys.bytes / arguments.width;
  if (values.data && (value_bytes == 0 || values.bytes / value_bytes < n)) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected a value for each key");
  }
  Borders borders{ToVector<uint64_t>(codes), ToVector<uint64_t>(positions)};
  Start(call, "splitAsync", std::move(arguments), std::move(borders));
}

}  // namespace

}  // namespace clsort
