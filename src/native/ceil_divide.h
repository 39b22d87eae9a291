#pragma once

#include <cstddef>

namespace clsort {

/** Returns the number of pieces of size `each` that cover `all`; the last one may be smaller. */
constexpr size_t CeilDivide(size_t all, size_t each) { return (all + each - 1) / each; }

}  // namespace clsort
