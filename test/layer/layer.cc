// An OpenCL layer for tests, which the loader puts between a program and its drivers (OPENCL_LAYERS):
//
// - counts the references to live objects, and uses of objects that are gone;
// - fails, delays or corrupts a chosen call;
// - pretends a device smaller than it is, and refuses what would not fit that one.
//
// It is told what to do, and tells what it saw, through a file that it maps (CLSORT_LAYER_CONTROL), so that
// one process can go through many cases and its end loses nothing. layer.ts is the other side of the file.

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_layer.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <unordered_map>

#include "../../src/native/functions.h"

namespace {

using Word = std::atomic<uint32_t>;
using Dispatch = cl_icd_dispatch;

/** Picks one call: the `at`th, from 1 on, of function number `function`, or of all functions if that is 0. */
struct Trigger {
  Word function, at, value;
  /** Calls that matched, up to now. */
  Word seen;

  bool Fires(uint32_t number) {
    if (function != 0 && function != number) return false;
    return ++seen == at;
  }
};

/** Kinds of objects, in the order of `Control::live`. */
enum Kind { kDevice, kContext, kQueue, kMemory, kSampler, kProgram, kKernel, kEvent, kSvm, kKinds };

/** The file. Words of 32 bits, all zeros at first. */
struct Control {
  /** 1 once the layer is at work. */
  Word loaded;
  /** Fails a call with the status `value`. */
  Trigger fail;
  /** Lets a call wait `value` milliseconds first. */
  Trigger delay;
  /** Inverts the bits of `value` in a word of what a read or map call brought. */
  Trigger corrupt;
  /** What the device pretends to have at most; 0: what it has. */
  Word work_group, local_bytes, allocation;
  /** Number of the last function that failed on purpose. */
  Word failed;
  /** Uses of objects without a reference, and the number of the last function that was so called. */
  Word misuses, misused;
  Word live[kKinds];
};

/** Where the names of the functions stand in the file: as text, one to a line, the first has number 1. */
constexpr size_t kNamesOffset = 256;
constexpr size_t kFileBytes = 8192;
static_assert(sizeof(Control) <= kNamesOffset);

Control* control;
Dispatch target;  // what the calls go on to

// --- Objects -------------------------------------------------------------------------------------------

std::mutex guard;
std::unordered_map<void*, uint32_t> references;

constexpr Kind KindOf(cl_device_id) { return kDevice; }
constexpr Kind KindOf(cl_context) { return kContext; }
constexpr Kind KindOf(cl_command_queue) { return kQueue; }
constexpr Kind KindOf(cl_mem) { return kMemory; }
constexpr Kind KindOf(cl_sampler) { return kSampler; }
constexpr Kind KindOf(cl_program) { return kProgram; }
constexpr Kind KindOf(cl_kernel) { return kKernel; }
constexpr Kind KindOf(cl_event) { return kEvent; }
constexpr Kind KindOf(void*) { return kSvm; }

template <typename T>
constexpr bool kIsObject =
    std::is_same_v<T, cl_context> || std::is_same_v<T, cl_command_queue> || std::is_same_v<T, cl_mem> ||
    std::is_same_v<T, cl_sampler> || std::is_same_v<T, cl_program> || std::is_same_v<T, cl_kernel> ||
    std::is_same_v<T, cl_event>;

void Add(void* object, Kind kind) {
  if (!object) return;
  std::lock_guard<std::mutex> lock(guard);
  references[object]++;
  control->live[kind]++;
}

/** @return false when there was no reference to take */
bool Remove(void* object, Kind kind) {
  std::lock_guard<std::mutex> lock(guard);
  auto found = references.find(object);
  if (found == references.end()) return false;
  if (--found->second == 0) references.erase(found);
  control->live[kind]--;
  return true;
}

void Misused(uint32_t number) {
  control->misuses++;
  control->misused = number;
}

/** Devices but parts of them are not counted, so nothing is known of them. */
template <typename T>
void CheckUse(uint32_t number, T argument) {
  if constexpr (kIsObject<T>) {
    if (!argument) return;
    std::lock_guard<std::mutex> lock(guard);
    if (references.count(argument) == 0) Misused(number);
  }
}

/** Commands give their event through an argument. */
template <typename T>
void AddEvent(T argument) {
  if constexpr (std::is_same_v<T, cl_event*>) {
    if (argument) Add(*argument, kEvent);
  }
}

// --- What single functions do besides ------------------------------------------------------------------

void Corrupt(void* data, size_t bytes) {
  if (bytes < 4) return;
  uint32_t word;
  char* place = static_cast<char*>(data) + bytes / 8 * 4;
  std::memcpy(&word, place, sizeof word);
  word ^= control->corrupt.value;
  std::memcpy(place, &word, sizeof word);
}

template <typename T>
void Limit(void* value, uint32_t limit) {
  T number;
  std::memcpy(&number, value, sizeof number);
  if (limit && number > limit) number = limit;
  std::memcpy(value, &number, sizeof number);
}

/** The call itself. */
template <auto member>
struct Through {
  template <typename... Arguments>
  static auto Call(Arguments... arguments) {
    return (target.*member)(arguments...);
  }
};

template <>
struct Through<&Dispatch::clGetDeviceInfo> {
  static cl_int Call(cl_device_id device, cl_device_info name, size_t bytes, void* value, size_t* needed) {
    cl_int status = target.clGetDeviceInfo(device, name, bytes, value, needed);
    if (status != CL_SUCCESS || !value) return status;
    if (name == CL_DEVICE_MAX_WORK_GROUP_SIZE) Limit<size_t>(value, control->work_group);
    if (name == CL_DEVICE_LOCAL_MEM_SIZE) Limit<cl_ulong>(value, control->local_bytes);
    if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE) Limit<cl_ulong>(value, control->allocation);
    if (name == CL_DEVICE_MAX_WORK_ITEM_SIZES) {
      for (int i = 0; i < 3; i++) Limit<size_t>(static_cast<size_t*>(value) + i, control->work_group);
    }
    return status;
  }
};

template <>
struct Through<&Dispatch::clGetKernelWorkGroupInfo> {
  static cl_int Call(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name, size_t bytes,
                     void* value, size_t* needed) {
    cl_int status = target.clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, needed);
    if (status != CL_SUCCESS || !value) return status;
    if (name == CL_KERNEL_WORK_GROUP_SIZE) Limit<size_t>(value, control->work_group);
    return status;
  }
};

template <>
struct Through<&Dispatch::clCreateBuffer> {
  static cl_mem Call(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* status) {
    if (control->allocation && bytes > control->allocation) {
      if (status) *status = CL_INVALID_BUFFER_SIZE;
      return nullptr;
    }
    return target.clCreateBuffer(context, flags, bytes, host, status);
  }
};

template <>
struct Through<&Dispatch::clEnqueueNDRangeKernel> {
  static cl_int Call(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                     const size_t* global, const size_t* local, cl_uint waits, const cl_event* list,
                     cl_event* event) {
    size_t items = 1;
    for (cl_uint i = 0; local && i < dimensions; i++) items *= local[i];
    if (control->work_group && items > control->work_group) return CL_INVALID_WORK_GROUP_SIZE;
    if (control->local_bytes && LocalBytes(queue, kernel) > control->local_bytes) return CL_OUT_OF_RESOURCES;
    return target.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, list, event);
  }

  static cl_ulong LocalBytes(cl_command_queue queue, cl_kernel kernel) {
    cl_device_id device = nullptr;
    cl_ulong bytes = 0;
    target.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
    target.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    return bytes;
  }
};

template <>
struct Through<&Dispatch::clEnqueueReadBuffer> {
  static cl_int Call(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                     void* host, cl_uint waits, const cl_event* list, cl_event* event) {
    bool corrupt = control->corrupt.Fires(0);
    cl_int status = target.clEnqueueReadBuffer(queue, buffer, corrupt ? CL_TRUE : blocking, offset, bytes, host,
                                               waits, list, event);
    if (corrupt && status == CL_SUCCESS) Corrupt(host, bytes);
    return status;
  }
};

template <>
struct Through<&Dispatch::clEnqueueMapBuffer> {
  static void* Call(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                    size_t bytes, cl_uint waits, const cl_event* list, cl_event* event, cl_int* status) {
    bool corrupt = flags & CL_MAP_READ && control->corrupt.Fires(0);
    void* mapped = target.clEnqueueMapBuffer(queue, buffer, corrupt ? CL_TRUE : blocking, flags, offset, bytes,
                                             waits, list, event, status);
    if (corrupt && mapped) Corrupt(mapped, bytes);
    return mapped;
  }
};

template <>
struct Through<&Dispatch::clSVMAlloc> {
  static void* Call(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment) {
    void* memory = target.clSVMAlloc(context, flags, bytes, alignment);
    Add(memory, kSvm);
    return memory;
  }
};

template <>
struct Through<&Dispatch::clSVMFree> {
  static void Call(cl_context context, void* memory) {
    if (memory && !Remove(memory, kSvm)) Misused(0);
    target.clSVMFree(context, memory);
  }
};

template <>
struct Through<&Dispatch::clEnqueueSVMFree> {
  template <typename Free, typename... Rest>
  static cl_int Call(cl_command_queue queue, cl_uint count, void** pointers, Free free, Rest... rest) {
    // A function of the caller's frees them itself.
    for (cl_uint i = 0; !free && i < count; i++) {
      if (!Remove(pointers[i], kSvm)) Misused(0);
    }
    return target.clEnqueueSVMFree(queue, count, pointers, free, rest...);
  }
};

template <>
struct Through<&Dispatch::clCreateSubDevices> {
  static cl_int Call(cl_device_id device, const cl_device_partition_property* properties, cl_uint count,
                     cl_device_id* parts, cl_uint* needed) {
    cl_uint made = 0;
    cl_int status = target.clCreateSubDevices(device, properties, count, parts, &made);
    if (needed) *needed = made;
    for (cl_uint i = 0; status == CL_SUCCESS && parts && i < std::min(count, made); i++) Add(parts[i], kDevice);
    return status;
  }
};

template <>
struct Through<&Dispatch::clCreateKernelsInProgram> {
  static cl_int Call(cl_program program, cl_uint count, cl_kernel* kernels, cl_uint* needed) {
    cl_uint made = 0;
    cl_int status = target.clCreateKernelsInProgram(program, count, kernels, &made);
    if (needed) *needed = made;
    for (cl_uint i = 0; status == CL_SUCCESS && kernels && i < std::min(count, made); i++) Add(kernels[i], kKernel);
    return status;
  }
};

// --- Every function ------------------------------------------------------------------------------------

constexpr std::string_view kNames[] = {
    "",
#define NAME(function, since) #function,
    CLSORT_FUNCTIONS(NAME)
#undef NAME
};

enum Number : uint32_t {
  kNoFunction,
#define NUMBER(function, since) k_##function,
  CLSORT_FUNCTIONS(NUMBER)
#undef NUMBER
};

template <typename T>
void SetStatus(T argument, cl_int status) {
  if constexpr (std::is_same_v<T, cl_int*>) {
    if (argument) *argument = status;
  }
}

/** What a call returns that fails. */
template <typename Result, typename... Arguments>
Result Failure(cl_int status, Arguments... arguments) {
  if constexpr (std::is_same_v<Result, cl_int>) {
    return status;
  } else {
    (SetStatus(arguments, status), ...);
    return nullptr;
  }
}

template <typename Result>
bool Succeeded(Result result) {
  if constexpr (std::is_same_v<Result, cl_int>) {
    return result == CL_SUCCESS;
  } else {
    return result != nullptr;
  }
}

constexpr bool StartsWith(std::string_view name, std::string_view start) {
  return name.substr(0, start.size()) == start;
}

template <auto member, Number number>
struct Layered;

template <typename Result, typename... Arguments, Result(CL_API_CALL* Dispatch::*member)(Arguments...),
          Number number>
struct Layered<member, number> {
  static Result CL_API_CALL Call(Arguments... arguments) {
    constexpr std::string_view name = kNames[number];
    if (control->delay.Fires(number)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(control->delay.value));
    }
    bool fails = control->fail.Fires(number);
    if (fails) control->failed = number;
    cl_int failure = static_cast<cl_int>(control->fail.value);
    if constexpr (StartsWith(name, "clRelease")) {
      // A release that says it failed has released all the same: what else would become of the object?
      cl_int status = Release(arguments...);
      return fails ? failure : status;
    } else {
      // What the driver still has and tells of may be retained by whoever has no reference.
      if constexpr (!StartsWith(name, "clRetain")) (CheckUse(number, arguments), ...);
      if constexpr (std::is_void_v<Result>) {
        Through<member>::Call(arguments...);
      } else {
        if (fails) return Failure<Result>(failure, arguments...);
        Result result = Through<member>::Call(arguments...);
        if constexpr (StartsWith(name, "clRetain")) {
          if (result == CL_SUCCESS) (Add(arguments, KindOf(arguments)), ...);
        } else if constexpr (kIsObject<Result>) {
          Add(result, KindOf(result));
        }
        if (Succeeded(result)) (AddEvent(arguments), ...);
        return result;
      }
    }
  }

  template <typename Object>
  static cl_int Release(Object object) {
    // Before the driver lets the address be used again.
    bool known = Remove(object, KindOf(object));
    if (!known) Misused(number);
    cl_int status = (target.*member)(object);
    if (known && status != CL_SUCCESS) Add(object, KindOf(object));
    return status;
  }
};

Dispatch layered;

/** Maps the file, which has to be there. */
Control* OpenControl() {
  const char* path = std::getenv("CLSORT_LAYER_CONTROL");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0 || ftruncate(file, kFileBytes) != 0) return nullptr;
  void* memory = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  char* names = static_cast<char*>(memory) + kNamesOffset;
  for (std::string_view name : kNames) {
    if (name.empty()) continue;
    std::memcpy(names, name.data(), name.size());
    names += name.size();
    *names++ = '\n';
  }
  return static_cast<Control*>(memory);
}

}  // namespace

extern "C" cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t bytes, void* value, size_t* needed) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  const char title[] = "clsort test layer";
  const void* source = name == CL_LAYER_API_VERSION ? static_cast<const void*>(&version) : title;
  size_t length = name == CL_LAYER_API_VERSION ? sizeof version : sizeof title;
  if (name != CL_LAYER_API_VERSION && name != CL_LAYER_NAME) return CL_INVALID_VALUE;
  if (value && bytes < length) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, source, length);
  if (needed) *needed = length;
  return CL_SUCCESS;
}

extern "C" cl_int CL_API_CALL clInitLayer(cl_uint entries, const Dispatch* next, cl_uint* entries_needed,
                                          const Dispatch** layer) {
  control = OpenControl();
  if (!control) {
    std::fprintf(stderr, "clsort test layer: CLSORT_LAYER_CONTROL names no file that can be written\n");
    return CL_INVALID_VALUE;
  }
  std::memcpy(&target, next, std::min(sizeof target, entries * sizeof(void*)));
  layered = target;
#define LAYER(function, since) \
  if (target.function) layered.function = Layered<&Dispatch::function, k_##function>::Call;
  CLSORT_FUNCTIONS(LAYER)
#undef LAYER
  *layer = &layered;
  *entries_needed = sizeof layered / sizeof(void*);
  control->loaded = 1;
  return CL_SUCCESS;
}
