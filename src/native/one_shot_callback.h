#ifndef CLSORT_NATIVE_ONE_SHOT_CALLBACK_H_
#define CLSORT_NATIVE_ONE_SHOT_CALLBACK_H_

#include "call.h"

namespace clsort {

/** A JavaScript callback that a driver thread will ask for once, with the driver's `user_data` pointer. */
struct OneShotCallback {
  std::shared_ptr<Mailbox> mailbox;
  uint64_t callback;
};

/** Registers `function(data)`; it does not keep the loop alive, since nobody knows when an object dies. */
OneShotCallback* MakeOneShot(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data);
/** On any thread: has the function called on its loop, if that still runs. Frees `user_data`. */
void PostOneShot(void* user_data);
/** The driver refused: forgets the function. */
void CancelOneShot(Environment& environment, OneShotCallback* once);

}  // namespace clsort

#endif
