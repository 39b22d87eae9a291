#ifndef CLSORT_NATIVE_LOADER_H_
#define CLSORT_NATIVE_LOADER_H_

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
 * Held in every call that a driver may initialise itself in. PoCL does so when its devices are first asked for, and
 * gives them half made to another thread that asks meanwhile. Builds are not among these calls: they take long, and
 * drivers lock by themselves what they initialise there.
 */
extern std::mutex& first_use;

constexpr bool MayInitialise(std::string_view name) {
  return name == "clGetPlatformIDs" || name == "clGetPlatformInfo" || name == "clGetDeviceIDs" ||
         name == "clGetDeviceInfo" || name == "clCreateSubDevices" || name == "clCreateContext" ||
         name == "clCreateContextFromType";
}

/** Which parameter of an enqueue says that the call blocks until the command has ended; 0 for none. */
constexpr int BlockingFlag(std::string_view name) {
  if (name == "clEnqueueSVMMemcpy" || name == "clEnqueueSVMMap") return 1;
  bool of_memory = name == "clEnqueueReadBuffer" || name == "clEnqueueWriteBuffer" ||
                   name == "clEnqueueReadBufferRect" || name == "clEnqueueWriteBufferRect" ||
                   name == "clEnqueueReadImage" || name == "clEnqueueWriteImage" || name == "clEnqueueMapBuffer" ||
                   name == "clEnqueueMapImage";
  return of_memory ? 2 : 0;
}

/** Whether a call makes a mapping, or ends one. */
constexpr bool IsMappingCall(std::string_view name) {
  return name == "clEnqueueMapBuffer" || name == "clEnqueueMapImage" || name == "clEnqueueUnmapMemObject";
}

/** Held in each such call for a driver that mixes mappings up, in which it must not block: see Platform::mixes_mappings. */
extern std::mutex& mapping_mutex;

/** Whether a queue's driver comes back early from calls that block, as rusticl does; see Platform::finishes_early. */
bool ReturnsEarly(cl_command_queue queue);
/** Whether a queue's driver mixes mappings up, as PoCL does. */
bool MixesMappings(cl_command_queue queue);

/** Asks how far a command is: below CL_COMPLETE it has failed. `state` stays where the driver does not tell. */
cl_int AskState(cl_event event, cl_int* state);
/** Whether a command has ended, well or not; where the driver does not tell, it may still be running. */
bool Ended(cl_event event);
/** Blocks until a command has ended. @return CL_SUCCESS, or what clWaitForEvents has against it */
cl_int BlockUntilEnded(cl_event event);
void ReleaseEvent(cl_event event);

inline bool IsSet(cl_bool flag) { return flag != CL_FALSE; }
/** No flag: what another call has in that place. */
template <typename Other>
bool IsSet(const Other&) {
  return false;
}

inline bool Unset(cl_bool* flag) { return std::exchange(*flag, CL_FALSE) != CL_FALSE; }
template <typename Other>
bool Unset(Other*) {
  return false;
}

/** An OpenCL function as found in the loader, or nullptr; `since` is 110 for OpenCL 1.1 and so on. */
template <typename Pointer>
struct Function;

template <typename Result, typename... Parameters>
struct Function<Result(CL_API_CALL*)(Parameters...)> {
  using Pointer = Result(CL_API_CALL*)(Parameters...);

  const char* name;
  unsigned since;
  /** Where a driver's dispatch table has the function. */
  size_t slot;
  /** A driver may initialise itself in it. */
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
  /** The call is to block, and its driver may come back early. */
  bool Blocks(const std::tuple<Parameters...>& parameters) const {
    if constexpr (sizeof...(Parameters) > 2) {
      bool blocks = (blocking_flag == 1 && IsSet(std::get<1>(parameters))) ||
                    (blocking_flag == 2 && IsSet(std::get<2>(parameters)));
      return blocks && ReturnsEarly(std::get<cl_command_queue>(parameters));
    }
    return false;
  }

  /** The call is to be made while no other one of its kind is. */
  bool NeedsMappingLock(const std::tuple<Parameters...>& parameters) const {
    return is_mapping_call && MixesMappings(std::get<cl_command_queue>(parameters));
  }

  /** Has a call not block. @return whether it was to */
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
   * A call that blocks is over when that event says so, where the driver comes back early when another thread flushes
   * the queue meanwhile: the command would use memory that is free by then.
   * @param held have the user_events hold the event
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
      enqueued = result != nullptr;  // of a map call
    }
    if (!enqueued || !*event) return result;
    if (waits) {
      cl_int ended = BlockUntilEnded(*event);
      if constexpr (std::is_same_v<Result, cl_int>) {
        result = ended;
        wanted = wanted && ended == CL_SUCCESS;  // a caller takes no event of a call that has failed
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

/** The functions of the OpenCL loader (libOpenCL), opened at run time. */
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

/** The process's loader. Where opening it failed before, this tries again. */
const Loader& OpenLoader();

/** The process's loader, which some earlier call has opened: code that has a handle may call this. */
extern Loader api;

/** Facts about a platform that hold for every object made from it. */
struct Platform {
  cl_platform_id id;
  /** What the driver said when it was asked for the rest; without success that is not to be used. */
  cl_int status = CL_INVALID_PLATFORM;
  /** 110 for OpenCL 1.1 and so on. */
  unsigned version = 100;
  /** The driver's functions; null where the loader does not tell. */
  const char* dispatch = nullptr;
  /** All calls must come from the JavaScript thread. */
  bool single_threaded = false;
  /** clFinish comes back early when another thread flushes the queue meanwhile: Mesa's rusticl, to 22.3 at least. */
  bool finishes_early = false;
  /**
   * Migrating memory to the host enqueues a further command, whose event nobody gets. It never ends when the last command
   * on the memory has failed, and the process ends when it fails, or when a thread enqueues meanwhile: PoCL.
   */
  bool migrates_by_hidden_command = false;
  /**
   * What a failed command waited for besides has a bare pointer to its event until it ends, and starts the command where it
   * ends at the same moment: PoCL.
   */
  bool keeps_bare_waiters = false;
  /**
   * Mappings of a region are told apart by nothing but its pointer, and stand in a list before their command is enqueued: a
   * thread that unmaps gets that of another one, which then runs a map whose mapping is freed. PoCL.
   */
  bool mixes_mappings = false;
  /** Build options are cut at each quotation mark, also within a word, and at blanks but no tabs: Mesa's rusticl. */
  bool cuts_at_quotes = false;
  /**
   * An image that a kernel writes goes with the last reference of the program and of kernels' arguments, although the launch
   * has yet to run, and memory that is another's is written then: Mesa's rusticl, to 22.3 at least.
   */
  bool drops_written_images = false;
  /**
   * Links, and builds of binaries, keep what kernels declare of their arguments where their own options ask for it; and a program
   * of a binary is built once, the process ends the second time. PoCL.
   */
  bool builds_binaries = false;
  /** Recording a kernel retains what is no sampler in the place of one, and ends the process: PoCL, to 6 at least. */
  bool records_no_samplers = false;
  /** Recording a kernel retains a buffer also where there is a null pointer: PoCL 3. */
  bool records_no_null = false;
};

/** Facts of a platform; the pointer stays valid for the life of the process. Asks again after a failure. */
Platform* PlatformOf(cl_platform_id id);

/** Whether the driver itself has the function of this slot. */
bool DriverHas(const Platform& platform, size_t slot);

/** Whether loader, platform and driver have a function. */
template <typename Pointer>
bool Has(const Platform& platform, const Function<Pointer>& function) {
  return function.pointer && platform.version >= function.since && DriverHas(platform, function.slot);
}

/** Keeps this addon's code mapped for good: drivers call back on their threads at any time. */
void PinAddon();

}  // namespace clsort

#endif
