#pragma once

#include <array>

#include "call.h"

namespace clsort {

/**
 * Reads a fill colour: 16 bytes of memory (four floats, ints or unsigned ints), or an array of four numbers, which are
 * converted to the type of the image's format.
 */
std::array<char, 16> ReadFillColor(Call& call, int i, const std::shared_ptr<Object>& image);

}  // namespace clsort
