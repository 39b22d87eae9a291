#include <atomic>
#include <cstring>

#include "dual_staging.h"
#include "wait.h"

namespace clsort {

namespace {

/** Status of the transfers of either side. */
struct RelayStatus {
  int64_t status[2];
};

/**
 * Copies bytes from one buffer to another, usually of another device: one device writes pieces into its ring, threads
 * copy them to the ring of the other device, which reads them from there. If both devices use the same ring, nothing is
 * copied in between.
 *
 * Threads wait only for earlier pieces. The first unfinished share therefore waits only for devices, so there is no
 * deadlock.
 */
class Relay final : public PromiseJob {
 public:
  Relay(Environment& environment, DualStaging two, bool shared, const HostMemory& result)
      : PromiseJob("relayAsync"),
        environment_(environment),
        shared_(shared),
        from_(std::move(two.rings[0])),
        to_(std::move(two.rings[1])),
        result_store_(result.store),
        result_(result.data) {}

  void Run() override {
    RelayStatus status{};
    if (from_->pieces() > 0) {
      if (shared_) {
        MoveThroughOneRing();
      } else {
        MoveAll();
      }
      status = {{from_->End(), to_->End()}};
      if (failed_ >= 0) status.status[1 - failed_] = CL_SUCCESS;
    }
    std::memcpy(result_, &status, sizeof status);
  }

 private:
  /**
   * Transfers through one ring: a piece is read into a slot after the previous piece was written from it; half of the
   * slots hold pieces that are being written.
   */
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

  /** Transfers through two rings. */
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

  /** Ends the other side as well, which would otherwise wait forever. The side that failed first is recorded. */
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
  /** Side that failed first, or -1. */
  std::atomic<int> failed_{-1};
};

NAN_METHOD(RelayAsync) {
  Call call(info, "relayAsync");
  // First, because reading elements runs JavaScript, which may detach memory.
  auto queues = call.Elements(0), buffers = call.Elements(1), rings = call.Elements(4);
  const bool shared = rings.size() == 1;
  if (shared) rings.push_back(rings[0]);
  HostMemory offsets = call.Memory(2, 2 * sizeof(uint64_t));
  uint64_t size = call.Size(3);
  size_t piece = call.Size(5);
  HostMemory result = call.LastingMemory(6, sizeof(RelayStatus));
  unsigned threads = call.Threads(7);
  if (!call.ok()) return;
  const bool writes[] = {false, true};
  const uint64_t bytes[] = {size, size};
  DualStaging two;
  if (!ReadDualStaging(
          call, {queues, buffers, rings, writes, static_cast<uint64_t*>(offsets.data), bytes, piece, threads}, &two))
    return;
  const Platform* platform = two.platform;
  StartPromise(call, std::make_unique<Relay>(call.environment(), std::move(two), shared, result), platform);
}

}  // namespace

void ExportRelay(Exports& exports) { exports.Set<RelayAsync>("relayAsync"); }

}  // namespace clsort
