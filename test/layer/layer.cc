// An OpenCL layer for tests, which the loader puts between a program and its drivers (OPENCL_LAYERS):
//
// - counts the references to live objects, and uses of released objects;
// - fails, delays or corrupts a chosen call;
// - ends the process, or never returns, when a kernel is enqueued that CLSORT_LAYER_ABORT or CLSORT_LAYER_HANG names,
//   such as 'scan', or 'scan -DKIND=2' for programs that were built with this option only;
// - ends the process, or never returns, when a program is built whose source contains the text of
//   CLSORT_LAYER_ABORT_BUILD or CLSORT_LAYER_HANG_BUILD;
// - answers CL_INVALID_KERNEL, as Apple's driver does, when the kernel that CLSORT_LAYER_INVALID names is enqueued;
// - adds four times as much in a 64-bit atomic addition, as a driver of Intel did, if CLSORT_LAYER_FOURFOLD is set;
// - simulates a smaller device, and refuses what would not fit that device;
// - lets PoCL answer like the device in the file that CLSORT_LAYER_PROFILE names, and refuses what that device would.
//
// The layer receives its commands and reports its counters through a mapped file (CLSORT_LAYER_CONTROL), so that one
// process can run many cases and its end loses nothing. layer.ts is the other side of the file.

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
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "../../src/native/functions.h"

namespace {

using Word = std::atomic<uint32_t>;
using Dispatch = cl_icd_dispatch;

/** Selects one call: the `at`th, from 1 on, of function number `function`, or of all functions if that is 0. */
struct Trigger {
  Word function, at, value;
  /** Number of calls that have matched. */
  Word seen;

  bool Fires(uint32_t number) {
    if (function != 0 && function != number) return false;
    return ++seen == at;
  }
};

/** Kinds of objects, in the order of `Control::live`. */
enum Kind { kDevice, kContext, kQueue, kMemory, kSampler, kProgram, kKernel, kEvent, kSvm, kCommands, kKinds };

/** The mapped file. Words of 32 bits, all zeros at first. */
struct Control {
  /** 1 once the layer is active. */
  Word loaded;
  /** Fails a call with the status `value`. */
  Trigger fail;
  /** Delays a call by `value` milliseconds. */
  Trigger delay;
  /** Inverts the bits of `value` in a word that a read or map call returned. */
  Trigger corrupt;
  /** Maximum sizes that the device reports; 0: its own. */
  Word work_group, local_bytes, allocation;
  /** Local memory that the device, which poses as NVIDIA's, reports instead of its larger own; 0: its own. */
  Word nvidia_local_bytes;
  /** Not 0: the device is a GPU with dedicated memory. */
  Word own_memory;
  /** Number of the last function that failed on purpose. */
  Word failed;
  /** Uses of objects without a reference, and the number of the last function called with one. */
  Word misuses, misused;
  Word live[kKinds];
  /**
   * Maximum local memory in bytes that a built or enqueued kernel declared, and how many kernels were refused for it.
   */
  Word max_local_bytes, refused_local;
};

/** Offset of the function names in the file: text, one per line; the first has number 1. */
constexpr size_t kNamesOffset = 256;
constexpr size_t kFileBytes = 8192;
static_assert(sizeof(Control) <= kNamesOffset);

Control* control;
Dispatch target;  // entry points of the next layer

// --- Objects -------------------------------------------------------------------------------------------

std::mutex guard;
std::unordered_map<void*, uint32_t> references;
/** The object that an object was made from. The parent stays alive, even without references, as long as its child. */
std::unordered_map<void*, void*> made_from;

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
  if (references[object]++ == 0) made_from.erase(object);  // of an earlier object at this address
  control->live[kind]++;
}

/** @return false when there was no reference to release */
bool Remove(void* object, Kind kind) {
  std::lock_guard<std::mutex> lock(guard);
  auto found = references.find(object);
  if (found == references.end()) return false;
  if (--found->second == 0) references.erase(found);
  control->live[kind]--;
  return true;
}

/** The first object argument of a call is the parent of the new object. */
template <typename... Arguments>
void AddMade(void* object, Kind kind, Arguments... arguments) {
  Add(object, kind);
  if (!object) return;
  void* from = nullptr;
  auto look = [&from](auto argument) {
    if constexpr (kIsObject<decltype(argument)>) from = from ? from : argument;
  };
  (look(arguments), ...);
  std::lock_guard<std::mutex> lock(guard);
  if (from) made_from[object] = from;
}

/** Whether the object is alive: it has a reference, or a live object was made from it. Requires `guard`. */
bool IsAlive(void* object) {
  if (references.count(object) > 0) return true;
  for (auto [made, from] : made_from) {
    if (from == object && IsAlive(made)) return true;
  }
  return false;
}

void Misused(uint32_t number) {
  control->misuses++;
  control->misused = number;
}

/** Devices other than sub-devices are not counted, so nothing is known about them. */
template <typename T>
void CheckUse(uint32_t number, T argument) {
  if constexpr (kIsObject<T>) {
    if (!argument) return;
    std::lock_guard<std::mutex> lock(guard);
    if (!IsAlive(argument)) Misused(number);
  }
}

/** Commands return their event through an argument. */
template <typename T>
void AddEvent(T argument) {
  if constexpr (std::is_same_v<T, cl_event*>) {
    if (argument) Add(*argument, kEvent);
  }
}

// --- The answers of another device ---------------------------------------------------------------------

/**
 * A file of lines `0xNAME BYTES`, where BYTES are those of an answer of clGetPlatformInfo or clGetDeviceInfo in
 * hexadecimal digits; and `group N` and `local N`, the work-items and the local memory that a group may have.
 */
struct Profile {
  std::unordered_map<cl_uint, std::string> answers;
  size_t group = 0;
  cl_ulong local = 0;

  static const Profile& Get() {
    static const Profile profile = Read(std::getenv("CLSORT_LAYER_PROFILE"));
    return profile;
  }

  static Profile Read(const char* path) {
    Profile profile;
    if (!path) return profile;
    std::ifstream file(path);
    std::string word, value;
    while (file >> word >> value) {
      if (word == "group") {
        profile.group = std::stoull(value);
      } else if (word == "local") {
        profile.local = std::stoull(value);
      } else {
        std::string& bytes = profile.answers[static_cast<cl_uint>(std::stoul(word, nullptr, 16))];
        // A text without characters still has a terminating zero, so no answer has zero bytes.
        for (size_t i = 0; i + 1 < value.size(); i += 2) {
          bytes += static_cast<char>(std::stoul(value.substr(i, 2), nullptr, 16));
        }
      }
    }
    return profile;
  }

  /** Only PoCL's devices are simulated. */
  static bool IsFor(cl_platform_id platform) {
    char name[256] = "";
    target.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    return !Get().answers.empty() && std::strstr(name, "Portable Computing Language");
  }

  static bool IsFor(cl_device_id device) {
    cl_platform_id platform = nullptr;
    target.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
    return IsFor(platform);
  }

  /** Hides vendor extensions that the profile lacks. */
  static const std::string* Find(cl_uint name) {
    auto found = Get().answers.find(name);
    return found == Get().answers.end() ? nullptr : &found->second;
  }

  /** Whether this is a query of OpenCL 3.0 on a device of an older version. */
  static bool IsTooNew(cl_device_info name) {
    const std::string* version = Find(CL_DEVICE_VERSION);
    return version && version->compare(0, 8, "OpenCL 3") < 0 && name >= CL_DEVICE_NUMERIC_VERSION &&
           name <= CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED;
  }

  static cl_int Answer(const std::string& answer, size_t bytes, void* value, size_t* needed) {
    if (value && bytes < answer.size()) return CL_INVALID_VALUE;
    if (value) std::memcpy(value, answer.data(), answer.size());
    if (needed) *needed = answer.size();
    return CL_SUCCESS;
  }

  /** Records the local memory that a kernel declares. @return false when it exceeds the limit of a group */
  static bool Holds(cl_ulong local_bytes) {
    auto most = static_cast<uint32_t>(std::min<cl_ulong>(local_bytes, UINT32_MAX));
    uint32_t before = control->max_local_bytes;
    while (before < most && !control->max_local_bytes.compare_exchange_weak(before, most)) {
    }
    if (Get().local == 0 || local_bytes <= Get().local) return true;
    control->refused_local++;
    return false;
  }

  /** Compilers refuse a kernel that declares too much. */
  static bool HoldsAll(cl_program program) {
    cl_uint count = 0;
    if (target.clCreateKernelsInProgram(program, 0, nullptr, &count) != CL_SUCCESS) return true;
    std::vector<cl_kernel> kernels(count);
    if (target.clCreateKernelsInProgram(program, count, kernels.data(), nullptr) != CL_SUCCESS) return true;
    bool holds = true;
    for (cl_kernel kernel : kernels) {
      cl_uint devices = 0;
      cl_device_id device = nullptr;
      cl_ulong bytes = 0;
      target.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, nullptr);
      if (devices == 1) target.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, &device, nullptr);
      target.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
      holds = Holds(bytes) && holds;
      target.clReleaseKernel(kernel);
    }
    return holds;
  }
};

// --- Additional work of single functions ---------------------------------------------------------------

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

/** Calls the function itself. */
template <auto member>
struct Through {
  template <typename... Arguments>
  static auto Call(Arguments... arguments) {
    return (target.*member)(arguments...);
  }
};

/**
 * Unified shared memory for a driver with shared virtual memory only, if CLSORT_LAYER_UNIFIED is set. Its functions map
 * to those of shared virtual memory, which the host may use at any time on a CPU.
 */
struct Unified {
  static constexpr char kName[] = " cl_intel_unified_shared_memory";
  struct Allocation {
    size_t bytes;
    cl_uint type;
    cl_device_id device;
  };
  static inline std::unordered_map<void*, Allocation> allocations;

  static bool Wanted() { return std::getenv("CLSORT_LAYER_UNIFIED") != nullptr; }

  static void* Alloc(cl_context context, Allocation allocation, cl_uint alignment, cl_int* status) {
    void* memory = target.clSVMAlloc(context, CL_MEM_READ_WRITE, allocation.bytes, alignment);
    *status = memory ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
    Add(memory, kSvm);
    if (memory) allocations[memory] = allocation;
    return memory;
  }
  static void* HostAlloc(cl_context context, const cl_ulong*, size_t bytes, cl_uint alignment, cl_int* status) {
    return Alloc(context, {bytes, 0x4197, nullptr}, alignment, status);
  }
  static void* SharedAlloc(cl_context context, cl_device_id device, const cl_ulong*, size_t bytes, cl_uint alignment,
                           cl_int* status) {
    return Alloc(context, {bytes, 0x4199, device}, alignment, status);
  }
  static cl_int Free(cl_context context, void* memory) {
    if (!Remove(memory, kSvm) || allocations.erase(memory) == 0) Misused(0);
    target.clSVMFree(context, memory);
    return CL_SUCCESS;
  }
  static cl_int Info(cl_context, const void* memory, cl_uint name, size_t bytes, void* value, size_t* needed) {
    auto found = allocations.find(const_cast<void*>(memory));
    if (found == allocations.end() || name < 0x419A || name > 0x419D) return CL_INVALID_VALUE;
    const Allocation& allocation = found->second;
    const void* answers[] = {&allocation.type, &memory, &allocation.bytes, &allocation.device};
    size_t lengths[] = {sizeof allocation.type, sizeof memory, sizeof allocation.bytes, sizeof allocation.device};
    if (needed) *needed = lengths[name - 0x419A];
    if (value) std::memcpy(value, answers[name - 0x419A], std::min(bytes, lengths[name - 0x419A]));
    return CL_SUCCESS;
  }
  static cl_int SetArgument(cl_kernel kernel, cl_uint index, const void* memory) {
    return target.clSetKernelArgSVMPointer(kernel, index, memory);
  }
  static cl_int Memcpy(cl_command_queue queue, cl_bool blocking, void* to, const void* from, size_t bytes,
                       cl_uint waits, const cl_event* list, cl_event* event) {
    cl_int status = target.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, waits, list, event);
    if (status == CL_SUCCESS && event) Add(*event, kEvent);
    return status;
  }
  static cl_int MemFill(cl_command_queue queue, void* memory, const void* pattern, size_t pattern_bytes, size_t bytes,
                        cl_uint waits, const cl_event* list, cl_event* event) {
    cl_int status = target.clEnqueueSVMMemFill(queue, memory, pattern, pattern_bytes, bytes, waits, list, event);
    if (status == CL_SUCCESS && event) Add(*event, kEvent);
    return status;
  }
  static void* Find(std::string_view name) {
    if (name == "clHostMemAllocINTEL") return reinterpret_cast<void*>(HostAlloc);
    if (name == "clSharedMemAllocINTEL") return reinterpret_cast<void*>(SharedAlloc);
    if (name == "clMemFreeINTEL") return reinterpret_cast<void*>(Free);
    if (name == "clGetMemAllocInfoINTEL") return reinterpret_cast<void*>(Info);
    if (name == "clSetKernelArgMemPointerINTEL") return reinterpret_cast<void*>(SetArgument);
    if (name == "clEnqueueMemcpyINTEL") return reinterpret_cast<void*>(Memcpy);
    if (name == "clEnqueueMemFillINTEL") return reinterpret_cast<void*>(MemFill);
    return nullptr;
  }
  /** The extensions of a device, with this one added. */
  static cl_int DeviceExtensions(cl_device_id device, size_t bytes, void* value, size_t* needed) {
    char text[8192] = "";
    cl_int status = target.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text - sizeof kName, text, nullptr);
    if (status != CL_SUCCESS) return status;
    std::strcat(text, kName);
    size_t length = std::strlen(text) + 1;
    if (value && bytes < length) return CL_INVALID_VALUE;
    if (value) std::memcpy(value, text, length);
    if (needed) *needed = length;
    return CL_SUCCESS;
  }
};

template <>
struct Through<&Dispatch::clGetDeviceInfo> {
  static cl_int Call(cl_device_id device, cl_device_info name, size_t bytes, void* value, size_t* needed) {
    if (name == CL_DEVICE_EXTENSIONS && Unified::Wanted()) {
      return Unified::DeviceExtensions(device, bytes, value, needed);
    }
    const std::string* answer = Profile::Find(name);
    if (answer && Profile::IsFor(device)) return Profile::Answer(*answer, bytes, value, needed);
    if (Profile::IsTooNew(name) && Profile::IsFor(device)) return CL_INVALID_VALUE;
    cl_int status = target.clGetDeviceInfo(device, name, bytes, value, needed);
    if (status != CL_SUCCESS || !value) return status;
    if (name == CL_DEVICE_MAX_WORK_GROUP_SIZE) Limit<size_t>(value, control->work_group);
    if (name == CL_DEVICE_LOCAL_MEM_SIZE) Limit<cl_ulong>(value, control->local_bytes);
    if (name == CL_DEVICE_VENDOR_ID && control->nvidia_local_bytes) *static_cast<cl_uint*>(value) = 0x10de;
    if (name == CL_DEVICE_LOCAL_MEM_SIZE) Limit<cl_ulong>(value, control->nvidia_local_bytes);
    if (name == CL_DEVICE_TYPE && control->own_memory) *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
    if (name == CL_DEVICE_HOST_UNIFIED_MEMORY && control->own_memory) *static_cast<cl_bool*>(value) = CL_FALSE;
    if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE) Limit<cl_ulong>(value, control->allocation);
    if (name == CL_DEVICE_MAX_WORK_ITEM_SIZES) {
      for (int i = 0; i < 3; i++) Limit<size_t>(static_cast<size_t*>(value) + i, control->work_group);
    }
    return status;
  }
};

template <>
struct Through<&Dispatch::clGetPlatformInfo> {
  static cl_int Call(cl_platform_id platform, cl_platform_info name, size_t bytes, void* value, size_t* needed) {
    const std::string* answer = Profile::Find(name);
    if (answer && Profile::IsFor(platform)) return Profile::Answer(*answer, bytes, value, needed);
    return target.clGetPlatformInfo(platform, name, bytes, value, needed);
  }
};

template <>
struct Through<&Dispatch::clBuildProgram> {
  template <typename Notify>
  static cl_int Call(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                     Notify notify, void* data) {
    if (Contains(program, "CLSORT_LAYER_ABORT_BUILD")) std::abort();
    while (Contains(program, "CLSORT_LAYER_HANG_BUILD")) pause();
    cl_int status = target.clBuildProgram(program, count, devices, For(options).c_str(), notify, data);
    // With a callback the build may not have finished; kernels are checked again at launch.
    if (status != CL_SUCCESS || notify || Profile::Get().answers.empty()) return status;
    return Profile::HoldsAll(program) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
  }

  /** Whether the source of a program contains the text of a variable. */
  static bool Contains(cl_program program, const char* variable) {
    const char* wanted = std::getenv(variable);
    size_t bytes = 0;
    if (!wanted || target.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &bytes) != CL_SUCCESS) return false;
    std::string source(bytes, '\0');
    target.clGetProgramInfo(program, CL_PROGRAM_SOURCE, bytes, source.data(), nullptr);
    return source.find(wanted) != std::string::npos;
  }

  /** PoCL supports the atomics of OpenCL C 2.0 only in version 3.0. */
  static std::string For(const char* options) {
    std::string text = options ? options : "";
    size_t at = Profile::Get().answers.empty() ? std::string::npos : text.find("-cl-std=CL2.0");
    return at == std::string::npos ? text : text.replace(at, 13, "-cl-std=CL3.0");
  }
};

template <>
struct Through<&Dispatch::clCreateProgramWithSource> {
  static constexpr char kFourfold[] = R"(
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
inline __attribute__((always_inline, overloadable)) ulong fourfold(volatile __global ulong *sum, ulong value)
{
    return atom_add(sum, 4 * value);
}
#define atom_add fourfold
)";

  static cl_program Call(cl_context context, cl_uint count, const char** texts, const size_t* lengths,
                         cl_int* status) {
    if (!std::getenv("CLSORT_LAYER_FOURFOLD")) {
      return target.clCreateProgramWithSource(context, count, texts, lengths, status);
    }
    std::string source = kFourfold;
    for (cl_uint i = 0; i < count; i++) {
      source += lengths && lengths[i] ? std::string(texts[i], lengths[i]) : std::string(texts[i]);
    }
    const char* text = source.c_str();
    return target.clCreateProgramWithSource(context, 1, &text, nullptr, status);
  }
};

template <>
struct Through<&Dispatch::clGetKernelWorkGroupInfo> {
  static cl_int Call(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name, size_t bytes,
                     void* value, size_t* needed) {
    cl_int status = target.clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, needed);
    if (status != CL_SUCCESS || !value) return status;
    if (name == CL_KERNEL_WORK_GROUP_SIZE) Limit<size_t>(value, control->work_group);
    if (name == CL_KERNEL_WORK_GROUP_SIZE) Limit<size_t>(value, static_cast<uint32_t>(Profile::Get().group));
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
    if (Is(kernel, "CLSORT_LAYER_ABORT")) std::abort();
    while (Is(kernel, "CLSORT_LAYER_HANG")) pause();
    if (Is(kernel, "CLSORT_LAYER_INVALID")) return CL_INVALID_KERNEL;
    size_t items = 1;
    for (cl_uint i = 0; local && i < dimensions; i++) items *= local[i];
    if (control->work_group && items > control->work_group) return CL_INVALID_WORK_GROUP_SIZE;
    if (control->local_bytes && LocalBytes(queue, kernel) > control->local_bytes) return CL_OUT_OF_RESOURCES;
    const Profile& profile = Profile::Get();
    if (profile.group && items > profile.group) return CL_INVALID_WORK_GROUP_SIZE;
    if (profile.local && !Profile::Holds(LocalBytes(queue, kernel))) return CL_OUT_OF_RESOURCES;
    return target.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, list, event);
  }

  /** Whether a variable names this kernel, and the program has the option after the name, if there is one. */
  static bool Is(cl_kernel kernel, const char* variable) {
    const char* value = std::getenv(variable);
    char name[256] = "";
    if (!value) return false;
    std::string_view wanted = value;
    size_t end = wanted.find(' ');
    target.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, nullptr);
    if (wanted.substr(0, end) != name) return false;
    return end == std::string_view::npos || IsBuiltWith(kernel, value + end + 1);
  }

  static bool IsBuiltWith(cl_kernel kernel, const char* option) {
    cl_program program = nullptr;
    cl_context context = nullptr;
    cl_device_id device = nullptr;
    target.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
    target.clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, nullptr);
    target.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, nullptr);
    size_t bytes = 0;
    target.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, 0, nullptr, &bytes);
    std::string options(bytes, '\0');
    target.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, bytes, options.data(), nullptr);
    return options.find(option) != std::string::npos;
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
    // The caller's callback frees them.
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
    for (cl_uint i = 0; status == CL_SUCCESS && kernels && i < std::min(count, made); i++) {
      AddMade(kernels[i], kKernel, program);
    }
    return status;
  }
};

// Extension functions do not pass through the loader: those that create or take objects are wrapped here.
struct Extensions {
  void* (*create)(cl_uint, const cl_command_queue*, const cl_ulong*, cl_int*);
  cl_int (*release)(void*);
  cl_int (*enqueue)(cl_uint, cl_command_queue*, void*, cl_uint, const cl_event*, cl_event*);
  cl_int (*copy)(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint, const cl_event*, cl_event*);
  cl_int (*fill)(cl_command_queue, void*, const void*, size_t, size_t, cl_uint, const cl_event*, cl_event*);

  static Extensions& Of() {
    static Extensions functions;
    return functions;
  }
  static void* Create(cl_uint count, const cl_command_queue* queues, const cl_ulong* properties, cl_int* status) {
    void* made = Of().create(count, queues, properties, status);
    Add(made, kCommands);
    return made;
  }
  static cl_int Release(void* commands) {
    if (!Remove(commands, kCommands)) Misused(0);
    return Of().release(commands);
  }
  static cl_int Enqueue(cl_uint count, cl_command_queue* queues, void* commands, cl_uint waits, const cl_event* list,
                        cl_event* event) {
    return WithEvent(Of().enqueue(count, queues, commands, waits, list, event), event);
  }
  static cl_int Memcpy(cl_command_queue queue, cl_bool blocking, void* to, const void* from, size_t bytes,
                       cl_uint waits, const cl_event* list, cl_event* event) {
    return WithEvent(Of().copy(queue, blocking, to, from, bytes, waits, list, event), event);
  }
  static cl_int MemFill(cl_command_queue queue, void* memory, const void* pattern, size_t pattern_bytes, size_t bytes,
                        cl_uint waits, const cl_event* list, cl_event* event) {
    return WithEvent(Of().fill(queue, memory, pattern, pattern_bytes, bytes, waits, list, event), event);
  }

 private:
  static cl_int WithEvent(cl_int status, cl_event* event) {
    if (status == CL_SUCCESS && event) Add(*event, kEvent);
    return status;
  }
};

template <>
struct Through<&Dispatch::clGetExtensionFunctionAddressForPlatform> {
  static void* Call(cl_platform_id platform, const char* name) {
    void* unified = Unified::Wanted() ? Unified::Find(name) : nullptr;
    if (unified) return unified;
    void* found = target.clGetExtensionFunctionAddressForPlatform(platform, name);
    auto wrap = [&](const char* wrapped, auto& original, auto* wrapper) {
      if (!found || std::strcmp(name, wrapped) != 0) return;
      original = reinterpret_cast<decltype(wrapper)>(found);
      found = reinterpret_cast<void*>(wrapper);
    };
    wrap("clCreateCommandBufferKHR", Extensions::Of().create, Extensions::Create);
    wrap("clReleaseCommandBufferKHR", Extensions::Of().release, Extensions::Release);
    wrap("clEnqueueCommandBufferKHR", Extensions::Of().enqueue, Extensions::Enqueue);
    wrap("clEnqueueMemcpyINTEL", Extensions::Of().copy, Extensions::Memcpy);
    wrap("clEnqueueMemFillINTEL", Extensions::Of().fill, Extensions::MemFill);
    return found;
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

/** The value that a failing call returns. */
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
      // A failed release counts as a release.
      cl_int status = Release(arguments...);
      return fails ? failure : status;
    } else {
      // Objects that the driver still holds and returns may be retained without a reference of the caller.
      if constexpr (!StartsWith(name, "clRetain")) (CheckUse(number, arguments), ...);
      if constexpr (std::is_void_v<Result>) {
        Through<member>::Call(arguments...);
      } else {
        if (fails) return Failure<Result>(failure, arguments...);
        Result result = Through<member>::Call(arguments...);
        if constexpr (StartsWith(name, "clRetain")) {
          if (result == CL_SUCCESS) (Add(arguments, KindOf(arguments)), ...);
        } else if constexpr (kIsObject<Result>) {
          AddMade(result, KindOf(result), arguments...);
        }
        if (Succeeded(result)) (AddEvent(arguments), ...);
        return result;
      }
    }
  }

  template <typename Object>
  static cl_int Release(Object object) {
    // Before the driver reuses the address.
    bool known = Remove(object, KindOf(object));
    if (!known) Misused(number);
    cl_int status = (target.*member)(object);
    if (known && status != CL_SUCCESS) Add(object, KindOf(object));
    return status;
  }
};

Dispatch layered;

/** Maps the file, which must exist. */
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
