#include "bounds.h"
#include "queue.h"

namespace clsort {

namespace {

/** Limit of a poll on the JavaScript thread, which it blocks. */
constexpr size_t kMaxMicroseconds = 1000;

/** Polls a command for at most `microseconds`. @return its state: CL_COMPLETE or less if it has ended */
cl_int PollUntilEnded(cl_event event, size_t microseconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  cl_int state = CL_QUEUED;
  do {
    // If the driver reports no state, a wait for the event returns the reason.
    if (AskState(event, &state) != CL_SUCCESS) return CL_QUEUED;
  } while (state > CL_COMPLETE && std::chrono::steady_clock::now() < end);
  return state;
}

size_t ReadMicroseconds(Call& call, int i) {
  size_t microseconds = call.Size(i);
  if (call.ok() && microseconds > kMaxMicroseconds) {
    call.FailArgument(i, CL_INVALID_VALUE, "at most " + std::to_string(kMaxMicroseconds) + " microseconds");
  }
  return microseconds;
}

/** Read of a few bytes. */
struct SmallRead {
  Object* buffer;
  size_t offset;
  HostMemory host;
};

/** Holds the memory of the first `count` reads until all earlier commands of the queue have ended. */
void HoldUntilQueueEnds(Call& call, const Object& queue, const std::vector<SmallRead>& reads, size_t count) {
  if (count == 0) return;
  Retained marker = MakeMarker(queue);
  if (!marker) return (void)api.clFinish(queue.As<cl_command_queue>());
  for (size_t i = 0; i < count; i++) call.environment().in_flight().Share(reads[i].host, marker.As<cl_event>());
}

/**
 * Enqueues reads after all earlier commands of the queue and polls them: one call and one event for all reads. Host
 * memory is held only if they have not ended, because no JavaScript runs meanwhile.
 */
CLSORT_EXPORT(readAndLook, "clEnqueueReadBuffer") {
  Object* queue = call.Borrow(0, Kind::kCommandQueue);
  auto buffers = call.Elements(1), offsets = call.Elements(2), views = call.Elements(3);
  size_t microseconds = ReadMicroseconds(call, 4);
  if (!call.ok()) return;
  if (offsets.size() != buffers.size() || views.size() != buffers.size()) {
    return (void)call.Fail(CL_INVALID_VALUE,
                           "arguments 2 to 4: expected lists of the same length but got different lengths");
  }
  std::vector<std::shared_ptr<Object>> held;
  std::vector<SmallRead> reads;
  for (size_t i = 0; i < buffers.size(); i++) {
    held.push_back(call.Handle(buffers[i], Kind::kMemObject, CL_INVALID_MEM_OBJECT));
    size_t offset = call.Unsigned(offsets[i], CL_INVALID_VALUE, SIZE_MAX);
    HostMemory host = call.LastingMemory(views[i], 1, CL_INVALID_VALUE);
    if (!call.ok() || !CheckRange(call, *held.back(), offset, host.bytes)) return;
    reads.push_back({held.back().get(), offset, std::move(host)});
  }
  auto raw = queue->As<cl_command_queue>();
  Retained last;
  if (reads.empty()) {
    last = MakeMarker(*queue);
    if (!last) return (void)call.Fail(CL_OUT_OF_RESOURCES, "the driver returned no marker");
  }
  for (const SmallRead& read : reads) {
    bool ends = &read == &reads.back();
    cl_event event = nullptr;
    cl_int status = api.clEnqueueReadBuffer(raw, read.buffer->As<cl_mem>(), CL_FALSE, read.offset, read.host.bytes,
                                            read.host.data, 0, nullptr, ends ? &event : nullptr);
    if (status != CL_SUCCESS) {
      HoldUntilQueueEnds(call, *queue, reads, &read - reads.data());
      return (void)call.Check(status);
    }
    if (ends) last = Retained(Kind::kEvent, queue->platform, event);
  }
  api.clFlush(raw);
  if (PollUntilEnded(last.As<cl_event>(), microseconds) == CL_COMPLETE) return (void)call.CheckWait(CL_SUCCESS);
  for (const SmallRead& read : reads) call.environment().in_flight().Share(read.host, last.As<cl_event>());
  if (Retain(Kind::kEvent, queue->platform, last.As<void*>()) != CL_SUCCESS) {
    return (void)call.CheckWait(api.clFinish(raw));
  }
  call.Return(call.WrapEvent(last.As<cl_event>(), *queue));
}

CLSORT_EXPORT(lookAt, "clGetEventInfo") {
  auto event = call.Handle(0, Kind::kEvent);
  size_t microseconds = ReadMicroseconds(call, 1);
  if (!call.ok()) return;
  cl_int state = PollUntilEnded(event->As<cl_event>(), microseconds);
  // A program may reuse the memory as soon as it sees the state; it throws if the memory was detached.
  if (state <= CL_COMPLETE && !call.CheckWait(CL_SUCCESS)) return;
  call.Return(Nan::New(state));
}

}  // namespace

}  // namespace clsort
