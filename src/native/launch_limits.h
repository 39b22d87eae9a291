#pragma once

#include "call.h"

// Checks of launch sizes against the device and the kernel before the driver is called: too much local memory ends the
// process in PoCL and corrupts other drivers; a work-group of 0 work-items counts as no size.

namespace clsort {

/** Limits of the device of a queue. */
struct QueueLimits {
  cl_device_id device = nullptr;
  size_t items[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  size_t group = 0;
  cl_ulong local_bytes = 0;
  /** Largest ID that a work-item can have. */
  size_t last_id = SIZE_MAX;
  /** Whether global sizes must be multiples of local sizes. */
  bool uniform = false;
};

/** Requirements of a kernel on a device. */
struct KernelLimits {
  /** Device of the values below; null if they are outdated. */
  cl_device_id device = nullptr;
  /** reqd_work_group_size, or zeros. */
  size_t required[3] = {};
  cl_ulong local_bytes = 0;
  /** Maximum local memory of the devices of the context; 0 before the first query. */
  cl_ulong max_local_bytes = 0;
  /** Bytes of local memory arguments, by index; 0 for other arguments. */
  std::vector<size_t> arguments;
};

/** Sets an argument to local memory of this size; throws if no device of the kernel's context has enough. */
bool SetLocalArgument(Call& call, Object& kernel, cl_uint index, size_t bytes);

/** Throws if no driver could launch the kernel with these sizes; `offset` and `local` may be null. */
bool CheckLaunch(Call& call, Object& queue, Object& kernel, cl_uint dimensions, const size_t* offset,
                 const size_t* global, const size_t* local);

}  // namespace clsort
