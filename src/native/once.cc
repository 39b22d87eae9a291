#include "once.h"

namespace clsort {

Once* MakeOnce(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data) {
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(data);
  callback->awaited = false;
  return new Once{call.environment().mailbox(), call.environment().AddCallback(std::move(callback))};
}

void PostOnce(void* user_data) {
  std::unique_ptr<Once> once(static_cast<Once*>(user_data));
  once->mailbox->Post([id = once->callback](Environment& environment) {
    auto callback = environment.TakeCallback(id);
    if (!callback) return;
    v8::Local<v8::Value> arguments[] = {Nan::New(callback->data)};
    Nan::Call(Nan::New(callback->function), Nan::New<v8::Object>(), 1, arguments);
  });
}

void CancelOnce(Environment& environment, Once* once) {
  environment.TakeCallback(once->callback);
  delete once;
}

}  // namespace clsort
