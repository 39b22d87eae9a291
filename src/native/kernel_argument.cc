#include "kernel_argument.h"

#include <cstring>

#include "argument_value.h"
#include "bounds.h"
#include "call.h"
#include "extensions.h"
#include "launch_limits.h"

namespace clsort {

namespace {

const char* NameOf(Takes takes) {
  switch (takes) {
    case Takes::kLocal: return "a size of local memory";
    case Takes::kBuffer: return "a buffer";
    case Takes::kImage: return "an image";
    case Takes::kPipe: return "a pipe";
    case Takes::kSampler: return "a sampler";
    case Takes::kQueue: return "a queue of the device";
    default: return "a value";
  }
}

/** Returns the status that is thrown for anything else. */
cl_int StatusOf(Takes takes) {
  switch (takes) {
    case Takes::kBuffer:
    case Takes::kImage:
    case Takes::kPipe: return CL_INVALID_MEM_OBJECT;
    case Takes::kSampler: return CL_INVALID_SAMPLER;
    case Takes::kQueue: return CL_INVALID_DEVICE_QUEUE;
    default: return CL_INVALID_ARG_VALUE;
  }
}

/** Returns the memory object type of an image type such as "image2d_array_t"; 0 for other types. */
cl_mem_object_type ImageType(const std::string& type) {
  static const struct {
    const char* prefix;
    cl_mem_object_type type;
  } types[] = {
      {"image1d_array", CL_MEM_OBJECT_IMAGE1D_ARRAY},
      {"image1d_buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER},
      {"image1d", CL_MEM_OBJECT_IMAGE1D},
      {"image2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY},
      {"image2d", CL_MEM_OBJECT_IMAGE2D},
      {"image3d", CL_MEM_OBJECT_IMAGE3D},
  };
  for (const auto& candidate : types) {
    if (type.compare(0, std::strlen(candidate.prefix), candidate.prefix) == 0) return candidate.type;
  }
  return 0;
}

cl_int AskType(cl_kernel kernel, cl_uint index, std::string* type) {
  size_t bytes = 0;
  cl_int status = api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, 0, nullptr, &bytes);
  if (status != CL_SUCCESS) return status;
  std::string text(bytes + 1, '\0');
  status = api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, bytes, text.data(), nullptr);
  *type = text.c_str();
  return status;
}

/** Fills in the driver's argument info. @return false if the driver has none */
bool Ask(cl_kernel kernel, cl_uint index, KernelArgument* argument) {
  cl_kernel_arg_address_qualifier address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  cl_kernel_arg_type_qualifier qualifiers = 0;
  auto ask = [&](cl_kernel_arg_info name, auto* value) {
    return api.clGetKernelArgInfo(kernel, index, name, sizeof *value, value, nullptr) == CL_SUCCESS;
  };
  if (!ask(CL_KERNEL_ARG_ADDRESS_QUALIFIER, &address) || !ask(CL_KERNEL_ARG_ACCESS_QUALIFIER, &argument->access) ||
      AskType(kernel, index, &argument->type) != CL_SUCCESS) {
    return false;
  }
  ask(CL_KERNEL_ARG_TYPE_QUALIFIER, &qualifiers);
  const std::string& type = argument->type;
  if (address == CL_KERNEL_ARG_ADDRESS_LOCAL) {
    argument->takes = Takes::kLocal;
  } else if (qualifiers & CL_KERNEL_ARG_TYPE_PIPE || type.compare(0, 5, "pipe ") == 0) {
    argument->takes = Takes::kPipe;
  } else if (argument->access != CL_KERNEL_ARG_ACCESS_NONE) {  // independent of the type name, which may be a typedef
    argument->takes = Takes::kImage;
  } else if (address != CL_KERNEL_ARG_ADDRESS_PRIVATE || (!type.empty() && type.back() == '*')) {
    argument->takes = Takes::kBuffer;
  } else if (type == "sampler_t") {
    argument->takes = Takes::kSampler;
  } else if (type == "queue_t") {
    argument->takes = Takes::kQueue;
  } else if (!type.empty()) {
    argument->bytes = BytesOfType(type);
    argument->takes = argument->bytes ? Takes::kValue : Takes::kNamed;
  }
  return true;
}

/** Tests which arguments an unused kernel accepts. Only a missing value and a null value are safe to try. */
Takes Probe(cl_kernel scratch, cl_uint index) {
  const void* null = nullptr;
  switch (api.clSetKernelArg(scratch, index, sizeof null, &null)) {
    case CL_SUCCESS:
      return api.clSetKernelArg(scratch, index, sizeof null, nullptr) == CL_SUCCESS ? Takes::kBuffer : Takes::kGuessed;
    case CL_INVALID_ARG_SIZE: return Takes::kValue;
    case CL_INVALID_MEM_OBJECT: return Takes::kImage;
    case CL_INVALID_SAMPLER: return Takes::kSampler;
    case CL_INVALID_DEVICE_QUEUE: return Takes::kQueue;
    default:
      return api.clSetKernelArg(scratch, index, sizeof null, nullptr) == CL_SUCCESS ? Takes::kLocal : Takes::kGuessed;
  }
}

/** Creates another kernel of the same function for tests. */
cl_kernel MakeScratch(Call& call, cl_kernel kernel) {
  cl_program program = nullptr;
  size_t bytes = 0;
  if (!call.Check(api.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr)) ||
      !call.Check(api.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &bytes))) {
    return nullptr;
  }
  std::string name(bytes + 1, '\0');
  if (!call.Check(api.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, bytes, name.data(), nullptr))) return nullptr;
  cl_int status = CL_SUCCESS;
  cl_kernel scratch = api.clCreateKernel(program, name.c_str(), &status);
  return call.Check(status) ? scratch : nullptr;
}

/** Queries the arguments of a kernel; returns none after a failure. */
std::vector<KernelArgument> Describe(Call& call, const Object& kernel) {
  auto raw = kernel.As<cl_kernel>();
  cl_uint count = 0;
  if (!call.Check(api.clGetKernelInfo(raw, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr))) return {};
  std::vector<KernelArgument> arguments(count);
  bool known = kernel.platform->version >= api.clGetKernelArgInfo.since && api.clGetKernelArgInfo.pointer;
  for (cl_uint i = 0; known && i < count; i++) known = Ask(raw, i, &arguments[i]);
  if (known || count == 0) return arguments;
  arguments = std::vector<KernelArgument>(count);
  cl_kernel scratch = MakeScratch(call, raw);
  if (!scratch) return {};
  for (cl_uint i = 0; i < count; i++) arguments[i].takes = Probe(scratch, i);
  api.clReleaseKernel(scratch);
  return arguments;
}

bool Set(Call& call, Object& kernel, size_t index, size_t bytes, const void* value) {
  return call.ok() && call.Check(api.clSetKernelArg(kernel.As<cl_kernel>(), static_cast<cl_uint>(index), bytes, value));
}

/** Records the new value of an argument. */
bool RecordArgument(Object& kernel, size_t index, std::shared_ptr<Object> object, void* svm) {
  KernelArgument& argument = kernel.arguments[index];
  argument.object = std::move(object);
  argument.svm = svm;
  argument.set = true;
  return true;
}

}  // namespace

std::vector<KernelArgument>& ArgumentsOf(Call& call, Object& kernel) {
  if (kernel.arguments.empty() && call.ok()) kernel.arguments = Describe(call, kernel);
  return kernel.arguments;
}

KernelArgument* ArgumentOf(Call& call, Object& kernel, size_t index) {
  auto& arguments = ArgumentsOf(call, kernel);
  if (call.ok() && index < arguments.size()) return &arguments[index];
  call.Fail(CL_INVALID_ARG_INDEX, "the kernel has only " + std::to_string(arguments.size()) + " arguments");
  return nullptr;
}

std::string NameArgument(const KernelArgument& argument, size_t index) {
  std::string name = "kernel argument " + std::to_string(index + 1);
  return argument.type.empty() ? name : name + " (" + argument.type + ")";
}

bool CheckOffer(Call& call, const KernelArgument& argument, size_t index, Takes offered) {
  Takes takes = argument.takes;
  bool fits = offered == takes;
  // A type named by the program may be a sampler; a guessed argument may also be an image or a pipe.
  if (takes == Takes::kNamed || takes == Takes::kGuessed) {
    fits = offered == Takes::kValue || offered == Takes::kSampler || offered == Takes::kQueue;
    if (takes == Takes::kGuessed) fits = fits || offered == Takes::kImage || offered == Takes::kPipe;
  }
  return fits ? call.ok()
              : call.Fail(StatusOf(takes), NameArgument(argument, index) + ": expected " + NameOf(takes) + " but got " +
                                               NameOf(offered));
}

bool CheckBytes(Call& call, const KernelArgument& argument, size_t index, size_t bytes) {
  if (!CheckOffer(call, argument, index, Takes::kValue)) return false;
  // NVIDIA's driver and others treat null as local memory; by-value arguments are never empty.
  if (bytes == 0) return call.Fail(CL_INVALID_ARG_SIZE, "expected at least one byte but got none");
  if (argument.bytes && bytes != argument.bytes) {
    return call.Fail(CL_INVALID_ARG_SIZE, NameArgument(argument, index) + ": expected " +
                                              std::to_string(argument.bytes) + " bytes but got " +
                                              std::to_string(bytes));
  }
  return true;
}

bool CheckMemory(Call& call, const KernelArgument& argument, size_t index, Object& memory) {
  const Extent* extent = ExtentOf(call, memory);
  if (!extent) return false;
  bool buffer = extent->type == CL_MEM_OBJECT_BUFFER, pipe = extent->type == CL_MEM_OBJECT_PIPE;
  if (!CheckOffer(call, argument, index, buffer ? Takes::kBuffer : pipe ? Takes::kPipe : Takes::kImage)) return false;
  if (buffer || pipe) return true;
  cl_mem_object_type type = ImageType(argument.type);
  if (type && type != extent->type) {
    return call.Fail(CL_INVALID_MEM_OBJECT, NameArgument(argument, index) + ": expected an image of another type");
  }
  bool reads = argument.access == CL_KERNEL_ARG_ACCESS_READ_ONLY || argument.access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  bool writes =
      argument.access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY || argument.access == CL_KERNEL_ARG_ACCESS_READ_WRITE;
  if ((reads && extent->flags & CL_MEM_WRITE_ONLY) || (writes && extent->flags & CL_MEM_READ_ONLY)) {
    return call.Fail(CL_INVALID_ARG_VALUE, NameArgument(argument, index) + ": expected an image that the kernel may " +
                                               (writes ? "write" : "read"));
  }
  return true;
}

bool SetObject(Call& call, Object& kernel, size_t index, std::shared_ptr<Object> object) {
  return Set(call, kernel, index, sizeof object->raw, &object->raw) &&
         RecordArgument(kernel, index, std::move(object), nullptr);
}

bool SetBytes(Call& call, Object& kernel, size_t index, size_t bytes, const void* data) {
  return Set(call, kernel, index, bytes, data) && RecordArgument(kernel, index, nullptr, nullptr);
}

bool SetLocal(Call& call, Object& kernel, size_t index, size_t bytes) {
  return SetLocalArgument(call, kernel, static_cast<cl_uint>(index), bytes) &&
         RecordArgument(kernel, index, nullptr, nullptr);
}

bool SetPointer(Call& call, Object& kernel, size_t index, void* pointer) {
  if (!pointer) return SetBytes(call, kernel, index, sizeof pointer, &pointer);
  const SvmMemory* memory = call.environment().svm().Find(pointer);
  auto set = api.clSetKernelArgSVMPointer.pointer;
  if (memory && memory->Unified()) {
    set = ExtensionsOf(*kernel.platform).clSetKernelArgMemPointerINTEL;
    if (!set) return call.Fail(kUnsupported, "the driver of the kernel does not support unified shared memory");
  } else if (!call.Supported(api.clSetKernelArgSVMPointer, kernel.platform)) {
    return false;
  }
  return call.Check(set(kernel.As<cl_kernel>(), static_cast<cl_uint>(index), pointer)) &&
         RecordArgument(kernel, index, nullptr, pointer);
}

bool CheckArguments(Call& call, const Object& kernel) {
  for (size_t i = 0; i < kernel.arguments.size(); i++) {
    const KernelArgument& argument = kernel.arguments[i];
    if ((argument.object && (!argument.object->raw || argument.object->HostDetached())) ||
        (argument.svm && !call.environment().svm().Contains(argument.svm))) {
      return call.Fail(CL_INVALID_KERNEL_ARGS, NameArgument(argument, i) + " was released");
    }
  }
  for (void* pointer : kernel.indirect_svm) {
    if (!call.environment().svm().Contains(pointer)) {
      return call.Fail(CL_INVALID_KERNEL_ARGS, "memory of KERNEL_EXEC_INFO_SVM_PTRS was freed: set the pointers again");
    }
  }
  return true;
}

}  // namespace clsort
