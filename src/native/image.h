#ifndef CLSORT_NATIVE_IMAGE_H_
#define CLSORT_NATIVE_IMAGE_H_

#include <array>

#include "call.h"

namespace clsort {

/**
 * A fill colour: 16 bytes of memory (four floats, ints or unsigned ints), or an array of four numbers,
 * which are converted to what the image's format wants.
 */
std::array<char, 16> ReadFillColor(Call& call, int i, const std::shared_ptr<Object>& image);

}  // namespace clsort

#endif
