#include <atomic>
#include <cstring>

#include "dual_staging.h"
#include "wait.h"

namespace clsort {

namespace {

/** Status of either side's transfers. */
struct RelayStatus {
  int64_t status[2];
};

/**
 * Brings bytes of one buffer to another, mostly of another device: one device puts pieces into its ring, threads copy them into the
 * ring of the other one, which takes them from there. Where both reach the same ring, it takes them from where they were put.
 *
 * A thread waits for pieces that came before its own. So of the shares that are not done the first one waits for devices alone,
 * which is why all of them end.
 */
class Relay final : public PromiseJob {
 public:
  Relay(Environment& environment, DualStaging two, bool shared, const HostMemory& told)
      : PromiseJob("relayAsync"),
        environment_(environment),
        shared_(shared),
        from_(std::move(two.rings[0])),
        to_(std::move(two.rings[1])),
        result_store_(told.store),
        result_(told.data) {}

  void Run() override {
    RelayStatus told{};
    if (from_->pieces() > 0) {
      if (shared_) {
        MoveThroughOneRing();
      } else {
        MoveAll();
      }
      told = {{from_->End(), to_->End()}};
      if (failed_ >= 0) told.status[1 - failed_] = CL_SUCCESS;
    }
    std::memcpy(result_, &told, sizeof told);
  }

 private:
  /** Through one ring. A piece comes into a slot when the one before has left it, and half of the slots are those of pieces that leave. */
  void MoveThroughOneRing() {
    to_->Begin(to_->piece_);
    from_->Begin(from_->piece_);
    const size_t pieces = from_->pieces(), slots = from_->slots(), leaving = (slots + 1) / 2;
    for (size_t i = 0; i < pieces; i++) {
      if (i >= leaving && i - leaving + slots < pieces) {
        if (!to_->AcquireSlot(i - leaving + slots)) return Stop(1);
        from_->ReleaseSlot(i - leaving);
      }
      if (!from_->AcquireSlot(i)) return Stop(0);
      to_->ReleaseSlot(i);
    }
  }

  /** Through two rings. */
  void MoveAll() {
    to_->Begin(kCopiedBytes);
    from_->ForEachShare(environment_, kCopiedBytes,
                        [&](size_t piece, size_t start, size_t length) { Move(piece, start, length); });
  }

  void Move(size_t piece, size_t start, size_t length) {
    const char* source = from_->AcquireSlot(piece);
    if (!source) return Stop(0);
    char* slot = to_->AcquireSlot(piece);
    if (!slot) return Stop(1);
    std::memcpy(slot + start, source + start, length);
    to_->ReleaseSlot(piece);
    from_->ReleaseSlot(piece);
  }

  /** Ends the other side, too, which would wait for ever for what does not come. The side that failed first is told of. */
  void Stop(int side) {
    int none = -1;
    failed_.compare_exchange_strong(none, side);
    (side == 0 ? to_ : from_)->Fail(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  }

  Environment& environment_;  // waits for its jobs before it ends
  const bool shared_;
  const std::unique_ptr<TransferRing> from_, to_;
  const std::shared_ptr<v8::BackingStore> result_store_;
  void* const result_;
  /** The side that failed first, or -1. */
  std::atomic<int> failed_{-1};
};

NAN_METHOD(RelayAsync) {
  Call call(info, "relayAsync");
  // Reading elements runs JavaScript, which may take memory away: first of all.
  auto queues = call.Elements(0), buffers = call.Elements(1), rings = call.Elements(4);
  const bool shared = rings.size() == 1;
  if (shared) rings.push_back(rings[0]);
  HostMemory offsets = call.Memory(2, 2 * sizeof(uint64_t));
  uint64_t size = call.Size(3);
  size_t piece = call.Size(5);
  HostMemory told = call.LastingMemory(6, sizeof(RelayStatus));
  auto threads = static_cast<unsigned>(call.Unsigned(call[7], CL_INVALID_VALUE, kMaxPoolThreads));
  if (!call.ok()) return;
  const bool writes[] = {false, true};
  const uint64_t bytes[] = {size, size};
  DualStaging two;
  if (!ReadDualStaging(
          call, {queues, buffers, rings, writes, static_cast<uint64_t*>(offsets.data), bytes, piece, threads}, &two))
    return;
  const Platform* platform = two.platform;
  StartPromise(call, std::make_unique<Relay>(call.environment(), std::move(two), shared, told), platform);
}

}  // namespace

void ExportRelay(Exports& exports) { exports.Set<RelayAsync>("relayAsync"); }

}  // namespace clsort
