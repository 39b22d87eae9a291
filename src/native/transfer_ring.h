#ifndef CLSORT_NATIVE_TRANSFER_RING_H_
#define CLSORT_NATIVE_TRANSFER_RING_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "call.h"
#include "thread_pool.h"

namespace clsort {

/** Bytes that a thread copies at a time: a share of a piece. */
constexpr size_t kCopiedBytes = size_t{256} << 10;

/** More pieces than any transfer has a use for: each is kept account of. */
constexpr size_t kMaxPieces = size_t{1} << 20;

/** What is read of the arguments of a transfer through a ring. */
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
 * A ring of memory that the device can reach directly: threads fill or empty one piece while the device transfers others. What the
 * device is to write is put into slots of the ring, and what it reads is found there. Pieces are large, since each costs the driver
 * some 20 microseconds.
 */
class TransferRing {
 public:
  explicit TransferRing(RingArguments arguments);

  /** Has each piece wait for its shares, of so many bytes each; what is to be read begins to come. */
  void Begin(size_t share);
  /**
   * Begins, and has a crew of up to `threads_` move all shares: calls `move(piece, start, length)` for the `length` bytes of a piece
   * that begin at its byte `start`. Shares are begun in order, so a thread that waits does so for what others have begun.
   */
  void ForEachShare(Environment& environment, size_t share,
                    const std::function<void(size_t piece, size_t start, size_t length)>& move);
  /**
   * The slot of a piece, once that is the piece's: free to be filled, or filled by the device. None after a failure. Who waits does
   * so for shares of earlier pieces, which others must have begun.
   */
  char* AcquireSlot(size_t piece);
  /** Ends shares of a piece; the last one of each hands the slot on. */
  void ReleaseSlot(size_t piece, size_t shares = 1);
  /** Has what is to be written transferred up to so many bytes of the whole, when no more will come. */
  void TransferRest(size_t bytes);
  /** Waits for what is under way, which uses the ring whatever has failed. @return what failed first */
  cl_int End();

  void Fail(cl_int status);
  bool Failed() const { return failure_ != CL_SUCCESS; }
  size_t slots() const { return slots_; }
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
    /** Shares that are to be moved yet. */
    std::atomic<size_t> shares{0};
    /** Of its transfer, once that is enqueued; set under `guard_`. */
    cl_event event = nullptr;
    /** Nobody waits for that event yet: only one does, since the driver is slow when many do. */
    std::atomic<bool> unawaited{false};
    /** The transfer is over, and was well. */
    std::atomic<bool> over{false};
  };

  char* Slot(size_t piece) const { return ring_ + piece % slots_ * piece_; }
  void Transfer(size_t i, size_t length);
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

#endif  // CLSORT_NATIVE_TRANSFER_RING_H_
