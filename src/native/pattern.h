#pragma once

#include "call.h"

namespace clsort {

/** Reads a fill pattern: an integer is 4 bytes, any other number 8; memory is used as it is. */
std::vector<char> ReadPattern(Call& call, int i);
/** Throws unless OpenCL allows the size of the pattern, and offset and size are multiples of it. */
bool CheckPattern(Call& call, size_t bytes, size_t offset, size_t size);

}  // namespace clsort
