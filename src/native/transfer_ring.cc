#include "transfer_ring.h"

#include <chrono>
#include <thread>

namespace clsort {

namespace {

/** Time for which a thread polls for the end of a transfer before it sleeps. */
constexpr std::chrono::microseconds kSpinTime{100};

}  // namespace

TransferRing::TransferRing(RingArguments arguments)
    : write_(arguments.write),
      bytes_(arguments.bytes),
      piece_(arguments.piece),
      threads_(arguments.threads),
      queue_(std::move(arguments.queue)),
      buffer_(std::move(arguments.buffer)),
      offset_(arguments.offset),
      ring_store_(arguments.ring.store),
      ring_(static_cast<char*>(arguments.ring.data)),
      slots_(arguments.ring.bytes / arguments.piece) {
  if (!arguments.ring.buffer.IsEmpty()) ring_buffer_.Reset(arguments.ring.buffer);
}

void TransferRing::Begin(size_t share) {
  pieces_ = std::vector<Piece>(pieces());
  for (size_t i = 0; i < pieces_.size(); i++) pieces_[i].shares = CeilDivide(Length(i), share);
  if (write_) return;
  for (size_t i = 0; i < std::min(slots_, pieces_.size()); i++) Transfer(i);
}

void TransferRing::ForEachShare(Environment& environment, size_t share,
                                const std::function<void(size_t piece, size_t start, size_t length)>& move) {
  Begin(share);
  if (pieces() == 0) return;
  const size_t last = pieces() - 1, each = CeilDivide(piece_, share);
  ParallelFor(environment, threads_, last * each + CeilDivide(Length(last), share), [&](size_t i) {
    size_t piece = i / each, start = i % each * share;
    move(piece, start, std::min(share, Length(piece) - start));
  });
}

char* TransferRing::AcquireSlot(size_t piece) {
  if (Failed()) return nullptr;
  if (!write_) return Await(pieces_[piece]) ? Slot(piece) : nullptr;
  return piece < slots_ || Await(pieces_[piece - slots_]) ? Slot(piece) : nullptr;
}

void TransferRing::ReleaseSlot(size_t piece) {
  if (pieces_[piece].shares.fetch_sub(1) > 1) return;
  if (write_) {
    if (piece >= slots_) Settle(pieces_[piece - slots_]);
    Transfer(piece);
  } else {
    Settle(pieces_[piece]);
    size_t next = piece + slots_;
    if (next < pieces_.size()) Transfer(next);
  }
}

cl_int TransferRing::End() {
  for (Piece& piece : pieces_) Settle(piece);
  return failure_;
}

void TransferRing::Fail(cl_int status) {
  std::lock_guard<std::mutex> lock(guard_);
  if (failure_ == CL_SUCCESS) failure_ = status;
  changed_.notify_all();
}

/** Enqueues the transfer of a piece. */
void TransferRing::Transfer(size_t i) {
  auto queue = queue_.As<cl_command_queue>();
  auto buffer = buffer_.As<cl_mem>();
  size_t offset = offset_ + i * piece_, length = Length(i);
  cl_event event = nullptr;
  cl_int status = write_
                      ? api.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, length, Slot(i), 0, nullptr, &event)
                      : api.clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, length, Slot(i), 0, nullptr, &event);
  if (status != CL_SUCCESS) return Fail(status);
  api.clFlush(queue);
  std::lock_guard<std::mutex> lock(guard_);
  pieces_[i].event = event;
  pieces_[i].unawaited = true;
  changed_.notify_all();
}

/** Waits for the transfer of a piece; several threads may do so concurrently. @return false after a failure */
bool TransferRing::Await(Piece& piece) {
  bool mine = false;
  auto known = [&] { return piece.over || Failed() || (mine = piece.unawaited.exchange(false)); };
  // Waking many threads takes longer than transferring a piece, so each spins for a while before it sleeps.
  for (auto end = std::chrono::steady_clock::now() + kSpinTime; !known();) {
    if (std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
      continue;
    }
    std::unique_lock<std::mutex> lock(guard_);
    changed_.wait(lock, known);
    break;
  }
  if (!mine) return !Failed();
  cl_int status = api.clWaitForEvents(1, &piece.event);
  if (status != CL_SUCCESS) {
    Fail(status);
    return false;
  }
  std::lock_guard<std::mutex> lock(guard_);
  piece.over.store(true, std::memory_order_release);
  changed_.notify_all();
  return true;
}

/** Waits for the transfer of a piece, if there was one, after all other waiters have returned. */
void TransferRing::Settle(Piece& piece) {
  if (!piece.event) return;
  cl_int status = api.clWaitForEvents(1, &piece.event);
  api.clReleaseEvent(piece.event);
  piece.event = nullptr;
  if (status != CL_SUCCESS) Fail(status);
}

}  // namespace clsort
