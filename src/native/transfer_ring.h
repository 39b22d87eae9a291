#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "call.h"
#include "thread_pool.h"

namespace clsort {

/** Limit of pieces: each needs bookkeeping. */
constexpr size_t kMaxPieces = size_t{1} << 20;

/** Arguments of a transfer through a staging ring. */
struct RingArguments {
  bool write;
  Retained queue, buffer;
  const Platform* platform;
  size_t offset;
  size_t bytes;
  HostMemory ring;
  size_t piece;
  unsigned threads;
};

/**
 * Staging ring of memory that the device can access directly: threads fill or empty some pieces while the device
 * transfers others. A write takes its data from slots of the ring, a read puts it there. Pieces are large, because each
 * costs the driver about 20 microseconds.
 */
class TransferRing {
 public:
  explicit TransferRing(RingArguments arguments);

  /** Sets the number of shares of each piece, of `share` bytes each, and starts the first reads. */
  void Begin(size_t share);
  /**
   * Begins and moves all shares by up to `threads_` threads: calls `move(piece, start, length)` for `length` bytes of a
   * piece from byte `start` on. Shares are started in order, so a thread only waits for shares that are already
   * started.
   */
  void ForEachShare(Environment& environment, size_t share,
                    const std::function<void(size_t piece, size_t start, size_t length)>& move);
  /**
   * Returns the slot of a piece when it is available: free to be filled, or filled by the device. Returns null after a
   * failure. The caller may wait for shares of earlier pieces, which must already be started.
   */
  char* AcquireSlot(size_t piece);
  /** Completes a share of a piece; the last one passes the slot on. */
  void ReleaseSlot(size_t piece);
  /** Waits for running transfers, which use the ring even after a failure. @return the first failure */
  cl_int End();

  void Fail(cl_int status);
  bool Failed() const { return failure_ != CL_SUCCESS; }
  size_t pieces() const { return CeilDivide(bytes_, piece_); }
  size_t Length(size_t piece) const { return std::min(piece_, bytes_ - piece * piece_); }

  const bool write_;
  const size_t bytes_;
  const size_t piece_;
  const unsigned threads_;
  std::mutex guard_;
  std::condition_variable changed_;

 private:
  struct Piece {
    /** Shares that are still to be moved. */
    std::atomic<size_t> shares{0};
    /** Event of its transfer, once enqueued; set under `guard_`. */
    cl_event event = nullptr;
    /** Whether no thread waits for the event yet: only one does, because drivers are slow if many do. */
    std::atomic<bool> unawaited{false};
    /** Whether the transfer has succeeded. */
    std::atomic<bool> over{false};
  };

  char* Slot(size_t piece) const { return ring_ + piece % slots_ * piece_; }
  void Transfer(size_t i);
  bool Await(Piece& piece);
  void Settle(Piece& piece);

  std::atomic<cl_int> failure_{CL_SUCCESS};
  Retained queue_, buffer_;
  const size_t offset_;
  const std::shared_ptr<v8::BackingStore> ring_store_;
  char* const ring_;
  const size_t slots_;
  std::vector<Piece> pieces_;
  Nan::Global<v8::ArrayBuffer> ring_buffer_;
};

}  // namespace clsort
