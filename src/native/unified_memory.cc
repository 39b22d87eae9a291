#include "extensions.h"
#include "info.h"
#include "svm.h"

// Unified shared memory of cl_intel_unified_shared_memory: host and shared memory are ArrayBuffers with the lifetime of
// memory of SVMAlloc, in the same registry.

namespace clsort {

namespace {

constexpr char kExtension[] = "cl_intel_unified_shared_memory";
constexpr cl_uint kAllocationType = 0x419A, kAllocationBase = 0x419B, kAllocationSize = 0x419C,
                  kAllocationDevice = 0x419D;

const std::vector<InfoRow> kAllocationInfo = {
    {kAllocationType, Info::kUint},
    {kAllocationBase, Info::kPointer},
    {kAllocationSize, Info::kSize},
    {kAllocationDevice, Info::kHandle, Kind::kDevice},
};

/** Throws unless a device of the context has the extension. */
bool CheckContext(Call& call, const Object& context) {
  std::vector<cl_device_id> devices;
  if (!call.Check(DevicesOf(context.As<cl_context>(), &devices))) return false;
  for (cl_device_id device : devices) {
    if (HasExtension(*context.platform, device, kExtension)) return true;
  }
  return !devices.empty() && CheckExtension(call, *context.platform, devices[0], kExtension);
}

/** Calls `allocate(functions, status)` and returns its memory as an ArrayBuffer. */
template <typename Allocate>
void Return(Call& call, const Object& context, size_t size, const Allocate& allocate) {
  Retained owner = call.Hold(context);
  if (!call.ok()) return;
  Environment& environment = call.environment();
  environment.in_flight().Sweep();  // frees memory that this allocation may need
  const ExtensionFunctions& functions = ExtensionsOf(*context.platform);
  cl_int status = CL_SUCCESS;
  void* pointer = allocate(functions, &status);
  if (!call.Check(status)) return;
  if (!pointer) return (void)call.Fail(CL_OUT_OF_RESOURCES, "the driver returned no memory");
  auto memory = std::make_shared<SvmMemory>(pointer, size, std::move(owner), functions.clMemFreeINTEL);
  auto buffer = environment.external_array_buffers().Wrap(pointer, size, memory);
  environment.svm().Add(std::move(memory), buffer);
  call.Return(buffer);
}

CLSORT_EXPORT(hostMemAllocINTEL, "clHostMemAllocINTEL") {
  auto context = call.Handle(0, Kind::kContext);
  auto properties = call.Properties<cl_ulong>(1, CL_INVALID_PROPERTY);
  size_t size = call.Size(2, CL_INVALID_BUFFER_SIZE);
  cl_uint alignment = call.Has(3) ? call.Uint(3) : 0;
  if (call.ok() && size == 0) call.FailArgument(2, CL_INVALID_BUFFER_SIZE, "a size of at least one byte");
  if (!call.ok() || !CheckContext(call, *context)) return;
  Return(call, *context, size, [&](const ExtensionFunctions& functions, cl_int* status) {
    return functions.clHostMemAllocINTEL(context->As<cl_context>(), properties.empty() ? nullptr : properties.data(),
                                         size, alignment, status);
  });
}

CLSORT_EXPORT(sharedMemAllocINTEL, "clSharedMemAllocINTEL") {
  auto context = call.Handle(0, Kind::kContext);
  std::shared_ptr<Object> device;
  if (call.Has(1)) device = call.Handle(1, Kind::kDevice);
  auto properties = call.Properties<cl_ulong>(2, CL_INVALID_PROPERTY);
  size_t size = call.Size(3, CL_INVALID_BUFFER_SIZE);
  cl_uint alignment = call.Has(4) ? call.Uint(4) : 0;
  if (call.ok() && size == 0) call.FailArgument(3, CL_INVALID_BUFFER_SIZE, "a size of at least one byte");
  if (!call.ok() || !CheckContext(call, *context)) return;
  cl_device_id raw = device ? device->As<cl_device_id>() : nullptr;
  if (raw && !CheckExtension(call, *context->platform, raw, kExtension)) return;
  Return(call, *context, size, [&](const ExtensionFunctions& functions, cl_int* status) {
    return functions.clSharedMemAllocINTEL(context->As<cl_context>(), raw,
                                           properties.empty() ? nullptr : properties.data(), size, alignment, status);
  });
}

CLSORT_EXPORT(deviceMemAllocINTEL, "clDeviceMemAllocINTEL") {
  call.Fail(kUnsupported, "its memory is accessible only to the device: use createBuffer");
}

CLSORT_EXPORT(memFreeINTEL, "clMemFreeINTEL") {
  call.Handle(0, Kind::kContext);
  HostMemory memory = ReadShared(call, call[1], 0, true);
  if (!call.ok()) return;
  call.environment().svm().Take(memory);
  call.ReturnSuccess();
}

CLSORT_EXPORT(getMemAllocInfoINTEL, "clGetMemAllocInfoINTEL") {
  auto context = call.Handle(0, Kind::kContext);
  HostMemory memory = ReadShared(call, call[1], 0, true);
  cl_uint name = call.Uint(2);
  if (!call.ok() || !CheckContext(call, *context)) return;
  ReturnInfo(
      call, name, kAllocationInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        return ExtensionsOf(*context->platform)
            .clGetMemAllocInfoINTEL(context->As<cl_context>(), memory.data, name, bytes, value, needed);
      },
      context->platform);
}

CLSORT_EXPORT(setKernelArgMemPointerINTEL, "clSetKernelArgMemPointerINTEL") {
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  HostMemory memory = ReadShared(call, call[2], 1, true);
  if (!call.ok()) return;
  KernelArgument* argument = ArgumentOf(call, *kernel, index);
  if (argument && CheckOffer(call, *argument, index, Takes::kBuffer) && SetPointer(call, *kernel, index, memory.data)) {
    call.ReturnSuccess();
  }
}

/** Returns the function of the queue's driver; throws if the device lacks the extension. */
template <auto function>
auto Find(Call& call, const Object& queue) -> std::decay_t<decltype(ExtensionFunctions{}.*function)> {
  cl_device_id device = nullptr;
  auto raw = queue.As<cl_command_queue>();
  if (!call.Check(api.clGetCommandQueueInfo(raw, CL_QUEUE_DEVICE, sizeof device, &device, nullptr)) ||
      !CheckExtension(call, *queue.platform, device, kExtension)) {
    return nullptr;
  }
  return ExtensionsOf(*queue.platform).*function;
}

CLSORT_EXPORT(enqueueMemcpyINTEL, "clEnqueueMemcpyINTEL") {
  EnqueueMemcpy(call, Find<&ExtensionFunctions::clEnqueueMemcpyINTEL>);
}

CLSORT_EXPORT(enqueueMemFillINTEL, "clEnqueueMemFillINTEL") {
  EnqueueMemFill(call, true, Find<&ExtensionFunctions::clEnqueueMemFillINTEL>);
}

}  // namespace

}  // namespace clsort
