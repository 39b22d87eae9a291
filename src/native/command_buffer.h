#pragma once

#include <atomic>
#include <vector>

#include "extensions.h"
#include "object.h"

namespace clsort {

/**
 * Command buffer and the objects that its commands use, because drivers differ in what they retain. It is destroyed
 * after its last handle and its last execution.
 */
struct Recording {
  std::atomic<unsigned> references{1};
  const ExtensionFunctions* functions = nullptr;
  CommandBufferHandle buffer = nullptr;
  /** The queue comes first. The last execution may end on any thread, so nothing here may own an `Object`. */
  std::vector<Retained> retained;
  /** Shared virtual memory of kernel arguments, which must still be allocated when the commands execute. */
  std::vector<const void*> svm;
  std::vector<SyncPoint> sync_points;
  bool finalized = false;

  ~Recording() {
    if (buffer) functions->clReleaseCommandBufferKHR(buffer);
  }
};

inline Recording* RecordingOf(const Object& object) { return object.As<Recording*>(); }

/** Adds a reference to the recording of a command buffer. Thread-safe. */
cl_int RetainRecording(void* recording);
/** Removes a reference, also while a queue still executes the command buffer: executions hold their own references. */
cl_int ReleaseRecording(void* recording);

}  // namespace clsort
