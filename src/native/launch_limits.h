#ifndef CLSORT_NATIVE_LAUNCH_LIMITS_H_
#define CLSORT_NATIVE_LAUNCH_LIMITS_H_

#include "call.h"

// Sizes of a launch against what the device and the kernel allow, before a driver sees them: too much local
// memory ends the process in PoCL and corrupts others, a group of 0 work-items is taken as if none were given.

namespace clsort {

/** What the device of a queue allows. */
struct QueueLimits {
  cl_device_id device = nullptr;
  size_t items[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  size_t group = 0;
  cl_ulong local_bytes = 0;
  /** The largest id that a work-item can have. */
  size_t last_id = SIZE_MAX;
  /** Every group is full: global sizes are multiples of local ones. */
  bool uniform = false;
};

/** What a kernel needs on a device. */
struct KernelLimits {
  /** The device that was asked; null where the answers no longer hold. */
  cl_device_id device = nullptr;
  /** reqd_work_group_size, or zeros. */
  size_t required[3] = {};
  cl_ulong local_bytes = 0;
  /** The most local memory that a device of the context has; 0 where nobody has asked. */
  cl_ulong max_local_bytes = 0;
  /** Bytes of the arguments that are local memory, by their index; 0 for others. */
  std::vector<size_t> arguments;
};

/** Sets an argument to so much local memory; throws where no device of the kernel's context has it. */
bool SetLocalArgument(Call& call, Object& kernel, cl_uint index, size_t bytes);

/** Throws where no driver could launch the kernel so; `offset` and `local` may be null. */
bool CheckLaunch(Call& call, Object& queue, Object& kernel, cl_uint dimensions, const size_t* offset,
                 const size_t* global, const size_t* local);

}  // namespace clsort

#endif
