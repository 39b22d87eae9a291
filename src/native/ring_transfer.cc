#include "ring_transfer.h"

#include "bounds.h"
#include "crew.h"

namespace clsort {

RingTransfer::RingTransfer(Environment& environment, RingArguments arguments)
    : PromiseJob(arguments.write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer"),
      environment_(environment),
      write_(arguments.write),
      bytes_(arguments.bytes),
      piece_(arguments.piece),
      queue_(std::move(arguments.queue)),
      buffer_(std::move(arguments.buffer)),
      offset_(arguments.offset),
      ring_store_(arguments.ring.store),
      ring_(static_cast<char*>(arguments.ring.data)),
      slots_(arguments.ring.bytes / arguments.piece),
      threads_(arguments.threads) {
  if (!arguments.ring.buffer.IsEmpty()) ring_buffer_.Reset(arguments.ring.buffer);
}

void RingTransfer::MoveAll(const std::function<size_t(size_t bytes)>& shares,
                           const std::function<void(size_t piece, size_t share)>& move) {
  size_t count = (bytes_ + piece_ - 1) / piece_;
  if (count == 0) return;
  pieces_ = std::vector<Piece>(count);
  for (size_t i = 0; i < count; i++) pieces_[i].shares = shares(Length(i));
  size_t each = shares(piece_), all = (count - 1) * each + pieces_.back().shares;
  if (!write_) {
    for (size_t i = 0; i < std::min(slots_, count); i++) Transfer(i);
  }
  InCrew(environment_, threads_, all, [&](size_t i) { move(i / each, i % each); });
  // What is still under way uses the ring, whatever has failed.
  for (Piece& piece : pieces_) Settle(piece);
  status_ = failure_;
}

char* RingTransfer::Enter(size_t piece) {
  if (Failed()) return nullptr;
  if (!write_) return Await(pieces_[piece]) ? Slot(piece) : nullptr;
  return piece < slots_ || Await(pieces_[piece - slots_]) ? Slot(piece) : nullptr;
}

void RingTransfer::Leave(size_t piece) {
  if (--pieces_[piece].shares > 0) return;
  if (write_) {
    if (piece >= slots_) Settle(pieces_[piece - slots_]);
    Transfer(piece);
  } else {
    Settle(pieces_[piece]);
    if (piece + slots_ < pieces_.size()) Transfer(piece + slots_);
  }
}

void RingTransfer::Fail(cl_int status) {
  std::lock_guard<std::mutex> lock(guard_);
  if (failure_ == CL_SUCCESS) failure_ = status;
  changed_.notify_all();
}

/** Enqueues the transfer of a piece. */
void RingTransfer::Transfer(size_t i) {
  auto queue = queue_.As<cl_command_queue>();
  auto buffer = buffer_.As<cl_mem>();
  size_t offset = offset_ + i * piece_;
  cl_event event = nullptr;
  cl_int status =
      write_ ? api.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, Length(i), Slot(i), 0, nullptr, &event)
             : api.clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, Length(i), Slot(i), 0, nullptr, &event);
  if (status != CL_SUCCESS) return Fail(status);
  api.clFlush(queue);
  std::lock_guard<std::mutex> lock(guard_);
  pieces_[i].event = event;
  changed_.notify_all();
}

/** Waits for the transfer of a piece, which others may do at the same time. @return false after a failure */
bool RingTransfer::Await(Piece& piece) {
  cl_event event = nullptr;
  {
    std::unique_lock<std::mutex> lock(guard_);
    changed_.wait(lock, [&] { return piece.event || Failed(); });
    if (Failed()) return false;
    event = piece.event;
  }
  cl_int status = api.clWaitForEvents(1, &event);
  if (status != CL_SUCCESS) Fail(status);
  return status == CL_SUCCESS;
}

/** Waits for the transfer of a piece, if there was one, when nobody else does any more. */
void RingTransfer::Settle(Piece& piece) {
  if (!piece.event) return;
  cl_int status = api.clWaitForEvents(1, &piece.event);
  api.clReleaseEvent(piece.event);
  piece.event = nullptr;
  if (status != CL_SUCCESS) Fail(status);
}

bool ReadRing(Call& call, int ring, bool write, size_t bytes, RingArguments* arguments) {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto buffer = call.Handle(1, Kind::kMemObject);
  size_t offset = call.Size(2);
  HostMemory memory = call.LastingMemory(ring, 0);
  size_t piece = call.Size(ring + 1);
  auto threads = static_cast<unsigned>(call.Unsigned(call[ring + 2], CL_INVALID_VALUE, kMaxCrew));
  if (!call.ok() || (bytes > 0 && !CheckRange(call, *buffer, offset, bytes))) return false;
  auto argument = [](int i) { return "argument " + std::to_string(i); };
  if (piece == 0 || piece > memory.bytes) {
    return call.Fail(CL_INVALID_VALUE, argument(ring + 1) + ": expected pieces of 1 byte to those of the ring");
  }
  if (threads == 0) return call.Fail(CL_INVALID_VALUE, argument(ring + 2) + ": expected at least one thread");
  if (queue->platform->single_threaded) threads = 1;  // each of them calls the driver
  *arguments = {write, call.Hold(*queue), call.Hold(*buffer), queue->platform, offset, bytes, memory, piece, threads};
  return call.ok();
}

}  // namespace clsort
