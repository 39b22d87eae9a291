#include "bounds.h"
#include "command_buffer.h"
#include "image.h"
#include "launch_limits.h"
#include "pattern.h"

namespace clsort {

namespace {

// Value from cl_khr_command_buffer, which older headers lack.
constexpr cl_int kInvalidSyncPoints = -1139;

/** Command being recorded: reads arguments 0 and 1, and the sync points at the end. */
class Command {
 public:
  explicit Command(Call& call) : call_(call), handle_(call.Handle(0, Kind::kCommandBuffer)) {
    if (call.Has(1)) queue_ = call.Handle(1, Kind::kCommandQueue);
  }

  /** Reads the last argument; throws if the command cannot be recorded. */
  bool ReadSyncPoints(int i) {
    if (!call_.ok()) return false;
    if (call_.Has(i)) {
      for (v8::Local<v8::Value> point : call_.Elements(i, kInvalidSyncPoints)) {
        waits_.push_back(static_cast<SyncPoint>(call_.Unsigned(point, kInvalidSyncPoints, UINT32_MAX)));
      }
    }
    if (!call_.ok()) return false;
    Recording& recording = *RecordingOf(*handle_);
    if (recording.finalized) return call_.Fail(CL_INVALID_OPERATION, "the command buffer is finalized");
    if (queue_ && queue_->raw != handle_->recorded_on->raw && queue_->raw) {
      return call_.FailArgument(1, CL_INVALID_COMMAND_QUEUE, "null or the queue of the command buffer",
                                "another queue");
    }
    for (SyncPoint wait : waits_) {
      bool known = false;
      for (SyncPoint point : recording.sync_points) known = known || point == wait;
      if (!known) return call_.Fail(kInvalidSyncPoints, "expected sync points of this command buffer but got others");
    }
    return true;
  }

  /** Retains an object for the recording. */
  bool Keep(const Object& object) {
    Retained held = call_.Hold(object);
    if (held) retained_.push_back(std::move(held));
    return call_.ok();
  }
  /**
   * Retains a kernel with its current arguments. PoCL 3 records the kernel itself and crashes if its arguments change,
   * so a copy is recorded where the driver can clone kernels.
   */
  cl_kernel KeepKernel(const Object& kernel) {
    const Platform* platform = kernel.platform;
    const auto& clone = api.clCloneKernel;
    if (!clone.pointer || platform->version < clone.since || !DriverHas(*platform, clone.slot)) {
      return Keep(kernel) ? kernel.As<cl_kernel>() : nullptr;
    }
    cl_int status = CL_SUCCESS;
    cl_kernel copy = clone(kernel.As<cl_kernel>(), &status);
    if (call_.Check(status)) retained_.emplace_back(Kind::kKernel, platform, copy);
    return copy;
  }
  void KeepSvm(const void* memory) { svm_.push_back(memory); }

  /** Records the command with a driver function and returns the new sync point. */
  template <typename Function, typename... Arguments>
  void Record(Function function, Arguments... arguments) {
    Recording& recording = *RecordingOf(*handle_);
    SyncPoint point = 0;
    // A null queue stands for the queue of the command buffer.
    cl_int status =
        (recording.functions->*function)(recording.buffer, nullptr, arguments..., static_cast<cl_uint>(waits_.size()),
                                         waits_.empty() ? nullptr : waits_.data(), &point, nullptr);
    if (!call_.Check(status)) return;
    for (Retained& held : retained_) recording.retained.push_back(std::move(held));
    recording.svm.insert(recording.svm.end(), svm_.begin(), svm_.end());
    recording.sync_points.push_back(point);
    call_.Return(Nan::New(point));
  }

  Object& queue() const { return *handle_->recorded_on; }

 private:
  Call& call_;
  std::shared_ptr<Object> handle_, queue_;
  std::vector<SyncPoint> waits_;
  std::vector<Retained> retained_;
  std::vector<const void*> svm_;
};

CLSORT_EXPORT(commandBarrierWithWaitListKHR, "clCommandBarrierWithWaitListKHR") {
  Command command(call);
  if (command.ReadSyncPoints(2)) command.Record(&ExtensionFunctions::clCommandBarrierWithWaitListKHR);
}

CLSORT_EXPORT(commandCopyBufferKHR, "clCommandCopyBufferKHR") {
  Command command(call);
  auto from = call.Handle(2, Kind::kMemObject), to = call.Handle(3, Kind::kMemObject);
  size_t from_offset = call.Size(4), to_offset = call.Size(5), size = call.Size(6);
  if (!command.ReadSyncPoints(7) || !CheckCopy(call, *from, from_offset, *to, to_offset, size)) return;
  if (!command.Keep(*from) || !command.Keep(*to)) return;
  command.Record(&ExtensionFunctions::clCommandCopyBufferKHR, from->As<cl_mem>(), to->As<cl_mem>(), from_offset,
                 to_offset, size);
}

CLSORT_EXPORT(commandCopyBufferRectKHR, "clCommandCopyBufferRectKHR") {
  Command command(call);
  auto from = call.Handle(2, Kind::kMemObject), to = call.Handle(3, Kind::kMemObject);
  auto from_origin = call.Origin(4), to_origin = call.Origin(5), region = call.Origin(6);
  size_t from_row = call.SizeOr0(7), from_slice = call.SizeOr0(8);
  size_t to_row = call.SizeOr0(9), to_slice = call.SizeOr0(10);
  if (!command.ReadSyncPoints(11)) return;
  Box from_box{from_origin, region, from_row, from_slice}, to_box{to_origin, region, to_row, to_slice};
  if (!CheckCopy(call, *from, from_box, *to, to_box) || !command.Keep(*from) || !command.Keep(*to)) return;
  const Extent &source = *ExtentOf(call, *from), &target = *ExtentOf(call, *to);
  command.Record(&ExtensionFunctions::clCommandCopyBufferRectKHR, source.whole, target.whole,
                 OriginInWhole(source, from_box).data(), OriginInWhole(target, to_box).data(), region.data(), from_row,
                 from_slice, to_row, to_slice);
}

CLSORT_EXPORT(commandCopyBufferToImageKHR, "clCommandCopyBufferToImageKHR") {
  Command command(call);
  auto buffer = call.Handle(2, Kind::kMemObject), image = call.Handle(3, Kind::kMemObject);
  size_t offset = call.Size(4);
  auto origin = call.Origin(5), region = call.Origin(6);
  if (!command.ReadSyncPoints(7) || !CheckPixels(call, *image, origin, region)) return;
  if (!CheckPacked(call, *buffer, offset, *image, region) || !command.Keep(*buffer) || !command.Keep(*image)) return;
  const Extent& from = *ExtentOf(call, *buffer);
  command.Record(&ExtensionFunctions::clCommandCopyBufferToImageKHR, from.whole, image->As<cl_mem>(),
                 from.begin + offset, origin.data(), region.data());
}

CLSORT_EXPORT(commandCopyImageKHR, "clCommandCopyImageKHR") {
  Command command(call);
  auto from = call.Handle(2, Kind::kMemObject), to = call.Handle(3, Kind::kMemObject);
  auto from_origin = call.Origin(4), to_origin = call.Origin(5), region = call.Origin(6);
  if (!command.ReadSyncPoints(7) || !CheckCopy(call, *from, from_origin, *to, to_origin, region)) return;
  if (!command.Keep(*from) || !command.Keep(*to)) return;
  command.Record(&ExtensionFunctions::clCommandCopyImageKHR, from->As<cl_mem>(), to->As<cl_mem>(), from_origin.data(),
                 to_origin.data(), region.data());
}

CLSORT_EXPORT(commandCopyImageToBufferKHR, "clCommandCopyImageToBufferKHR") {
  Command command(call);
  auto image = call.Handle(2, Kind::kMemObject), buffer = call.Handle(3, Kind::kMemObject);
  auto origin = call.Origin(4), region = call.Origin(5);
  size_t offset = call.Size(6);
  if (!command.ReadSyncPoints(7) || !CheckPixels(call, *image, origin, region)) return;
  if (!CheckPacked(call, *buffer, offset, *image, region) || !command.Keep(*buffer) || !command.Keep(*image)) return;
  const Extent& to = *ExtentOf(call, *buffer);
  command.Record(&ExtensionFunctions::clCommandCopyImageToBufferKHR, image->As<cl_mem>(), to.whole, origin.data(),
                 region.data(), to.begin + offset);
}

CLSORT_EXPORT(commandFillBufferKHR, "clCommandFillBufferKHR") {
  Command command(call);
  auto buffer = call.Handle(2, Kind::kMemObject);
  auto pattern = ReadPattern(call, 3);
  size_t offset = call.Size(4), size = call.Size(5);
  if (!command.ReadSyncPoints(6) || !CheckRange(call, *buffer, offset, size) ||
      !CheckPattern(call, pattern.size(), offset, size) || !command.Keep(*buffer)) {
    return;
  }
  const void* bytes = pattern.data();
  command.Record(&ExtensionFunctions::clCommandFillBufferKHR, buffer->As<cl_mem>(), bytes, pattern.size(), offset,
                 size);
}

CLSORT_EXPORT(commandFillImageKHR, "clCommandFillImageKHR") {
  Command command(call);
  auto image = call.Handle(2, Kind::kMemObject);
  auto color = ReadFillColor(call, 3, image);
  auto origin = call.Origin(4), region = call.Origin(5);
  if (!command.ReadSyncPoints(6) || !CheckPixels(call, *image, origin, region) || !command.Keep(*image)) return;
  const void* bytes = color.data();
  command.Record(&ExtensionFunctions::clCommandFillImageKHR, image->As<cl_mem>(), bytes, origin.data(), region.data());
}

/** Throws unless all arguments are set: PoCL 3 crashes otherwise. */
bool CheckAllSet(Call& call, const Object& kernel) {
  cl_uint count = 0;
  auto raw = kernel.As<cl_kernel>();
  if (!call.Check(api.clGetKernelInfo(raw, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr))) return false;
  for (size_t i = 0; i < count; i++) {
    if (i >= kernel.arguments.size() || !kernel.arguments[i].set) {
      return call.Fail(CL_INVALID_KERNEL_ARGS, "kernel argument " + std::to_string(i + 1) + " is not set");
    }
  }
  return true;
}

/** Throws if recording the kernel with its current arguments would crash the driver. */
bool CheckRecordable(Call& call, const Object& kernel) {
  const Platform& platform = *kernel.platform;
  for (size_t i = 0; i < kernel.arguments.size(); i++) {
    const KernelArgument& argument = kernel.arguments[i];
    bool sampler = platform.records_no_samplers && argument.object && argument.object->kind == Kind::kSampler;
    bool null = platform.records_no_null && argument.takes == Takes::kBuffer && !argument.object && !argument.svm;
    if (!sampler && !null) continue;
    return call.Fail(kUnsupported, NameArgument(argument, i) + ": this PoCL cannot record a kernel with " +
                                       (sampler ? "a sampler" : "a null pointer") + "; enqueue it instead");
  }
  return call.ok();
}

CLSORT_EXPORT(commandNDRangeKernelKHR, "clCommandNDRangeKernelKHR") {
  Command command(call);
  auto properties = call.Properties<cl_ulong>(2, CL_INVALID_VALUE);
  auto kernel = call.Handle(3, Kind::kKernel);
  cl_uint dimensions = call.Uint(4, CL_INVALID_WORK_DIMENSION);
  if (call.ok() && (dimensions < 1 || dimensions > 3)) {
    call.FailArgument(4, CL_INVALID_WORK_DIMENSION, "1, 2 or 3 dimensions");
  }
  WorkSize offset = call.Work(5, dimensions, CL_INVALID_GLOBAL_OFFSET);
  WorkSize global = call.Work(6, dimensions, CL_INVALID_GLOBAL_WORK_SIZE);
  WorkSize local = call.Work(7, dimensions, CL_INVALID_WORK_GROUP_SIZE);
  if (!command.ReadSyncPoints(8) || !CheckAllSet(call, *kernel) || !CheckArguments(call, *kernel) ||
      !CheckRecordable(call, *kernel)) {
    return;
  }
  if (!global.given) return (void)call.FailArgument(6, CL_INVALID_GLOBAL_WORK_SIZE, "sizes");
  if (!CheckLaunch(call, command.queue(), *kernel, dimensions, offset.data(), global.data(), local.data())) return;
  cl_kernel copy = command.KeepKernel(*kernel);
  if (!copy) return;
  for (const KernelArgument& argument : kernel->arguments) {
    if (argument.object && !command.Keep(*argument.object)) return;
    if (argument.svm) command.KeepSvm(argument.svm);
  }
  for (const void* memory : kernel->indirect_svm) command.KeepSvm(memory);
  const cl_ulong* list = properties.empty() ? nullptr : properties.data();
  command.Record(&ExtensionFunctions::clCommandNDRangeKernelKHR, list, copy, dimensions, offset.data(), global.data(),
                 local.data());
}

}  // namespace

}  // namespace clsort
