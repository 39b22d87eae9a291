#ifndef CLSORT_NATIVE_RING_TRANSFER_H_
#define CLSORT_NATIVE_RING_TRANSFER_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "wait.h"

namespace clsort {

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
 * Moves data between a device and somewhere else through a ring of memory that the device can reach directly, piece by
 * piece: several threads fill or empty one while the device transfers others. What the device is to write is put into
 * slots of the ring, and what it reads is found there. Pieces are large, since each costs the driver some 20
 * microseconds.
 */
class RingTransfer : public PromiseJob {
 protected:
  RingTransfer(Environment& environment, RingArguments arguments);

  /**
   * Moves all pieces, each in as many shares as are told for its bytes: calls `move(piece, share)` on the threads. Shares are
   * begun in order, so a thread that waits does so for what others have begun. Sets `status_`.
   */
  void MoveAll(const std::function<size_t(size_t bytes)>& shares,
               const std::function<void(size_t piece, size_t share)>& move);
  /** The slot of a piece, once that is the piece's: free to be filled, or filled by the device. None after a failure. */
  char* Enter(size_t piece);
  /** Ends a share of a piece; the last one of each hands the slot on. */
  void Leave(size_t piece);

  void Fail(cl_int status);
  bool Failed() const { return failure_ != CL_SUCCESS; }
  size_t Length(size_t piece) const { return std::min(piece_, bytes_ - piece * piece_); }

  Environment& environment_;  // waits for its jobs before it ends
  const bool write_;
  const size_t bytes_;
  const size_t piece_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::atomic<cl_int> failure_{CL_SUCCESS};

 private:
  struct Piece {
    /** Shares that are to be moved yet. */
    std::atomic<size_t> shares{0};
    /** Of its transfer, once that is enqueued; set under `guard_`. */
    cl_event event = nullptr;
  };

  char* Slot(size_t piece) const { return ring_ + piece % slots_ * piece_; }
  void Transfer(size_t i);
  bool Await(Piece& piece);
  void Settle(Piece& piece);

  Retained queue_, buffer_;
  const size_t offset_;
  const std::shared_ptr<v8::BackingStore> ring_store_;
  char* const ring_;
  const size_t slots_;
  const unsigned threads_;
  std::vector<Piece> pieces_;
  Nan::Global<v8::ArrayBuffer> ring_buffer_;
};

/**
 * Reads the arguments that such transfers have: queue, buffer and offset from the first one on; ring, bytes of a piece and
 * threads from `ring` on.
 *
 * @param bytes that are to be moved, known when this is called
 * @return false where an argument was wrong, one that was read before among them
 */
bool ReadRing(Call& call, int ring, bool write, size_t bytes, RingArguments* arguments);

}  // namespace clsort

#endif  // CLSORT_NATIVE_RING_TRANSFER_H_
