#ifndef CLSORT_NATIVE_LOADER_H_
#define CLSORT_NATIVE_LOADER_H_

#include <cstddef>
#include <string>

#include "functions.h"
#include "opencl.h"

namespace clsort {

/** An OpenCL function as found in the loader, or nullptr; `since` is 110 for OpenCL 1.1 and so on. */
template <typename Pointer>
struct Function {
  const char* name;
  unsigned since;
  /** Where a driver's dispatch table has the function. */
  size_t slot;
  Pointer pointer;

  template <typename... Arguments>
  auto operator()(Arguments... arguments) const {
    return pointer(arguments...);
  }
};

/** The functions of the OpenCL loader (libOpenCL), opened at run time. */
struct Loader {
#define CLSORT_MEMBER(name, since) Function<decltype(&::name)> name{#name, since, offsetof(cl_icd_dispatch, name), nullptr};
  CLSORT_FUNCTIONS(CLSORT_MEMBER)
#undef CLSORT_MEMBER

  std::string path;
  std::string problem;
  bool loaded = false;
};

/** The process's loader. Where opening it failed before, this tries again. */
const Loader& OpenLoader();

/** The process's loader, which some earlier call has opened: whoever has a handle may call this. */
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
};

/** Facts of a platform; the pointer stays valid for the life of the process. Asks again after a failure. */
Platform* PlatformOf(cl_platform_id id);

/** Whether the driver itself has the function of this slot. */
bool DriverHas(const Platform& platform, size_t slot);

/** Keeps this addon's code mapped for good: drivers call back on their threads at any time. */
void PinAddon();

}  // namespace clsort

#endif
