#include "one_shot_callback.h"

namespace clsort {

OneShotCallback* MakeOneShot(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data) {
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(data);
  callback->awaited = false;
  return new OneShotCallback{call.environment().mailbox(), call.environment().AddCallback(std::move(callback))};
}

void PostOneShot(void* user_data) {
  std::unique_ptr<OneShotCallback> one_shot(static_cast<OneShotCallback*>(user_data));
  one_shot->mailbox->Post([id = one_shot->callback](Environment& environment) {
    auto callback = environment.TakeCallback(id);
    if (!callback) return;
    v8::Local<v8::Value> arguments[] = {Nan::New(callback->data)};
    Nan::Call(Nan::New(callback->function), Nan::New<v8::Object>(), 1, arguments);
  });
}

void CancelOneShot(Environment& environment, OneShotCallback* one_shot) {
  environment.TakeCallback(one_shot->callback);
  delete one_shot;
}

}  // namespace clsort
