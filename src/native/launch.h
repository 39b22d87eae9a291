#ifndef CLSORT_NATIVE_LAUNCH_H_
#define CLSORT_NATIVE_LAUNCH_H_

#include "call.h"

namespace clsort {

/** Objects that are held until a launch has run. */
using HeldObjects = std::shared_ptr<std::vector<Retained>>;

/** The images that a launch of a kernel may write, where its driver does not hold them itself; null for none. */
HeldObjects HoldWrittenImages(Call& call, const Object& kernel);
/** Holds them until the command of `event` has ended; takes the event over where the program does not want it. */
void HoldUntilEnded(Call& call, HeldObjects objects, cl_event* event, bool wanted);

/**
 * Launches a kernel by `enqueue`, which gets the place for the event, or null. What the driver would let go of too early
 * is held meanwhile.
 *
 * @param event receives the event, if it is wanted
 * @return what `enqueue` has returned; after a failure of ours, which has thrown, CL_SUCCESS
 */
template <typename Enqueue>
cl_int Launch(Call& call, const Object& kernel, bool wanted, cl_event* event, Enqueue enqueue) {
  HeldObjects images = HoldWrittenImages(call, kernel);
  if (!call.ok()) return CL_SUCCESS;
  cl_int status = enqueue(wanted || images ? event : nullptr);
  if (images && status == CL_SUCCESS) HoldUntilEnded(call, std::move(images), event, wanted);
  return status;
}

}  // namespace clsort

#endif
