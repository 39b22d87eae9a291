#pragma once

#include <string>

#include "loader.h"

namespace clsort {

/**
 * Returns why a program binary is truncated, according to the lengths in its format; empty if it is complete or its
 * format is unknown. Drivers trust these lengths and end the process if they are wrong.
 *
 * Contents are not checked: code that stores binaries must store a checksum with them.
 */
std::string ProblemOfBinary(const Platform& platform, const unsigned char* bytes, size_t length);

}  // namespace clsort
