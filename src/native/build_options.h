#pragma once

#include <string>

#include "call.h"

namespace clsort {

/** Option that the binding adds to builds, so that it knows the types of kernel arguments. */
constexpr char kArgumentInfo[] = " -cl-kernel-arg-info";

/**
 * Reads the optional argument with the options of a build, compilation or link, separated by whitespace. Throws for
 * options with which the driver would read files or end the process: drivers pass them unchanged to a compiler, which
 * treats anything but an option as a source file.
 *
 * @param code code of the error: CL_INVALID_BUILD_OPTIONS, …COMPILER_OPTIONS or …LINKER_OPTIONS
 */
std::string ReadBuildOptions(Call& call, int i, const Object* of, cl_int code);

}  // namespace clsort
