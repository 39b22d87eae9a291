#include "extensions.h"

namespace clsort {

namespace {

/**
 * Acquires or releases external memory. createBufferWithProperties creates a memory object from memory of another API,
 * whose handle type and number are properties; these commands transfer its ownership.
 */
template <typename Function>
void HandOver(Call& call, Function function) {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  if (call.ok() && !call.Has(1)) call.FailArgument(1, CL_INVALID_VALUE, "memory objects");
  auto objects = call.Handles(1, Kind::kMemObject, CL_INVALID_VALUE);
  WaitList waits = call.Events(2);
  bool wanted = call.Bool(3);
  if (!call.ok()) return;
  cl_device_id device = nullptr;
  auto raw = queue->As<cl_command_queue>();
  if (!call.Check(api.clGetCommandQueueInfo(raw, CL_QUEUE_DEVICE, sizeof device, &device, nullptr)) ||
      !CheckExtension(call, *queue->platform, device, "cl_khr_external_memory")) {
    return;
  }
  if (objects.empty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "at least one memory object");
  std::vector<cl_mem> list;
  for (auto& object : objects) list.push_back(object->As<cl_mem>());
  cl_event event = nullptr;
  cl_int status = (ExtensionsOf(*queue->platform).*function)(raw, static_cast<cl_uint>(list.size()), list.data(),
                                                             waits.count(), waits.data(), wanted ? &event : nullptr);
  call.ReturnEvent(status, wanted, event, *queue);
}

CLSORT_EXPORT(enqueueAcquireExternalMemObjectsKHR, "clEnqueueAcquireExternalMemObjectsKHR") {
  HandOver(call, &ExtensionFunctions::clEnqueueAcquireExternalMemObjectsKHR);
}

CLSORT_EXPORT(enqueueReleaseExternalMemObjectsKHR, "clEnqueueReleaseExternalMemObjectsKHR") {
  HandOver(call, &ExtensionFunctions::clEnqueueReleaseExternalMemObjectsKHR);
}

}  // namespace

}  // namespace clsort
