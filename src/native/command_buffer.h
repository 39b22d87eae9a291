#ifndef CLSORT_NATIVE_COMMAND_BUFFER_H_
#define CLSORT_NATIVE_COMMAND_BUFFER_H_

#include "opencl.h"

namespace clsort {

/** References to what the handle of a command buffer stands for; may be called on any thread. */
cl_int RetainRecording(void* recording);
/** Also to be called for a command buffer that a queue still executes: executions hold it themselves. */
cl_int ReleaseRecording(void* recording);

}  // namespace clsort

#endif
