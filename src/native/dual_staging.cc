#include "dual_staging.h"

#include "bounds.h"

namespace clsort {

bool ReadDualStaging(Call& call, const DualStagingArguments& arguments, DualStaging* made) {
  auto& [queues, buffers, rings, writes, offsets, bytes, piece, threads] = arguments;
  if (queues.size() != 2 || buffers.size() != 2 || rings.size() != 2)
    return call.Fail(CL_INVALID_VALUE, "expected two queues, buffers and rings but got other numbers");
  std::vector<RingArguments> read;
  for (size_t s = 0; s < 2; s++) {
    call.BeginOtherObjects();
    auto queue = call.Handle(queues[s], Kind::kCommandQueue, CL_INVALID_COMMAND_QUEUE);
    auto buffer = call.Handle(buffers[s], Kind::kMemObject, CL_INVALID_MEM_OBJECT);
    HostMemory ring = call.LastingMemory(rings[s], 0, CL_INVALID_VALUE);
    // Read once: memory shared with another thread may change meanwhile.
    const size_t offset = offsets[s], size = bytes[s];
    if (!call.ok()) return false;
    if (size > 0 && !CheckRange(call, *buffer, offset, size)) return false;
    if (piece == 0 || piece > ring.bytes)
      return call.Fail(CL_INVALID_VALUE, "expected pieces of at least 1 byte that fit both rings");
    if (CeilDivide(size, piece) > kMaxPieces)
      return call.Fail(CL_INVALID_VALUE, "expected at most 2^20 pieces: use larger ones");
    const Platform* platform = queue->platform;
    if (!made->platform || platform->single_threaded) made->platform = platform;
    read.push_back({writes[s], call.Hold(*queue), call.Hold(*buffer), platform, offset, size, ring, piece, threads});
    if (!call.ok()) return false;
  }
  for (auto& one : read) {
    if (made->platform->single_threaded) one.threads = 1;  // each thread calls the driver
    made->rings.push_back(std::make_unique<TransferRing>(std::move(one)));
  }
  return true;
}

}  // namespace clsort
