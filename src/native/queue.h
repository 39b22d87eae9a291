#ifndef CLSORT_NATIVE_QUEUE_H_
#define CLSORT_NATIVE_QUEUE_H_

#include "object.h"

namespace clsort {

/**
 * The event of a marker behind everything in a queue; none where the driver refuses, as it may when a command
 * failed.
 */
Retained MakeMarker(const Object& queue);

}  // namespace clsort

#endif
