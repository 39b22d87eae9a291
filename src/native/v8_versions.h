#ifndef CLSORT_NATIVE_V8_VERSIONS_H_
#define CLSORT_NATIVE_V8_VERSIONS_H_

// Calls of V8 whose form differs between the versions of Node.

#include <v8.h>

#include <cstdint>

namespace clsort {

/** The pointer in an External. V8 14 wants the tag of its type, 0 being the default one. */
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
 * Tells V8 of so many more bytes, or fewer, that its objects hold elsewhere. Unlike Nan::AdjustExternalMemory it counts in 64
 * bits.
 *
 * @return all that V8 was told of
 */
inline int64_t AdjustExternalBytes(v8::Isolate* isolate, int64_t change) {
  // The class that V8 14 recommends instead is not among the headers that Node installs, and returns no total.
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

#endif
