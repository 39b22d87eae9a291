#ifndef CLSORT_NATIVE_BUILD_OPTIONS_H_
#define CLSORT_NATIVE_BUILD_OPTIONS_H_

#include <string>

#include "call.h"

namespace clsort {

/**
 * Reads an argument of the call, if it has it: the options of a build, a compilation or a link, with blanks between
 * them. Throws where they would have a driver read files or end the process: drivers give them to a compiler as they
 * are, and take what is no option for a source file.
 * @param code of the error: CL_INVALID_BUILD_OPTIONS, …COMPILER_OPTIONS or …LINKER_OPTIONS
 */
std::string ReadBuildOptions(Call& call, int i, const Object* of, cl_int code);

}  // namespace clsort

#endif
