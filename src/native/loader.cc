#include "loader.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace clsort {

Loader api;

/** Never destroyed: threads may still be in a driver when the process ends. */
std::mutex& first_use = *new std::mutex;
std::mutex& mapping_mutex = *new std::mutex;

namespace {

std::mutex guard;

#ifdef _WIN32
const char* const kNames[] = {"OpenCL.dll"};

void* Open(const char* name, std::string* problem) {
  HMODULE module = LoadLibraryA(name);
  if (!module) *problem = "error " + std::to_string(GetLastError());
  return module;
}
void* Find(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
std::string PathOf(void* library, void*, const char* name) {
  char path[MAX_PATH];
  DWORD length = GetModuleFileNameA(static_cast<HMODULE>(library), path, MAX_PATH);
  return length ? std::string(path, length) : name;
}
#else
#ifdef __APPLE__
const char* const kNames[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL", "libOpenCL.dylib"};
#else
const char* const kNames[] = {"libOpenCL.so.1", "libOpenCL.so"};
#endif

void* Open(const char* name, std::string* problem) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    *problem = reason ? reason : "unknown reason";
  }
  return library;
}
void* Find(void* library, const char* name) { return dlsym(library, name); }
std::string PathOf(void*, void* symbol, const char* name) {
  Dl_info found;
  return symbol && dladdr(symbol, &found) && found.dli_fname ? found.dli_fname : name;
}
#endif

/** Converts "OpenCL 1.2 vendor text" to 120. */
unsigned ParseVersion(const char* text) {
  unsigned major = 1, minor = 0;
  if (std::sscanf(text, "OpenCL %u.%u", &major, &minor) != 2) return 100;
  return major * 100 + minor * 10;
}

cl_int AskText(cl_platform_id id, cl_platform_info name, std::string* text) {
  size_t bytes = 0;
  cl_int status = api.clGetPlatformInfo(id, name, 0, nullptr, &bytes);
  if (status != CL_SUCCESS) return status;
  text->resize(bytes);
  return api.clGetPlatformInfo(id, name, bytes, text->data(), nullptr);
}

/**
 * Returns the dispatch table that the objects of a driver begin with, as in cl_khr_icd. Drivers lack functions of their
 * own version (rusticl: clCreateSubDevices), and the loader would call the null pointer.
 */
const char* DispatchOf(cl_platform_id id, const std::string& extensions) {
#ifdef __APPLE__
  return nullptr;  // the framework is not an ICD loader
#else
  if (extensions.find("cl_khr_icd") == std::string::npos) return nullptr;
  const auto* table = *reinterpret_cast<const cl_icd_dispatch* const*>(id);
  // cl_khr_icd2 stores a tag instead of the first function, and its functions elsewhere.
  auto first = reinterpret_cast<uintptr_t>(table->clGetPlatformIDs);
  return static_cast<uint32_t>(first) == 0x434c3331 ? nullptr : reinterpret_cast<const char*>(table);
#endif
}

/**
 * Dispatch tables of the drivers that return early and that mix up mappings; objects begin with a pointer to their
 * table.
 */
std::atomic<const char*> early_dispatch{nullptr}, mixing_dispatch{nullptr};

bool IsOf(const std::atomic<const char*>& dispatch, cl_command_queue queue) {
  const char* table = dispatch.load(std::memory_order_relaxed);
  return table && queue && *reinterpret_cast<const char* const*>(queue) == table;
}

}  // namespace

bool ReturnsEarly(cl_command_queue queue) { return IsOf(early_dispatch, queue); }

bool MixesMappings(cl_command_queue queue) { return IsOf(mixing_dispatch, queue); }

cl_int AskState(cl_event event, cl_int* state) {
  return api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *state, state, nullptr);
}

bool Ended(cl_event event) {
  cl_int state = CL_QUEUED;
  AskState(event, &state);
  return state <= CL_COMPLETE;
}

cl_int BlockUntilEnded(cl_event event) {
  cl_int state = CL_QUEUED;
  cl_int status = AskState(event, &state);
  return status == CL_SUCCESS && state > CL_COMPLETE ? api.clWaitForEvents(1, &event) : CL_SUCCESS;
}

void ReleaseEvent(cl_event event) { api.clReleaseEvent(event); }

bool DriverHas(const Platform& platform, size_t slot) {
  if (!platform.dispatch) return true;
  void* pointer;
  std::memcpy(&pointer, platform.dispatch + slot, sizeof pointer);
  return pointer != nullptr;
}

const Loader& OpenLoader() {
  std::lock_guard<std::mutex> lock(guard);
  if (api.loaded) return api;
  std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  // For systems with the loader in an unusual place, and for tests.
  if (const char* chosen = std::getenv("CLSORT_OPENCL_LIBRARY")) names = {chosen};
  api.problem.clear();
  for (const std::string& name : names) {
    std::string problem;
    void* library = Open(name.c_str(), &problem);
    if (!library) {
      api.problem += (api.problem.empty() ? "" : "; ") + problem;
      continue;
    }
#define CLSORT_FIND(function, since) \
  api.function.pointer = reinterpret_cast<decltype(&::function)>(Find(library, #function));
    CLSORT_FUNCTIONS(CLSORT_FIND)
#undef CLSORT_FIND
    if (!api.clGetPlatformIDs.pointer) {
      api.problem = name + " is not an OpenCL library: it has no clGetPlatformIDs";
      continue;
    }
    api.path = PathOf(library, reinterpret_cast<void*>(api.clGetPlatformIDs.pointer), name.c_str());
    api.loaded = true;
    break;
  }
  return api;
}

Platform* PlatformOf(cl_platform_id id) {
  static std::map<cl_platform_id, Platform> known;
  std::lock_guard<std::mutex> lock(guard);
  Platform& platform = known[id];
  if (platform.status == CL_SUCCESS) return &platform;
  platform.id = id;
  std::string name, version, extensions;
  platform.status = AskText(id, CL_PLATFORM_VERSION, &version);
  if (platform.status == CL_SUCCESS) platform.status = AskText(id, CL_PLATFORM_EXTENSIONS, &extensions);
  if (platform.status != CL_SUCCESS) return &platform;
  AskText(id, CL_PLATFORM_NAME, &name);
  if (name.find("rusticl") == 0) {
    platform.finishes_early = platform.cuts_at_quotes = platform.drops_written_images = true;
  }
  bool is_pocl = version.find("PoCL") != std::string::npos;
  platform.migrates_by_hidden_command = platform.keeps_bare_waiters = platform.records_no_samplers = is_pocl;
  platform.mixes_mappings = platform.builds_binaries = is_pocl;
  platform.records_no_null = version.find("PoCL 3.") != std::string::npos;
  platform.version = ParseVersion(version.c_str());
  platform.dispatch = DispatchOf(id, extensions);
  if (platform.finishes_early && platform.dispatch) early_dispatch = platform.dispatch;
  if (platform.mixes_mappings && platform.dispatch) mixing_dispatch = platform.dispatch;
  return &platform;
}

void PinAddon() {
#ifdef _WIN32
  HMODULE self;
  GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                     reinterpret_cast<LPCSTR>(&PinAddon), &self);
#else
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&PinAddon), &self) && self.dli_fname) {
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NODELETE);
  }
#endif
}

}  // namespace clsort
