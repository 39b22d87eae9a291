#include "memory.h"

#include <algorithm>

#include "bounds.h"
#include "info.h"
#include "one_shot_callback.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kMemInfo = {
    {CL_MEM_TYPE, Info::kUint},
    {CL_MEM_FLAGS, Info::kBits},
    {CL_MEM_SIZE, Info::kSize},
    {CL_MEM_HOST_PTR, Info::kPointer},
    {CL_MEM_MAP_COUNT, Info::kUint},
    {CL_MEM_REFERENCE_COUNT, Info::kUint},
    {CL_MEM_CONTEXT, Info::kHandle, Kind::kContext},
    {CL_MEM_ASSOCIATED_MEMOBJECT, Info::kHandle, Kind::kMemObject},
    {CL_MEM_OFFSET, Info::kSize},
    {CL_MEM_USES_SVM_POINTER, Info::kBool},
    {CL_MEM_PROPERTIES, Info::kProperties},
};

void CL_CALLBACK OnHostMemoryFree(cl_mem, void* store) {
  delete static_cast<std::shared_ptr<v8::BackingStore>*>(store);
}

CLSORT_EXPORT(createBuffer, "clCreateBuffer") {
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  size_t size = call.Size(2, CL_INVALID_BUFFER_SIZE);
  HostMemory host = ReadHostPointer(call, 3, flags, size);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  cl_mem memory = api.clCreateBuffer(context->As<cl_context>(), flags, size, host.data, &status);
  ReturnMemObject(call, status, memory, context->platform, flags, host);
}

CLSORT_EXPORT(createBufferWithProperties, "clCreateBufferWithProperties") {
  auto context = call.Handle(0, Kind::kContext);
  auto properties = call.Properties<cl_mem_properties>(1, CL_INVALID_PROPERTY);
  cl_mem_flags flags = call.Bits(2);
  size_t size = call.Size(3, CL_INVALID_BUFFER_SIZE);
  HostMemory host = ReadHostPointer(call, 4, flags, size);
  if (!call.ok() || !call.Supported(api.clCreateBufferWithProperties, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_mem memory = api.clCreateBufferWithProperties(
      context->As<cl_context>(), properties.empty() ? nullptr : properties.data(), flags, size, host.data, &status);
  ReturnMemObject(call, status, memory, context->platform, flags, host);
}

/** Throws unless a sub-buffer may begin at this origin for a device of the context. Not all drivers check this. */
bool CheckOrigin(Call& call, Object& buffer, size_t origin) {
  std::vector<cl_device_id> devices;
  size_t least = SIZE_MAX;
  if (DevicesOf(buffer.Context(), &devices) != CL_SUCCESS) return call.ok();
  for (cl_device_id device : devices) {
    cl_uint bits = 0;
    api.clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr);
    size_t bytes = std::max<size_t>(bits / 8, 1);
    if (origin % bytes == 0) return call.ok();
    least = std::min(least, bytes);
  }
  return call.Fail(CL_MISALIGNED_SUB_BUFFER_OFFSET, "argument 4: expected an origin at a multiple of " +
                                                        std::to_string(least) + " bytes but got " +
                                                        std::to_string(origin));
}

CLSORT_EXPORT(createSubBuffer, "clCreateSubBuffer") {
  auto buffer = call.Handle(0, Kind::kMemObject);
  cl_mem_flags flags = call.Bits(1);
  cl_uint type = call.Uint(2);
  if (call.ok() && !call[3]->IsObject()) call.FailArgument(3, CL_INVALID_VALUE, "{ origin, size }");
  if (!call.ok()) return;
  auto region = call[3].As<v8::Object>();
  cl_buffer_region info_region;
  info_region.origin = call.Unsigned(call.Property(region, "origin"), CL_INVALID_VALUE, SIZE_MAX);
  info_region.size = call.Unsigned(call.Property(region, "size"), CL_INVALID_VALUE, SIZE_MAX);
  if (!call.ok() || !call.Supported(api.clCreateSubBuffer, buffer->platform)) return;
  if (type != CL_BUFFER_CREATE_TYPE_REGION) {
    return (void)call.FailArgument(2, CL_INVALID_VALUE, "BUFFER_CREATE_TYPE_REGION");
  }
  if (info_region.size == 0)
    return (void)call.FailArgument(3, CL_INVALID_BUFFER_SIZE, "a size of at least one byte", "0");
  if (!CheckRange(call, *buffer, info_region.origin, info_region.size) ||
      !CheckOrigin(call, *buffer, info_region.origin)) {
    return;
  }
  cl_int status = CL_SUCCESS;
  cl_mem part = api.clCreateSubBuffer(buffer->As<cl_mem>(), flags, type, &info_region, &status);
  call.ReturnHandle(status, Kind::kMemObject, part, buffer->platform);
}

CLSORT_EXPORT(getMemObjectInfo, "clGetMemObjectInfo") {
  ReturnInfoOf<cl_mem>(call, Kind::kMemObject, kMemInfo, api.clGetMemObjectInfo);
}

void CL_CALLBACK OnMemObjectDestroyed(cl_mem, void* user_data) { PostOneShot(user_data); }

CLSORT_EXPORT(setMemObjectDestructorCallback, "clSetMemObjectDestructorCallback") {
  auto memory = call.Handle(0, Kind::kMemObject);
  auto function = call.Callable(1);
  if (!call.ok() || !call.Supported(api.clSetMemObjectDestructorCallback, memory->platform)) return;
  if (function.IsEmpty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "a function");
  OneShotCallback* one_shot = MakeOneShot(call, function, call[2]);
  cl_int status = api.clSetMemObjectDestructorCallback(memory->As<cl_mem>(), OnMemObjectDestroyed, one_shot);
  if (status != CL_SUCCESS) CancelOneShot(call.environment(), one_shot);
  if (call.Check(status)) call.ReturnSuccess();
}

const Export kRetainMemObject("retainMemObject", Export::Invoke<RetainObject<Kind::kMemObject>>);
const Export kReleaseMemObject("releaseMemObject", Export::Invoke<ReleaseObject<Kind::kMemObject>>);

}  // namespace

HostMemory ReadHostPointer(Call& call, int i, cl_mem_flags flags, size_t bytes) {
  if (!call.ok() || !call.Has(i)) return {};
  return flags & CL_MEM_USE_HOST_PTR ? call.LastingMemory(i, bytes, CL_INVALID_HOST_PTR)
                                     : call.Memory(i, bytes, CL_INVALID_HOST_PTR);
}

void ReturnMemObject(Call& call, cl_int status, cl_mem memory, Platform* platform, cl_mem_flags flags,
                     const HostMemory& host) {
  if (!call.Check(status)) return;
  auto handle = Wrap(call.environment(), Kind::kMemObject, memory, platform);
  auto object = Unwrap(call.environment(), Kind::kMemObject, handle);
  if (flags & CL_MEM_USE_HOST_PTR && host.store) {
    object->host_store = host.store;
    if (!host.buffer.IsEmpty()) object->host_buffer.Reset(host.buffer);
    // The driver's object may outlive the handle while commands are in flight, so its destructor releases the memory.
    auto* root = new std::shared_ptr<v8::BackingStore>(host.store);
    if (platform->version < api.clSetMemObjectDestructorCallback.since ||
        api.clSetMemObjectDestructorCallback(memory, OnHostMemoryFree, root) != CL_SUCCESS) {
      delete root;
    }
  } else {
    size_t bytes = 0;
    api.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    object->ReportMemory(bytes);
  }
  call.Return(handle);
}

}  // namespace clsort
