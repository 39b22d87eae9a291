#ifndef CLSORT_NATIVE_PROGRAM_BINARY_H_
#define CLSORT_NATIVE_PROGRAM_BINARY_H_

#include <string>

#include "loader.h"

namespace clsort {

/**
 * Why a program's binary is not whole, by the lengths that its format keeps; empty where nothing is wrong, or
 * the format is not known here. Drivers believe these lengths, and end the process where they are wrong.
 *
 * Contents are not checked: code that keeps binaries keeps a checksum with them.
 */
std::string ProblemOfBinary(const Platform& platform, const unsigned char* bytes, size_t length);

}  // namespace clsort

#endif
