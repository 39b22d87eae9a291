#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "functions.h"
#include "opencl.h"
#include "user_event_tracker.h"

namespace clsort {

/**
 * Locked during calls in which a driver may initialise itself. PoCL initialises its devices on first use and returns
 * them half initialised to other threads. Builds are excluded: they take long, and drivers lock their own
 * initialisation there.
 */
extern std::mutex& first_use;

constexpr bool MayInitialise(std::string_view name) {
  return name == "clGetPlatformIDs" || name == "clGetPlatformInfo" || name == "clGetDeviceIDs" ||
         name == "clGetDeviceInfo" || name == "clCreateSubDevices" || name == "clCreateContext" ||
         name == "clCreateContextFromType";
}

/** Returns the index of the parameter that makes an enqueue call block; 0 for none. */
constexpr int BlockingFlag(std::string_view name) {
  if (name == "clEnqueueSVMMemcpy" || name == "clEnqueueSVMMap") return 1;
  bool of_memory = name == "clEnqueueReadBuffer" || name == "clEnqueueWriteBuffer" ||
                   name == "clEnqueueReadBufferRect" || name == "clEnqueueWriteBufferRect" ||
                   name == "clEnqueueReadImage" || name == "clEnqueueWriteImage" || name == "clEnqueueMapBuffer" ||
                   name == "clEnqueueMapImage";
  return of_memory ? 2 : 0;
}

/** Returns whether a call creates or ends a mapping. */
constexpr bool IsMappingCall(std::string_view name) {
  return name == "clEnqueueMapBuffer" || name == "clEnqueueMapImage" || name == "clEnqueueUnmapMemObject";
}

/** Locked during mapping calls, which must not block, of drivers that mix up mappings: see Platform::mixes_mappings. */
extern std::mutex& mapping_mutex;

/**
 * Returns whether the driver of a queue returns early from blocking calls, like rusticl; see Platform::finishes_early.
 */
bool ReturnsEarly(cl_command_queue queue);
/** Returns whether the driver of a queue mixes up mappings, like PoCL. */
bool MixesMappings(cl_command_queue queue);

/** Queries the state of a command: below CL_COMPLETE it has failed. `state` is unchanged if the driver reports none. */
cl_int AskState(cl_event event, cl_int* state);
/** Returns whether a command has ended or failed; false, that is possibly running, if the driver reports no state. */
bool Ended(cl_event event);
/** Blocks until a command has ended. @return CL_SUCCESS, or the error of clWaitForEvents */
cl_int BlockUntilEnded(cl_event event);
void ReleaseEvent(cl_event event);

inline bool IsSet(cl_bool flag) { return flag != CL_FALSE; }
/** Not a flag: another call has a different parameter in this position. */
template <typename Other>
bool IsSet(const Other&) {
  return false;
}

inline bool Unset(cl_bool* flag) { return std::exchange(*flag, CL_FALSE) != CL_FALSE; }
template <typename Other>
bool Unset(Other*) {
  return false;
}

/** OpenCL function in the loader, or nullptr; `since` is 110 for OpenCL 1.1, and so on. */
template <typename Pointer>
struct Function;

template <typename Result, typename... Parameters>
struct Function<Result(CL_API_CALL*)(Parameters...)> {
  using Pointer = Result(CL_API_CALL*)(Parameters...);

  const char* name;
  unsigned since;
  /** Offset of the function in a driver's dispatch table. */
  size_t slot;
  /** Whether a driver may initialise itself in it. */
  bool initialises;
  bool is_mapping_call;
  int blocking_flag;
  Pointer pointer;

  Result operator()(Parameters... parameters) const {
    constexpr bool enqueues = (std::is_same_v<Parameters, cl_event*> || ...);
    if constexpr (enqueues) {
      std::tuple<Parameters...> all(parameters...);
      bool held = user_events.open();
      return held || Blocks(all) || NeedsMappingLock(all) ? Enqueue(all, held) : pointer(parameters...);
    } else {
      std::unique_lock<std::mutex> lock(first_use, std::defer_lock);
      if (initialises) lock.lock();
      return pointer(parameters...);
    }
  }

 private:
  /** Returns whether the call blocks and its driver may return early. */
  bool Blocks(const std::tuple<Parameters...>& parameters) const {
    if constexpr (sizeof...(Parameters) > 2) {
      bool blocks = (blocking_flag == 1 && IsSet(std::get<1>(parameters))) ||
                    (blocking_flag == 2 && IsSet(std::get<2>(parameters)));
      return blocks && ReturnsEarly(std::get<cl_command_queue>(parameters));
    }
    return false;
  }

  /** Returns whether the call must not run concurrently with other mapping calls. */
  bool NeedsMappingLock(const std::tuple<Parameters...>& parameters) const {
    return is_mapping_call && MixesMappings(std::get<cl_command_queue>(parameters));
  }

  /** Makes a call non-blocking. @return whether it was blocking */
  bool ClearBlocking(std::tuple<Parameters...>* parameters) const {
    if constexpr (sizeof...(Parameters) > 2) {
      if (blocking_flag == 1) return Unset(&std::get<1>(*parameters));
      if (blocking_flag == 2) return Unset(&std::get<2>(*parameters));
    }
    return false;
  }

  /**
   * Enqueues a command with an event, whether or not the caller wants one.
   *
   * A blocking call waits for that event if the driver returns early when another thread flushes the queue: otherwise
   * the command would use freed memory.
   *
   * @param held whether the user event tracker holds the event
   */
  Result Enqueue(std::tuple<Parameters...> parameters, bool held) const {
    bool needs_mapping_lock = NeedsMappingLock(parameters);
    bool waits =
        Blocks(parameters) || ((user_events.needs_enqueue_lock() || needs_mapping_lock) && ClearBlocking(&parameters));
    cl_event own = nullptr;
    cl_event*& event = std::get<cl_event*>(parameters);
    bool wanted = event != nullptr;
    if (!wanted) event = &own;
    *event = nullptr;
    auto enqueue_lock = user_events.LockEnqueue();
    std::unique_lock<std::mutex> mapping_lock(mapping_mutex, std::defer_lock);
    if (needs_mapping_lock) mapping_lock.lock();
    Result result = std::apply(pointer, parameters);
    if (needs_mapping_lock) mapping_lock.unlock();
    enqueue_lock = {};
    bool enqueued;
    if constexpr (std::is_same_v<Result, cl_int>) {
      enqueued = result == CL_SUCCESS;
    } else {
      enqueued = result != nullptr;  // for map calls
    }
    if (!enqueued || !*event) return result;
    if (waits) {
      cl_int ended = BlockUntilEnded(*event);
      if constexpr (std::is_same_v<Result, cl_int>) {
        result = ended;
        wanted = wanted && ended == CL_SUCCESS;  // callers do not expect an event of a failed call
      }
    }
    if (held) {
      user_events.Hold(*event, wanted);
    } else if (!wanted) {
      ReleaseEvent(*event);
    }
    if (!wanted) *event = nullptr;
    return result;
  }
};

/** Functions of the OpenCL loader (libOpenCL), which is opened at run time. */
struct Loader {
#define CLSORT_MEMBER(name, since)                                                                                     \
  Function<decltype(&::name)> name{                                                                                    \
      #name,  since, offsetof(cl_icd_dispatch, name), MayInitialise(#name), IsMappingCall(#name), BlockingFlag(#name), \
      nullptr};
  CLSORT_FUNCTIONS(CLSORT_MEMBER)
#undef CLSORT_MEMBER

  std::string path;
  std::string problem;
  bool loaded = false;
};

/** Returns the loader of the process; tries again if opening it failed before. */
const Loader& OpenLoader();

/** Loader of the process, opened by an earlier call: code that has a handle may use it. */
extern Loader api;

/** Properties of a platform that apply to all of its objects. */
struct Platform {
  cl_platform_id id;
  /** Status of the queries for the members below, which are only valid on success. */
  cl_int status = CL_INVALID_PLATFORM;
  /** 110 for OpenCL 1.1, and so on. */
  unsigned version = 100;
  /** Dispatch table of the driver; null if the loader does not expose it. */
  const char* dispatch = nullptr;
  /** All calls must come from the JavaScript thread. */
  bool single_threaded = false;
  /** clFinish returns early when another thread flushes the queue: Mesa's rusticl, up to at least 22.3. */
  bool finishes_early = false;
  /**
   * Migrating memory to the host enqueues another command with an inaccessible event. That command never ends if the
   * last command on the memory has failed. The process ends if it fails, or if a thread enqueues meanwhile: PoCL.
   */
  bool migrates_by_hidden_command = false;
  /**
   * Other events that a failed command waited for keep a raw pointer to its event until they end, and start the command
   * if they end at the same moment: PoCL.
   */
  bool keeps_bare_waiters = false;
  /**
   * Mappings of a region are identified only by their pointer and are listed before their command is enqueued. An unmap
   * may take the mapping of another thread, whose map command then uses a freed mapping: PoCL.
   */
  bool mixes_mappings = false;
  /**
   * Build options are split at each quotation mark, also within a word, and at spaces but not at tabs: Mesa's rusticl.
   */
  bool cuts_at_quotes = false;
  /**
   * An image that a kernel writes is freed with the last reference of the program and of kernel arguments, even before
   * the launch runs, which then writes memory of other allocations: Mesa's rusticl, up to at least 22.3.
   */
  bool drops_written_images = false;
  /**
   * Links and builds of binaries need the option for argument info themselves. A program from a binary can be built
   * only once; the second build ends the process: PoCL.
   */
  bool builds_binaries = false;
  /**
   * Recording a kernel retains a sampler argument as an object of another kind, which ends the process: PoCL, up to at
   * least 6.
   */
  bool records_no_samplers = false;
  /** Recording a kernel retains null pointers as if they were buffers: PoCL 3. */
  bool records_no_null = false;
};

/** Returns a platform, valid for the life of the process. Queries again after a failure. */
Platform* PlatformOf(cl_platform_id id);

/** Returns whether the driver has the function of this slot. */
bool DriverHas(const Platform& platform, size_t slot);

/** Returns whether loader, platform and driver have a function. */
template <typename Pointer>
bool Has(const Platform& platform, const Function<Pointer>& function) {
  return function.pointer && platform.version >= function.since && DriverHas(platform, function.slot);
}

/** Keeps the code of this addon mapped forever: drivers call back on their threads at any time. */
void PinAddon();

}  // namespace clsort
