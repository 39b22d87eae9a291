#include "ring_transfer.h"

#include "bounds.h"

namespace clsort {

RingTransfer::RingTransfer(Environment& environment, RingArguments arguments)
    : PromiseJob(arguments.write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer"),
      TransferRing(std::move(arguments)),
      environment_(environment) {}

void RingTransfer::MoveAll(size_t share, const std::function<void(size_t piece, size_t start, size_t length)>& move) {
  ForEachShare(environment_, share, move);
  status_ = End();
}

bool ReadRing(Call& call, int ring, bool write, size_t bytes, RingArguments* arguments) {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto buffer = call.Handle(1, Kind::kMemObject);
  size_t offset = call.Size(2);
  HostMemory memory = call.LastingMemory(ring, 0);
  size_t piece = call.Size(ring + 1);
  unsigned threads = call.Threads(ring + 2);
  if (!call.ok() || (bytes > 0 && !CheckRange(call, *buffer, offset, bytes))) return false;
  if (piece == 0 || piece > memory.bytes) {
    return call.FailArgument(ring + 1, CL_INVALID_VALUE, "pieces of at least 1 byte that fit the ring");
  }
  if (CeilDivide(bytes, piece) > kMaxPieces) {
    return call.FailArgument(ring + 1, CL_INVALID_VALUE, "a size with at most 2^20 pieces");
  }
  if (queue->platform->single_threaded) threads = 1;  // each thread calls the driver
  *arguments = {write, call.Hold(*queue), call.Hold(*buffer), queue->platform, offset, bytes, memory, piece, threads};
  return call.ok();
}

}  // namespace clsort
