#pragma once

#include "call.h"

namespace clsort {

// Shared by shared virtual memory and the unified shared memory of extensions, whose functions have the same types.
// `find` returns the function for a queue, or throws and returns null.
using MemcpyFunction = cl_int(CL_API_CALL*)(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint,
                                            const cl_event*, cl_event*);
using MemFillFunction = cl_int(CL_API_CALL*)(cl_command_queue, void*, const void*, size_t, size_t, cl_uint,
                                             const cl_event*, cl_event*);

void EnqueueMemcpy(Call& call, MemcpyFunction (*find)(Call& call, const Object& queue));
/** @param unified whether the memory is unified shared memory instead of memory of SVMAlloc */
void EnqueueMemFill(Call& call, bool unified, MemFillFunction (*find)(Call& call, const Object& queue));

/** Reads memory of one of the two kinds that is not freed. */
HostMemory ReadShared(Call& call, v8::Local<v8::Value> value, size_t bytes, bool unified = false);

}  // namespace clsort
