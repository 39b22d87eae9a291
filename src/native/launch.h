#pragma once

#include "call.h"

namespace clsort {

/** Objects that are held until a launch has run. */
using HeldObjects = std::shared_ptr<std::vector<Retained>>;

/** Retains the images that a launch may write, if the driver does not retain them itself; null for none. */
HeldObjects HoldWrittenImages(Call& call, const Object& kernel);
/**
 * Holds the objects until the command of `event` has ended; takes ownership of the event if the program does not want
 * it.
 */
void HoldUntilEnded(Call& call, HeldObjects objects, cl_event* event, bool wanted);

/**
 * Launches a kernel by `enqueue`, whose argument is the place for the event, or null. Objects that the driver would
 * release too early are held meanwhile.
 *
 * @param event receives the event, if it is wanted
 * @return the result of `enqueue`; CL_SUCCESS if an error was already thrown
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
