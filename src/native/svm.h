#ifndef CLSORT_NATIVE_SVM_H_
#define CLSORT_NATIVE_SVM_H_

#include "call.h"

namespace clsort {

// What shared virtual memory has in common with the unified shared memory of extensions: the driver's functions are
// of the same types. `find` gives the function for a queue, or throws and gives null.
using MemcpyFunction = cl_int(CL_API_CALL*)(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint,
                                            const cl_event*, cl_event*);
using MemFillFunction = cl_int(CL_API_CALL*)(cl_command_queue, void*, const void*, size_t, size_t, cl_uint,
                                             const cl_event*, cl_event*);

void EnqueueMemcpy(Call& call, MemcpyFunction (*find)(Call& call, const Object& queue));
/** @param unified whether the memory is unified shared memory, and not of SVMAlloc */
void EnqueueMemFill(Call& call, bool unified, MemFillFunction (*find)(Call& call, const Object& queue));

/** Memory of one of the two kinds that is not freed. */
HostMemory ReadShared(Call& call, v8::Local<v8::Value> value, size_t bytes, bool unified = false);

}  // namespace clsort

#endif
