#ifndef CLSORT_NATIVE_PATTERN_H_
#define CLSORT_NATIVE_PATTERN_H_

#include "call.h"

namespace clsort {

/** What a buffer is filled with: an integer is 4 bytes, a fraction 8, memory what it is. */
std::vector<char> ReadPattern(Call& call, int i);
/** Throws unless a pattern has a size that OpenCL has for it, and offset and size are multiples of it. */
bool CheckPattern(Call& call, size_t bytes, size_t offset, size_t size);

}  // namespace clsort

#endif
