#pragma once

// Calls of V8 whose form depends on the version of Node.

#include <v8.h>

#include <cstdint>

namespace clsort {

/** Returns the pointer in an External. V8 14 requires the tag of its type; 0 is the default. */
template <typename External>
auto PointerOf(v8::Local<External> external, int) -> decltype(external->Value(0)) {
  return external->Value(0);
}
template <typename External>
void* PointerOf(v8::Local<External> external, long) {
  return external->Value();
}

template <typename External = v8::External>
auto NewExternal(v8::Isolate* isolate, void* pointer, int) -> decltype(External::New(isolate, pointer, 0)) {
  return External::New(isolate, pointer, 0);
}
template <typename External = v8::External>
v8::Local<External> NewExternal(v8::Isolate* isolate, void* pointer, long) {
  return External::New(isolate, pointer);
}

/**
 * Reports allocated or freed external bytes to V8. Unlike Nan::AdjustExternalMemory it counts in 64 bits.
 *
 * @return the sum of all reports
 */
inline int64_t AdjustExternalBytes(v8::Isolate* isolate, int64_t change) {
  // The replacement recommended by V8 14 is not in Node's headers and returns no total.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
  return isolate->AdjustAmountOfExternalAllocatedMemory(change);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
}

}  // namespace clsort
