#include "pattern.h"

#include <cstring>

namespace clsort {

std::vector<char> ReadPattern(Call& call, int i) {
  std::vector<char> pattern;
  if (!call.ok()) return pattern;
  auto store = [&pattern](auto value) {
    pattern.resize(sizeof value);
    std::memcpy(pattern.data(), &value, sizeof value);
  };
  if (call[i]->IsNumber()) {
    double number = call[i].As<v8::Number>()->Value();
    if (call[i]->IsInt32()) {
      store(static_cast<cl_int>(number));
    } else if (call[i]->IsUint32()) {
      store(static_cast<cl_uint>(number));
    } else {
      store(number);
    }
  } else {
    HostMemory memory = call.Memory(i, 1);
    if (call.ok()) {
      const char* bytes = static_cast<const char*>(memory.data);
      pattern.assign(bytes, bytes + memory.bytes);
    }
  }
  return pattern;
}

bool CheckPattern(Call& call, size_t bytes, size_t offset, size_t size) {
  if (bytes == 0 || bytes > 128 || (bytes & (bytes - 1)) != 0) {
    return call.Fail(CL_INVALID_VALUE,
                     "expected a pattern of 1, 2, 4, 8, 16, 32, 64 or 128 bytes but got " + std::to_string(bytes));
  }
  return (offset % bytes == 0 && size % bytes == 0) ||
         call.Fail(CL_INVALID_VALUE,
                   "expected multiples of the pattern's " + std::to_string(bytes) + " bytes for offset and size");
}

}  // namespace clsort
