#ifndef CLSORT_NATIVE_ARGUMENT_VALUE_H_
#define CLSORT_NATIVE_ARGUMENT_VALUE_H_

#include <string>
#include <vector>

#include "call.h"

namespace clsort {

/** A value for an argument of a kernel: read and checked, but not set yet. */
struct ArgumentValue {
  size_t index = 0;
  /** What it is, of which one of the following tells more. */
  Takes kind = Takes::kValue;
  std::shared_ptr<Object> object;
  /** Of shared virtual memory; null, where there is no object either, is a null pointer. */
  void* pointer = nullptr;
  std::vector<char> bytes;
  size_t local = 0;
};

/** Bytes of a scalar or vector type of OpenCL C; 0 for other types. */
size_t BytesOfType(const std::string& type);

/**
 * Reads a value for an argument.
 *
 * @param type as `setKernelArg` takes it; empty for what the kernel declares
 */
ArgumentValue ReadArgument(Call& call, Object& kernel, size_t index, const std::string& type,
                           v8::Local<v8::Value> value);
bool SetArgument(Call& call, Object& kernel, ArgumentValue value);

}  // namespace clsort

#endif
