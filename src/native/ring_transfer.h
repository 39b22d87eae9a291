#ifndef CLSORT_NATIVE_RING_TRANSFER_H_
#define CLSORT_NATIVE_RING_TRANSFER_H_

#include <functional>

#include "transfer_ring.h"
#include "wait.h"

namespace clsort {

/** Moves data between a device and somewhere else through a ring, piece by piece, by several threads. */
class RingTransfer : public PromiseJob, protected TransferRing {
 protected:
  RingTransfer(Environment& environment, RingArguments arguments);

  /** Moves all pieces in shares, as `ForEachShare` does. Sets `status_`. */
  void MoveAll(size_t share, const std::function<void(size_t piece, size_t start, size_t length)>& move);

  Environment& environment_;  // waits for its jobs before it ends
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
