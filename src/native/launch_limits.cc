#include "launch_limits.h"

#include <algorithm>

#include "info.h"

namespace clsort {

namespace {

constexpr cl_uint kNvidia = 0x10de;
/** Above the local memory of any NVIDIA work-group, and below 2^32: the driver truncates sizes to 32 bits. */
constexpr cl_ulong kTooMuchForNvidia = cl_ulong{1} << 20;

template <typename T>
bool AskDevice(Call& call, cl_device_id device, cl_device_info name, T* value) {
  return call.Check(api.clGetDeviceInfo(device, name, sizeof *value, value, nullptr));
}

/**
 * Returns the maximum local memory of a work-group. NVIDIA's driver reports 48 KiB, provides up to 227 KiB where the
 * hardware has it, and rejects larger sizes itself unless it truncates them.
 */
bool AskLocalBytes(Call& call, cl_device_id device, cl_ulong* bytes) {
  cl_uint vendor = 0;
  if (!AskDevice(call, device, CL_DEVICE_VENDOR_ID, &vendor)) return false;
  *bytes = kTooMuchForNvidia;
  return vendor == kNvidia || AskDevice(call, device, CL_DEVICE_LOCAL_MEM_SIZE, bytes);
}

const QueueLimits* LimitsOfQueue(Call& call, Object& queue) {
  if (queue.queue_limits) return queue.queue_limits.get();
  auto limits = std::make_shared<QueueLimits>();
  cl_device_id& device = limits->device;
  cl_uint bits = 64;
  if (!call.Check(
          api.clGetCommandQueueInfo(queue.As<cl_command_queue>(), CL_QUEUE_DEVICE, sizeof device, &device, nullptr)) ||
      !AskDevice(call, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, &limits->group) ||
      !AskLocalBytes(call, device, &limits->local_bytes) || !AskDevice(call, device, CL_DEVICE_ADDRESS_BITS, &bits)) {
    return nullptr;
  }
  if (bits < 64) limits->last_id = (size_t{1} << bits) - 1;
  size_t bytes = 0;
  std::vector<size_t> items;
  if (!call.Check(api.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, 0, nullptr, &bytes))) return nullptr;
  items.resize(bytes / sizeof(size_t));
  if (!call.Check(api.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes, items.data(), nullptr))) {
    return nullptr;
  }
  std::copy_n(items.begin(), std::min<size_t>(items.size(), 3), limits->items);
  // From 2.0 on the language version of the program decides; 3.0 devices report whether they support it.
  unsigned version = queue.platform->version;
  limits->uniform = version < 200;
  if (version >= 300) {
    cl_bool can = CL_TRUE;
    if (!AskDevice(call, device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, &can)) return nullptr;
    limits->uniform = !can;
  }
  queue.queue_limits = std::move(limits);
  return queue.queue_limits.get();
}

KernelLimits& Slot(Object& kernel) {
  if (!kernel.kernel_limits) kernel.kernel_limits = std::make_shared<KernelLimits>();
  return *kernel.kernel_limits;
}

/** Returns null if the kernel is not built for the device. */
const KernelLimits* LimitsOfKernel(Object& kernel, cl_device_id device) {
  KernelLimits& limits = Slot(kernel);
  if (limits.device == device) return &limits;
  auto ask = [&](cl_kernel_work_group_info name, auto* value) {
    auto raw = kernel.As<cl_kernel>();
    return api.clGetKernelWorkGroupInfo(raw, device, name, sizeof *value, value, nullptr) == CL_SUCCESS;
  };
  if (!ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, &limits.required) ||
      !ask(CL_KERNEL_LOCAL_MEM_SIZE, &limits.local_bytes)) {
    return nullptr;
  }
  // Some drivers report local memory without the arguments, others only the arguments.
  cl_ulong arguments = 0;
  for (size_t bytes : limits.arguments) arguments = arguments + bytes < bytes ? UINT64_MAX : arguments + bytes;
  limits.local_bytes = std::max(limits.local_bytes, arguments);
  limits.device = device;
  return &limits;
}

bool QueryMaxLocalBytes(Call& call, Object& kernel, cl_ulong* most) {
  cl_context context = nullptr;
  std::vector<cl_device_id> devices;
  if (!call.Check(api.clGetKernelInfo(kernel.As<cl_kernel>(), CL_KERNEL_CONTEXT, sizeof context, &context, nullptr)) ||
      !call.Check(DevicesOf(context, &devices))) {
    return false;
  }
  for (cl_device_id device : devices) {
    cl_ulong has = 0;
    if (!AskLocalBytes(call, device, &has)) return false;
    *most = std::max(*most, has);
  }
  return true;
}

std::string Show(size_t number) { return std::to_string(number); }

bool FailLocal(Call& call, cl_ulong needed, cl_ulong has) {
  return call.Fail(CL_OUT_OF_RESOURCES,
                   "the kernel needs " + Show(needed) + " bytes of local memory, and the device has " + Show(has));
}

bool CheckGroup(Call& call, const QueueLimits& device, const KernelLimits& kernel, cl_uint dimensions,
                const size_t* global, const size_t* local) {
  size_t items = 1;
  for (cl_uint d = 0; d < dimensions; d++) {
    size_t size = local[d];
    if (size == 0 || size > device.items[d]) {
      return call.Fail(CL_INVALID_WORK_ITEM_SIZE, "expected a local size of 1 to " + Show(device.items[d]) +
                                                      " in dimension " + Show(d) + " but got " + Show(size));
    }
    // CL_KERNEL_WORK_GROUP_SIZE is left to the driver: rusticl reports 32 and accepts 1024.
    if (size > device.group / items) {
      return call.Fail(CL_INVALID_WORK_GROUP_SIZE,
                       "expected at most " + Show(device.group) + " work-items in a work-group but got more");
    }
    items *= size;
    if (device.uniform && global[d] % size != 0) {
      return call.Fail(CL_INVALID_WORK_GROUP_SIZE, "expected a multiple of the local size " + Show(size) +
                                                       " for the global size in " + "dimension " + Show(d) +
                                                       " but got " + Show(global[d]));
    }
    if (kernel.required[0] && size != kernel.required[d]) {
      return call.Fail(CL_INVALID_WORK_GROUP_SIZE, "expected the local size " + Show(kernel.required[d]) +
                                                       " of the kernel in dimension " + Show(d) + " but got " +
                                                       Show(size));
    }
  }
  return true;
}

}  // namespace

bool SetLocalArgument(Call& call, Object& kernel, cl_uint index, size_t bytes) {
  KernelLimits& limits = Slot(kernel);
  if (!call.ok() || (limits.max_local_bytes == 0 && !QueryMaxLocalBytes(call, kernel, &limits.max_local_bytes))) {
    return false;
  }
  // Checked here and not only at the launch: Oclgrind allocates the memory and ends the process if it cannot.
  if (bytes > limits.max_local_bytes) return FailLocal(call, bytes, limits.max_local_bytes);
  if (!call.Check(api.clSetKernelArg(kernel.As<cl_kernel>(), index, bytes, nullptr))) return false;
  if (limits.arguments.size() <= index) limits.arguments.resize(index + 1);
  if (limits.arguments[index] == bytes) return true;
  limits.arguments[index] = bytes;
  limits.device = nullptr;
  return true;
}

bool CheckLaunch(Call& call, Object& queue, Object& kernel, cl_uint dimensions, const size_t* offset,
                 const size_t* global, const size_t* local) {
  const QueueLimits* device = LimitsOfQueue(call, queue);
  if (!device) return false;
  const KernelLimits* needs = LimitsOfKernel(kernel, device->device);
  if (!needs) return true;  // the driver reports the reason best
  if (needs->local_bytes > device->local_bytes) {
    return FailLocal(call, needs->local_bytes, device->local_bytes);
  }
  for (cl_uint d = 0; offset && d < dimensions; d++) {
    if (global[d] > device->last_id || offset[d] > device->last_id - global[d]) {
      return call.Fail(CL_INVALID_GLOBAL_OFFSET, "offset and size exceed the largest id of a work-item");
    }
  }
  if (local) return CheckGroup(call, *device, *needs, dimensions, global, local);
  return needs->required[0] == 0 ||
         call.Fail(CL_INVALID_WORK_GROUP_SIZE, "expected the local size that the kernel is compiled for but got none");
}

}  // namespace clsort
