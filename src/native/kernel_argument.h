#ifndef CLSORT_NATIVE_KERNEL_ARGUMENT_H_
#define CLSORT_NATIVE_KERNEL_ARGUMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "opencl.h"

namespace clsort {

class Call;
class Object;

/** What an argument of a kernel takes, or what is offered to it. */
enum class Takes : uint8_t {
  kValue,    // bytes
  kNamed,    // bytes of a type that the program has named: a struct, or a typedef of whatever
  kGuessed,  // 8 bytes and no pointer, says a driver that tells no more: a value, an image or a sampler
  kLocal,    // a size of local memory
  kBuffer,   // a pointer: a buffer or shared virtual memory
  kImage,
  kPipe,
  kSampler,
  kQueue,
};

/** What is known of an argument of a kernel, and what it was last set to. */
struct KernelArgument {
  /** The object last set: checked before each launch, kept alive when its handle is collected. */
  std::shared_ptr<Object> object;
  /** Shared virtual memory last set. */
  void* svm = nullptr;
  /** Whether it was set at all. */
  bool set = false;
  Takes takes = Takes::kGuessed;
  /** Of a value; 0 where only the driver knows. */
  size_t bytes = 0;
  /** CL_KERNEL_ARG_ACCESS_… of an image. */
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  /** Type name; empty where the driver has no argument info. */
  std::string type;
};

/**
 * The arguments of a kernel. The driver is asked once for each kernel: for its argument info, and where it has none,
 * as for programs made from binaries, for what it accepts.
 */
std::vector<KernelArgument>& ArgumentsOf(Call& call, Object& kernel);
/** One of them; null, which throws, where there are fewer. */
KernelArgument* ArgumentOf(Call& call, Object& kernel, size_t index);

/** "kernel argument 1 (uint)", counted from 1. */
std::string NameArgument(const KernelArgument& argument, size_t index);

// Throw unless the argument takes the like.
bool CheckOffer(Call& call, const KernelArgument& argument, size_t index, Takes offered);
bool CheckBytes(Call& call, const KernelArgument& argument, size_t index, size_t bytes);
bool CheckMemory(Call& call, const KernelArgument& argument, size_t index, Object& memory);

// Set what one of the above has checked.
bool SetObject(Call& call, Object& kernel, size_t index, std::shared_ptr<Object> object);
bool SetBytes(Call& call, Object& kernel, size_t index, size_t bytes, const void* data);
/** @param bytes more than 0 */
bool SetLocal(Call& call, Object& kernel, size_t index, size_t bytes);
/** @param pointer of shared virtual memory, or of unified shared memory, whose extension has a call of its own; or null */
bool SetPointer(Call& call, Object& kernel, size_t index, void* pointer);

/** Throws when an argument of a kernel was released since it was set: the driver would not notice. */
bool CheckArguments(Call& call, const Object& kernel);

}  // namespace clsort

#endif
