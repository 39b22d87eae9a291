#include "command_buffer.h"

#include <cstring>

#include "info.h"
#include "launch_limits.h"

namespace clsort {

namespace {

constexpr char kExtension[] = "cl_khr_command_buffer";

// Values from the extension, which older headers lack.
constexpr cl_int kInvalidCommandBuffer = -1138;
constexpr cl_uint kQueues = 0x1294, kNumQueues = 0x1295, kReferenceCount = 0x1296, kState = 0x1297,
                  kProperties = 0x1298;

const std::vector<InfoRow> kCommandBufferInfo = {
    {kQueues, Info::kHandles, Kind::kCommandQueue},
    {kNumQueues, Info::kUint},
    {kReferenceCount, Info::kUint},
    {kState, Info::kUint},
    {kProperties, Info::kProperties},
};

CLSORT_EXPORT(createCommandBufferKHR, "clCreateCommandBufferKHR") {
  auto queues = call.Handles(0, Kind::kCommandQueue, CL_INVALID_VALUE);
  auto properties = call.Properties<cl_ulong>(1, CL_INVALID_VALUE);
  if (!call.ok()) return;
  if (queues.size() != 1) return (void)call.FailArgument(0, CL_INVALID_VALUE, "an array of one queue");
  auto& queue = queues[0];
  cl_device_id device = nullptr;
  auto raw = queue->As<cl_command_queue>();
  if (!call.Check(api.clGetCommandQueueInfo(raw, CL_QUEUE_DEVICE, sizeof device, &device, nullptr)) ||
      !CheckExtension(call, *queue->platform, device, kExtension)) {
    return;
  }
  auto recording = std::make_unique<Recording>();
  recording->functions = &ExtensionsOf(*queue->platform);
  recording->retained.push_back(call.Hold(*queue));
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  // PoCL 6 rejects a list that contains only the terminating 0.
  const cl_ulong* list = properties.size() > 1 ? properties.data() : nullptr;
  recording->buffer = recording->functions->clCreateCommandBufferKHR(1, &raw, list, &status);
  if (!call.Check(status)) return;
  auto handle = Wrap(call.environment(), Kind::kCommandBuffer, recording.release(), queue->platform);
  Unwrap(call.environment(), Kind::kCommandBuffer, handle)->recorded_on = queue;
  call.Return(handle);
}

CLSORT_EXPORT(finalizeCommandBufferKHR, "clFinalizeCommandBufferKHR") {
  auto handle = call.Handle(0, Kind::kCommandBuffer);
  if (!call.ok()) return;
  Recording& recording = *RecordingOf(*handle);
  if (recording.finalized) return (void)call.Fail(CL_INVALID_OPERATION, "the command buffer is already finalized");
  if (!call.Check(recording.functions->clFinalizeCommandBufferKHR(recording.buffer))) return;
  recording.finalized = true;
  call.ReturnSuccess();
}

CLSORT_EXPORT(enqueueCommandBufferKHR, "clEnqueueCommandBufferKHR") {
  auto queues = call.Handles(0, Kind::kCommandQueue, CL_INVALID_VALUE);
  auto handle = call.Handle(1, Kind::kCommandBuffer);
  WaitList waits = call.Events(2);
  bool wanted = call.Bool(3);
  if (!call.ok()) return;
  Recording& recording = *RecordingOf(*handle);
  if (!recording.finalized) return (void)call.Fail(CL_INVALID_OPERATION, "the command buffer is not finalized");
  if (queues.size() > 1) return (void)call.FailArgument(0, CL_INVALID_VALUE, "one queue, or null");
  for (const void* memory : recording.svm) {
    if (!call.environment().svm().Contains(memory)) {
      return (void)call.Fail(CL_INVALID_KERNEL_ARGS, "shared virtual memory of a recorded kernel was freed");
    }
  }
  Object& queue = queues.empty() ? *handle->recorded_on : *queues[0];
  if (!queue.raw) return (void)call.Fail(CL_INVALID_COMMAND_QUEUE, "the queue of the command buffer was released");
  auto raw = queue.As<cl_command_queue>();
  auto execution = std::make_shared<Retained>(call.Hold(*handle));
  cl_event event = nullptr;
  auto enqueue_lock = user_events.LockEnqueue();
  if (!call.ok() || !call.Check(recording.functions->clEnqueueCommandBufferKHR(
                        queues.empty() ? 0 : 1, queues.empty() ? nullptr : &raw, recording.buffer, waits.count(),
                        waits.data(), &event))) {
    return;
  }
  enqueue_lock = {};
  if (user_events.open()) user_events.HoldExecution(event);
  InFlight& in_flight = call.environment().in_flight();
  if (!wanted) {
    in_flight.Keep(std::move(execution), event);
  } else if (api.clRetainEvent(event) == CL_SUCCESS) {
    in_flight.Keep(std::move(execution), event);
  } else {
    api.clWaitForEvents(1, &event);
  }
  in_flight.SweepIfMany();
  call.ReturnEvent(CL_SUCCESS, wanted, event, queue);
}

CLSORT_EXPORT(getCommandBufferInfoKHR, "clGetCommandBufferInfoKHR") {
  auto handle = call.Handle(0, Kind::kCommandBuffer);
  cl_uint name = call.Uint(1);
  if (!call.ok()) return;
  Recording& recording = *RecordingOf(*handle);
  if (name == kReferenceCount) return call.Return(Nan::New(recording.references.load()));
  ReturnInfo(
      call, name, kCommandBufferInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        if (name == kQueues) {  // PoCL 3 returns invalid pointers
          auto queue = recording.retained[0].As<cl_command_queue>();
          if (needed) *needed = sizeof queue;
          if (value) std::memcpy(value, &queue, sizeof queue);
          return CL_SUCCESS;
        }
        return recording.functions->clGetCommandBufferInfoKHR(recording.buffer, name, bytes, value, needed);
      },
      handle->platform);
}

const Export kRetainCommandBufferKHR("retainCommandBufferKHR", Export::Invoke<RetainObject<Kind::kCommandBuffer>>);
const Export kReleaseCommandBufferKHR("releaseCommandBufferKHR", Export::Invoke<ReleaseObject<Kind::kCommandBuffer>>);

}  // namespace

cl_int RetainRecording(void* recording) {
  static_cast<Recording*>(recording)->references++;
  return CL_SUCCESS;
}

cl_int ReleaseRecording(void* recording) {
  auto* self = static_cast<Recording*>(recording);
  if (--self->references == 0) delete self;
  return CL_SUCCESS;
}

}  // namespace clsort
