#include "queue.h"

#include "info.h"
#include "wait.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kQueueInfo = {
    {CL_QUEUE_CONTEXT, Info::kHandle, Kind::kContext},
    {CL_QUEUE_DEVICE, Info::kHandle, Kind::kDevice},
    {CL_QUEUE_REFERENCE_COUNT, Info::kUint},
    {CL_QUEUE_PROPERTIES, Info::kBits},
    {CL_QUEUE_SIZE, Info::kUint},
    {CL_QUEUE_DEVICE_DEFAULT, Info::kHandle, Kind::kCommandQueue},
    {CL_QUEUE_PROPERTIES_ARRAY, Info::kProperties},
};

CLSORT_EXPORT(createCommandQueue, "clCreateCommandQueue") {
  auto context = call.Handle(0, Kind::kContext);
  auto device = call.Handle(1, Kind::kDevice);
  cl_command_queue_properties properties = call.Bits(2);
  if (!call.ok() || !call.Supported(api.clCreateCommandQueue, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_command_queue queue =
      api.clCreateCommandQueue(context->As<cl_context>(), device->As<cl_device_id>(), properties, &status);
  call.ReturnHandle(status, Kind::kCommandQueue, queue, context->platform);
}

CLSORT_EXPORT(createCommandQueueWithProperties, "clCreateCommandQueueWithProperties") {
  auto context = call.Handle(0, Kind::kContext);
  auto device = call.Handle(1, Kind::kDevice);
  auto properties = call.Properties<cl_queue_properties>(2, CL_INVALID_VALUE);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  cl_command_queue queue;
  if (context->platform->version >= api.clCreateCommandQueueWithProperties.since &&
      api.clCreateCommandQueueWithProperties.pointer) {
    queue = api.clCreateCommandQueueWithProperties(context->As<cl_context>(), device->As<cl_device_id>(),
                                                   properties.empty() ? nullptr : properties.data(), &status);
  } else {
    // Older platforms support what clCreateCommandQueue supports: plain flags, or none.
    cl_command_queue_properties flags = 0;
    for (size_t i = 0; i + 1 < properties.size() && properties[i] != 0; i += 2) {
      if (properties[i] != CL_QUEUE_PROPERTIES) {
        call.Supported(api.clCreateCommandQueueWithProperties, context->platform);
        return;
      }
      flags = properties[i + 1];
    }
    queue = api.clCreateCommandQueue(context->As<cl_context>(), device->As<cl_device_id>(), flags, &status);
  }
  call.ReturnHandle(status, Kind::kCommandQueue, queue, context->platform);
}

CLSORT_EXPORT(getCommandQueueInfo, "clGetCommandQueueInfo") {
  ReturnInfoOf<cl_command_queue>(call, Kind::kCommandQueue, kQueueInfo, api.clGetCommandQueueInfo);
}

CLSORT_EXPORT(setCommandQueueProperty, "clSetCommandQueueProperty") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  cl_command_queue_properties properties = call.Bits(1), old = 0;
  if (!call.ok() || !call.Loaded(api.clSetCommandQueueProperty)) return;
  // Removed in OpenCL 1.1; drivers need not have it any more.
  if (queue->platform->version > 100) {
    return (void)call.Fail(kUnsupported, "OpenCL 1.1 removed it: create a queue with these properties instead");
  }
  if (call.Check(api.clSetCommandQueueProperty(queue->As<cl_command_queue>(), properties,
                                               call.Bool(2) ? CL_TRUE : CL_FALSE, &old))) {
    call.Return(Nan::New(static_cast<double>(old)));
  }
}

CLSORT_EXPORT(setDefaultDeviceCommandQueue, "clSetDefaultDeviceCommandQueue") {
  auto context = call.Handle(0, Kind::kContext);
  auto device = call.Handle(1, Kind::kDevice);
  auto queue = call.Handle(2, Kind::kCommandQueue);
  if (!call.ok() || !call.Supported(api.clSetDefaultDeviceCommandQueue, context->platform)) return;
  if (call.Check(api.clSetDefaultDeviceCommandQueue(context->As<cl_context>(), device->As<cl_device_id>(),
                                                    queue->As<cl_command_queue>()))) {
    call.ReturnSuccess();
  }
}

CLSORT_EXPORT(flush, "clFlush") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  if (call.ok() && call.Check(api.clFlush(queue->As<cl_command_queue>()))) call.ReturnSuccess();
}

CLSORT_EXPORT(finish, "clFinish") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  if (!call.ok()) return;
  bool awaits_itself = call.environment().AwaitsItself(*queue->platform);
  Retained last;
  if (queue->platform->finishes_early || awaits_itself) last = MakeMarker(*queue);
  // Fails if a command has failed, which clFinish ignores.
  if (awaits_itself && last) call.Await(*queue->platform, {last.As<cl_event>()});
  if (!call.ok()) return;
  cl_int status = api.clFinish(queue->As<cl_command_queue>());
  if (status == CL_SUCCESS && queue->platform->finishes_early && last) {
    status = BlockUntilEnded(last.As<cl_event>());
    // Such a driver may report the end of a marker before that of earlier commands.
    call.environment().in_flight().Await(queue->As<cl_command_queue>());
  }
  if (call.CheckWait(status)) call.ReturnSuccess();
}

/**
 * Calls clFinish, which occupies a thread: for drivers that create no marker, and to learn why a marker failed.
 * rusticl's clFinish may return before the last commands have ended if another thread enqueued them.
 */
class FinishJob final : public PromiseJob {
 public:
  FinishJob(std::shared_ptr<Retained> queue, cl_int otherwise)
      : PromiseJob("clFinish"), queue_(std::move(queue)), otherwise_(otherwise) {}
  void Run() override {
    status_ = api.clFinish(queue_->As<cl_command_queue>());
    if (status_ == CL_SUCCESS) status_ = otherwise_;
  }

 private:
  std::shared_ptr<Retained> queue_;
  /** Status of the promise if clFinish succeeds. */
  cl_int otherwise_;
};

CLSORT_EXPORT(finishAsync, "clFinish") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  if (!call.ok()) return;
  auto held = std::make_shared<Retained>(call.Hold(*queue));
  HeldEvent marker{MakeMarker(*queue), call.Hold(*queue)};
  if (!call.ok()) return;
  if (!marker.event) return StartPromise(call, std::make_unique<FinishJob>(held, CL_SUCCESS), queue->platform);
  std::vector<HeldEvent> events;
  events.push_back(std::move(marker));
  ReturnWait(call, "clFinish", std::move(events), queue->platform,
             [held](cl_int status) { return std::make_unique<FinishJob>(held, status); });
}

const Export kRetainCommandQueue("retainCommandQueue", Export::Invoke<RetainObject<Kind::kCommandQueue>>);
const Export kReleaseCommandQueue("releaseCommandQueue", Export::Invoke<ReleaseObject<Kind::kCommandQueue>>);

}  // namespace

Retained MakeMarker(const Object& queue) {
  cl_event marker = nullptr;
  if (queue.platform->version < api.clEnqueueMarkerWithWaitList.since) {
    api.clEnqueueMarker(queue.As<cl_command_queue>(), &marker);
  } else {
    api.clEnqueueMarkerWithWaitList(queue.As<cl_command_queue>(), 0, nullptr, &marker);
  }
  return Retained(Kind::kEvent, queue.platform, marker);
}

}  // namespace clsort
