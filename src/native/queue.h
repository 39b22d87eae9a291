#pragma once

#include "object.h"

namespace clsort {

/**
 * Returns the event of a marker after all commands of a queue; none if the driver refuses, for example after a failed
 * command.
 */
Retained MakeMarker(const Object& queue);

}  // namespace clsort
