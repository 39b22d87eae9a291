#pragma once

#include "call.h"

namespace clsort {

/** JavaScript callback that a driver thread requests once, by the driver's `user_data` pointer. */
struct OneShotCallback {
  std::shared_ptr<Mailbox> mailbox;
  uint64_t callback;
};

/** Registers `function(data)`; it does not keep the event loop alive, because the object may live forever. */
OneShotCallback* MakeOneShot(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data);
/** Calls the function on its event loop, if that still runs, and frees `user_data`. Thread-safe. */
void PostOneShot(void* user_data);
/** Removes the function after the driver has rejected the registration. */
void CancelOneShot(Environment& environment, OneShotCallback* once);

}  // namespace clsort
