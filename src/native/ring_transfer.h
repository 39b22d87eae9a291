#pragma once

#include <functional>

#include "transfer_ring.h"
#include "wait.h"

namespace clsort {

/** Transfer of data to or from a device through a staging ring, in pieces and by several threads. */
class RingTransfer : public PromiseJob, protected TransferRing {
 protected:
  RingTransfer(Environment& environment, RingArguments arguments);

  /** Moves all pieces in shares like `ForEachShare`. Sets `status_`. */
  void MoveAll(size_t share, const std::function<void(size_t piece, size_t start, size_t length)>& move);

  Environment& environment_;  // waits for its jobs before it ends
};

/**
 * Reads the arguments of such transfers: queue, buffer and offset are the first ones; ring, bytes of a piece and
 * threads begin at `ring`.
 *
 * @param bytes bytes to be moved
 * @return false if an argument is invalid, including those read before
 */
bool ReadRing(Call& call, int ring, bool write, size_t bytes, RingArguments* arguments);

}  // namespace clsort
