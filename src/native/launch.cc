#include "launch.h"

#include "bounds.h"

namespace clsort {

HeldObjects HoldWrittenImages(Call& call, const Object& kernel) {
  if (!kernel.platform->drops_written_images) return nullptr;
  HeldObjects held;
  for (const KernelArgument& argument : kernel.arguments) {
    // If the driver does not report the access of an image, it may be written.
    if (!argument.object || argument.access == CL_KERNEL_ARG_ACCESS_READ_ONLY) continue;
    if (argument.object->kind != Kind::kMemObject) continue;
    const Extent* extent = ExtentOf(call, *argument.object);
    if (!extent) return nullptr;
    if (extent->type == CL_MEM_OBJECT_BUFFER || extent->type == CL_MEM_OBJECT_PIPE) continue;
    if (!held) held = std::make_shared<std::vector<Retained>>();
    held->push_back(call.Hold(*argument.object));
  }
  return held;
}

void HoldUntilEnded(Call& call, HeldObjects objects, cl_event* event, bool wanted) {
  InFlight& in_flight = call.environment().in_flight();
  in_flight.SweepIfMany();
  if (!wanted) {
    in_flight.Keep(std::move(objects), std::exchange(*event, nullptr));
  } else if (api.clRetainEvent(*event) == CL_SUCCESS) {
    in_flight.Keep(std::move(objects), *event);
  } else {
    BlockUntilEnded(*event);
  }
}

}  // namespace clsort
