#pragma once

#include <type_traits>

#include "call.h"

// Extension functions, whose addresses a driver returns by name. Only the functions of this table are looked up and
// called: an arbitrary name would give a pointer without a signature. The types are repeated here because the headers
// of older distributions lack them.

#ifndef CL_KHR_COMMAND_BUFFER_EXTENSION_NAME
typedef struct _cl_command_buffer_khr* cl_command_buffer_khr;
#endif

namespace clsort {

using CommandBufferHandle = cl_command_buffer_khr;
using SyncPoint = cl_uint;

// Last arguments of every recorded command: sync points to wait for, the new sync point, an unused handle.
#define CLSORT_SYNC_POINTS cl_uint, const SyncPoint*, SyncPoint*, void**
#define CLSORT_WAIT_LIST cl_uint, const cl_event*, cl_event*

// X(extension, function, type)
#define CLSORT_EXTENSION_FUNCTIONS(X)                                                                                  \
  X(cl_khr_command_buffer, clCreateCommandBufferKHR,                                                                   \
    CommandBufferHandle(cl_uint, const cl_command_queue*, const cl_ulong*, cl_int*))                                   \
  X(cl_khr_command_buffer, clFinalizeCommandBufferKHR, cl_int(CommandBufferHandle))                                    \
  X(cl_khr_command_buffer, clReleaseCommandBufferKHR, cl_int(CommandBufferHandle))                                     \
  X(cl_khr_command_buffer, clEnqueueCommandBufferKHR,                                                                  \
    cl_int(cl_uint, cl_command_queue*, CommandBufferHandle, CLSORT_WAIT_LIST))                                         \
  X(cl_khr_command_buffer, clCommandBarrierWithWaitListKHR,                                                            \
    cl_int(CommandBufferHandle, cl_command_queue, CLSORT_SYNC_POINTS))                                                 \
  X(cl_khr_command_buffer, clCommandCopyBufferKHR,                                                                     \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, CLSORT_SYNC_POINTS))         \
  X(cl_khr_command_buffer, clCommandCopyBufferRectKHR,                                                                 \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, const size_t*, size_t, \
           size_t, size_t, size_t, CLSORT_SYNC_POINTS))                                                                \
  X(cl_khr_command_buffer, clCommandCopyBufferToImageKHR,                                                              \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, cl_mem, size_t, const size_t*, const size_t*,                \
           CLSORT_SYNC_POINTS))                                                                                        \
  X(cl_khr_command_buffer, clCommandCopyImageKHR,                                                                      \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, const size_t*,         \
           CLSORT_SYNC_POINTS))                                                                                        \
  X(cl_khr_command_buffer, clCommandCopyImageToBufferKHR,                                                              \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, cl_mem, const size_t*, const size_t*, size_t,                \
           CLSORT_SYNC_POINTS))                                                                                        \
  X(cl_khr_command_buffer, clCommandFillBufferKHR,                                                                     \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, const void*, size_t, size_t, size_t, CLSORT_SYNC_POINTS))    \
  X(cl_khr_command_buffer, clCommandFillImageKHR,                                                                      \
    cl_int(CommandBufferHandle, cl_command_queue, cl_mem, const void*, const size_t*, const size_t*,                   \
           CLSORT_SYNC_POINTS))                                                                                        \
  X(cl_khr_command_buffer, clCommandNDRangeKernelKHR,                                                                  \
    cl_int(CommandBufferHandle, cl_command_queue, const cl_ulong*, cl_kernel, cl_uint, const size_t*, const size_t*,   \
           const size_t*, CLSORT_SYNC_POINTS))                                                                         \
  X(cl_khr_command_buffer, clGetCommandBufferInfoKHR, cl_int(CommandBufferHandle, cl_uint, size_t, void*, size_t*))    \
  X(cl_khr_external_memory, clEnqueueAcquireExternalMemObjectsKHR,                                                     \
    cl_int(cl_command_queue, cl_uint, const cl_mem*, CLSORT_WAIT_LIST))                                                \
  X(cl_khr_external_memory, clEnqueueReleaseExternalMemObjectsKHR,                                                     \
    cl_int(cl_command_queue, cl_uint, const cl_mem*, CLSORT_WAIT_LIST))                                                \
  X(cl_intel_unified_shared_memory, clHostMemAllocINTEL, void*(cl_context, const cl_ulong*, size_t, cl_uint, cl_int*)) \
  X(cl_intel_unified_shared_memory, clSharedMemAllocINTEL,                                                             \
    void*(cl_context, cl_device_id, const cl_ulong*, size_t, cl_uint, cl_int*))                                        \
  X(cl_intel_unified_shared_memory, clMemFreeINTEL, cl_int(cl_context, void*))                                         \
  X(cl_intel_unified_shared_memory, clGetMemAllocInfoINTEL,                                                            \
    cl_int(cl_context, const void*, cl_uint, size_t, void*, size_t*))                                                  \
  X(cl_intel_unified_shared_memory, clSetKernelArgMemPointerINTEL, cl_int(cl_kernel, cl_uint, const void*))            \
  X(cl_intel_unified_shared_memory, clEnqueueMemcpyINTEL,                                                              \
    cl_int(cl_command_queue, cl_bool, void*, const void*, size_t, CLSORT_WAIT_LIST))                                   \
  X(cl_intel_unified_shared_memory, clEnqueueMemFillINTEL,                                                             \
    cl_int(cl_command_queue, void*, const void*, size_t, size_t, CLSORT_WAIT_LIST))

/** Addresses of the extension functions of a driver; null for missing ones. */
struct ExtensionFunctions {
#define CLSORT_MEMBER(extension, function, ...) std::add_pointer_t<__VA_ARGS__> function = nullptr;
  CLSORT_EXTENSION_FUNCTIONS(CLSORT_MEMBER)
#undef CLSORT_MEMBER
};

/** Returns the extension functions of a platform, which are looked up once per process. */
const ExtensionFunctions& ExtensionsOf(const Platform& platform);

/** Like `CheckExtension`, without throwing. */
bool HasExtension(const Platform& platform, cl_device_id device, const char* extension);

/**
 * Throws unless the device has the extension in a version whose functions have the types above, and all of its
 * functions have an address.
 */
bool CheckExtension(Call& call, const Platform& platform, cl_device_id device, const char* extension);

}  // namespace clsort
