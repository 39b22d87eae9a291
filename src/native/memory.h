#ifndef CLSORT_NATIVE_MEMORY_H_
#define CLSORT_NATIVE_MEMORY_H_

#include "call.h"

namespace clsort {

/** The host_ptr of a create… call: at least `bytes` bytes, or nothing. */
HostMemory ReadHostPointer(Call& call, int i, cl_mem_flags flags, size_t bytes);

/** Returns a new memory object, which keeps the host memory that it lives in. */
void ReturnMemObject(Call& call, cl_int status, cl_mem memory, Platform* platform, cl_mem_flags flags,
                     const HostMemory& host);

}  // namespace clsort

#endif
