#pragma once

#include <memory>
#include <string>
#include <vector>

#include "opencl.h"

namespace clsort {

class Call;
class Object;

/** Kind of a kernel argument or of a value for it. */
enum class Takes : uint8_t {
  kValue,    // bytes
  kNamed,    // bytes of a type named by the program: a struct or any typedef
  kGuessed,  // 8 bytes that are not a pointer, without further info: a value, image or sampler
  kLocal,    // size of local memory
  kBuffer,   // pointer: a buffer or shared virtual memory
  kImage,
  kPipe,
  kSampler,
  kQueue,
};

/** Known properties of a kernel argument and its current value. */
struct KernelArgument {
  /** Current object: checked before each launch and kept alive when its handle is collected. */
  std::shared_ptr<Object> object;
  /** Current shared virtual memory. */
  void* svm = nullptr;
  /** Whether the argument was set. */
  bool set = false;
  Takes takes = Takes::kGuessed;
  /** Bytes of a value; 0 if only the driver knows them. */
  size_t bytes = 0;
  /** CL_KERNEL_ARG_ACCESS_… of an image. */
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  /** Type name; empty if the driver has no argument info. */
  std::string type;
};

/**
 * Returns the arguments of a kernel. The driver is queried once per kernel: for its argument info or, without it (as
 * for programs from binaries), for the values that it accepts.
 */
std::vector<KernelArgument>& ArgumentsOf(Call& call, Object& kernel);
/** Returns one argument; throws and returns null if the index is out of range. */
KernelArgument* ArgumentOf(Call& call, Object& kernel, size_t index);

/** Returns "kernel argument 1 (uint)", counted from 1. */
std::string NameArgument(const KernelArgument& argument, size_t index);

// Throw unless the argument accepts the value.
bool CheckOffer(Call& call, const KernelArgument& argument, size_t index, Takes offered);
bool CheckBytes(Call& call, const KernelArgument& argument, size_t index, size_t bytes);
bool CheckMemory(Call& call, const KernelArgument& argument, size_t index, Object& memory);

// Set a value that one of the above has checked.
bool SetObject(Call& call, Object& kernel, size_t index, std::shared_ptr<Object> object);
bool SetBytes(Call& call, Object& kernel, size_t index, size_t bytes, const void* data);
/** @param bytes more than 0 */
bool SetLocal(Call& call, Object& kernel, size_t index, size_t bytes);
/** @param pointer shared virtual memory; unified shared memory, for which the extension has its own call; or null */
bool SetPointer(Call& call, Object& kernel, size_t index, void* pointer);

/** Throws if an argument was released after it was set, which the driver would not notice. */
bool CheckArguments(Call& call, const Object& kernel);

}  // namespace clsort
