#pragma once

#include "opencl.h"

namespace clsort {

/** Adds a reference to the recording of a command buffer. Thread-safe. */
cl_int RetainRecording(void* recording);
/** Removes a reference, also while a queue still executes the command buffer: executions hold their own references. */
cl_int ReleaseRecording(void* recording);

}  // namespace clsort
