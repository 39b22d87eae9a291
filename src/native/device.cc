#include "info.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kDeviceInfo = {
    {CL_DEVICE_TYPE, Info::kBits},
    {CL_DEVICE_VENDOR_ID, Info::kUint},
    {CL_DEVICE_MAX_COMPUTE_UNITS, Info::kUint},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, Info::kUint},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, Info::kSize},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, Info::kSizes},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, Info::kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, Info::kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, Info::kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, Info::kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, Info::kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, Info::kUint},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, Info::kUint},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, Info::kUint},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, Info::kUint},
    {CL_DEVICE_ADDRESS_BITS, Info::kUint},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, Info::kUint},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, Info::kUint},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, Info::kUint},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, Info::kLong},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, Info::kSize},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, Info::kSize},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, Info::kSize},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, Info::kSize},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, Info::kSize},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, Info::kSize},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, Info::kSize},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, Info::kUint},
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, Info::kUint},
    {CL_DEVICE_IMAGE_SUPPORT, Info::kBool},
    {CL_DEVICE_MAX_PARAMETER_SIZE, Info::kSize},
    {CL_DEVICE_MAX_SAMPLERS, Info::kUint},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, Info::kUint},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, Info::kUint},
    {CL_DEVICE_SINGLE_FP_CONFIG, Info::kBits},
    {CL_DEVICE_DOUBLE_FP_CONFIG, Info::kBits},
    {CL_DEVICE_HALF_FP_CONFIG, Info::kBits},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, Info::kUint},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, Info::kUint},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, Info::kLong},
    {CL_DEVICE_GLOBAL_MEM_SIZE, Info::kLong},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, Info::kLong},
    {CL_DEVICE_MAX_CONSTANT_ARGS, Info::kUint},
    {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, Info::kSize},
    {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, Info::kSize},
    {CL_DEVICE_LOCAL_MEM_TYPE, Info::kUint},
    {CL_DEVICE_LOCAL_MEM_SIZE, Info::kLong},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, Info::kBool},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, Info::kBool},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, Info::kSize},
    {CL_DEVICE_ENDIAN_LITTLE, Info::kBool},
    {CL_DEVICE_AVAILABLE, Info::kBool},
    {CL_DEVICE_COMPILER_AVAILABLE, Info::kBool},
    {CL_DEVICE_LINKER_AVAILABLE, Info::kBool},
    {CL_DEVICE_EXECUTION_CAPABILITIES, Info::kBits},
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, Info::kBits},  // same value as CL_DEVICE_QUEUE_PROPERTIES
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, Info::kBits},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, Info::kUint},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, Info::kUint},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, Info::kUint},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, Info::kUint},
    {CL_DEVICE_NAME, Info::kText},
    {CL_DEVICE_VENDOR, Info::kText},
    {CL_DRIVER_VERSION, Info::kText},
    {CL_DEVICE_PROFILE, Info::kText},
    {CL_DEVICE_VERSION, Info::kText},
    {CL_DEVICE_OPENCL_C_VERSION, Info::kText},
    {CL_DEVICE_EXTENSIONS, Info::kText},
    {CL_DEVICE_BUILT_IN_KERNELS, Info::kText},
    {CL_DEVICE_IL_VERSION, Info::kText},
    {CL_DEVICE_SPIR_VERSIONS, Info::kText},
    {CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, Info::kText},
    {CL_DEVICE_PLATFORM, Info::kHandle, Kind::kPlatform},
    {CL_DEVICE_PARENT_DEVICE, Info::kHandle, Kind::kDevice},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, Info::kUint},
    {CL_DEVICE_PARTITION_PROPERTIES, Info::kProperties},
    {CL_DEVICE_PARTITION_TYPE, Info::kProperties},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, Info::kBits},
    {CL_DEVICE_REFERENCE_COUNT, Info::kUint},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, Info::kBool},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, Info::kSize},
    {CL_DEVICE_SVM_CAPABILITIES, Info::kBits},
    {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, Info::kUint},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, Info::kUint},
    {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, Info::kUint},
    {CL_DEVICE_MAX_PIPE_ARGS, Info::kUint},
    {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, Info::kUint},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, Info::kUint},
    {CL_DEVICE_MAX_NUM_SUB_GROUPS, Info::kUint},
    {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, Info::kBool},
    {CL_DEVICE_NUMERIC_VERSION, Info::kVersion},
    {CL_DEVICE_EXTENSIONS_WITH_VERSION, Info::kVersions},
    {CL_DEVICE_ILS_WITH_VERSION, Info::kVersions},
    {CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, Info::kVersions},
    {CL_DEVICE_OPENCL_C_ALL_VERSIONS, Info::kVersions},
    {CL_DEVICE_OPENCL_C_FEATURES, Info::kVersions},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, Info::kBits},
    {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, Info::kBits},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, Info::kBool},
    {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, Info::kBool},
    {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, Info::kBool},
    {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, Info::kBits},
    {CL_DEVICE_PIPE_SUPPORT, Info::kBool},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, Info::kSize},
};

v8::Local<v8::Array> WrapAll(Call& call, const std::vector<cl_device_id>& devices, Platform* platform,
                             unsigned references) {
  auto array = Nan::New<v8::Array>();
  for (size_t i = 0; i < devices.size(); i++) {
    Nan::Set(array, static_cast<uint32_t>(i),
             Wrap(call.environment(), Kind::kDevice, devices[i], platform, references));
  }
  return array;
}

CLSORT_EXPORT(getDeviceIDs, "clGetDeviceIDs") {
  auto platform = call.Handle(0, Kind::kPlatform);
  cl_device_type type = call.Bits(1);
  if (!call.Has(1)) type = CL_DEVICE_TYPE_ALL;
  if (!call.ok()) return;
  cl_uint count = 0;
  if (!call.Check(api.clGetDeviceIDs(platform->As<cl_platform_id>(), type, 0, nullptr, &count))) return;
  std::vector<cl_device_id> devices(count);
  if (!call.Check(api.clGetDeviceIDs(platform->As<cl_platform_id>(), type, count, devices.data(), nullptr))) {
    return;
  }
  call.Return(WrapAll(call, devices, platform->platform, 0));
}

CLSORT_EXPORT(getDeviceInfo, "clGetDeviceInfo") {
  ReturnInfoOf<cl_device_id>(call, Kind::kDevice, kDeviceInfo, api.clGetDeviceInfo);
}

CLSORT_EXPORT(createSubDevices, "clCreateSubDevices") {
  auto device = call.Handle(0, Kind::kDevice);
  auto properties = call.Properties<cl_device_partition_property>(1, CL_INVALID_VALUE);
  if (!call.ok() || !call.Supported(api.clCreateSubDevices, device->platform)) return;
  const auto* list = properties.empty() ? nullptr : properties.data();
  cl_uint count = 0;
  if (!call.Check(api.clCreateSubDevices(device->As<cl_device_id>(), list, 0, nullptr, &count))) return;
  std::vector<cl_device_id> devices(count);
  if (!call.Check(api.clCreateSubDevices(device->As<cl_device_id>(), list, count, devices.data(), nullptr))) {
    return;
  }
  call.Return(WrapAll(call, devices, device->platform, 1));
}

/** Throws for root devices, which have no reference count. */
void CountSubDevice(Call& call, void (*count)(Call&, Kind)) {
  auto device = call.Handle(0, Kind::kDevice);
  if (!call.ok()) return;
  if (device->references == 0) {
    call.Fail(CL_INVALID_DEVICE, "only sub-devices can be retained and released");
    return;
  }
  count(call, Kind::kDevice);
}

CLSORT_EXPORT(retainDevice, "clRetainDevice") { CountSubDevice(call, RetainHandle); }

CLSORT_EXPORT(releaseDevice, "clReleaseDevice") { CountSubDevice(call, ReleaseHandle); }

CLSORT_EXPORT(getDeviceAndHostTimer, "clGetDeviceAndHostTimer") {
  auto device = call.Handle(0, Kind::kDevice);
  if (!call.ok() || !call.Supported(api.clGetDeviceAndHostTimer, device->platform)) return;
  cl_ulong device_time = 0, host_time = 0;
  if (!call.Check(api.clGetDeviceAndHostTimer(device->As<cl_device_id>(), &device_time, &host_time))) return;
  auto times = Nan::New<v8::Array>(2);
  Nan::Set(times, 0, HighLow(device_time));
  Nan::Set(times, 1, HighLow(host_time));
  call.Return(times);
}

CLSORT_EXPORT(getHostTimer, "clGetHostTimer") {
  auto device = call.Handle(0, Kind::kDevice);
  if (!call.ok() || !call.Supported(api.clGetHostTimer, device->platform)) return;
  cl_ulong time = 0;
  if (call.Check(api.clGetHostTimer(device->As<cl_device_id>(), &time))) call.Return(HighLow(time));
}

}  // namespace

}  // namespace clsort
