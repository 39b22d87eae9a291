#pragma once

#include <string>
#include <vector>

#include "call.h"

namespace clsort {

/** Value of a kernel argument that is read and checked, but not set yet. */
struct ArgumentValue {
  size_t index = 0;
  /** Kind of the value, which determines the member in use. */
  Takes kind = Takes::kValue;
  std::shared_ptr<Object> object;
  /** Shared virtual memory; without an object, null is a null pointer. */
  void* pointer = nullptr;
  std::vector<char> bytes;
  size_t local = 0;
};

/** Returns the bytes of a scalar or vector type of OpenCL C; 0 for other types. */
size_t BytesOfType(const std::string& type);

/**
 * Reads a value for a kernel argument.
 *
 * @param type type as for `setKernelArg`; empty for the declared type
 */
ArgumentValue ReadArgument(Call& call, Object& kernel, size_t index, const std::string& type,
                           v8::Local<v8::Value> value);
bool SetArgument(Call& call, Object& kernel, ArgumentValue value);

}  // namespace clsort
