#pragma once

#include "call.h"

namespace clsort {

/** Reads the host_ptr of a create… call: at least `bytes` bytes, or none. */
HostMemory ReadHostPointer(Call& call, int i, cl_mem_flags flags, size_t bytes);

/** Returns a new memory object, which keeps its host memory alive. */
void ReturnMemObject(Call& call, cl_int status, cl_mem memory, Platform* platform, cl_mem_flags flags,
                     const HostMemory& host);

}  // namespace clsort
