#include "wait.h"

namespace clsort {

namespace {

/** Resolves a promise, or rejects it with a status as an error of `call`. */
void Settle(Environment& environment, v8::Local<v8::Promise::Resolver> resolver, const char* call, cl_int status,
            const std::string& log = {}) {
  bool detached = environment.in_flight().SweepAndCheckDetached();
  std::string reason;
  if (status == CL_SUCCESS && detached) {
    status = CL_INVALID_HOST_PTR;
    reason = kDetachedReason;
  }
  auto context = Nan::GetCurrentContext();
  // Both fail only while the environment is being terminated.
  if (status == CL_SUCCESS) {
    resolver->Resolve(context, Nan::Undefined()).FromMaybe(false);
    return;
  }
  auto error = MakeError(environment, status, call, reason, log);
  if (!error.IsEmpty()) resolver->Reject(context, error).FromMaybe(false);
}

/** Creates the promise that the call returns; empty while the environment is being terminated. */
v8::Local<v8::Promise::Resolver> ReturnPromise(Call& call) {
  v8::Local<v8::Promise::Resolver> resolver;
  if (v8::Promise::Resolver::New(Nan::GetCurrentContext()).ToLocal(&resolver)) call.Return(resolver->GetPromise());
  return resolver;
}

}  // namespace

void PromiseJob::Finish(Environment& environment) { Settle(environment, Nan::New(resolver_), call_, status_, log_); }

void StartPromise(Call& call, std::unique_ptr<PromiseJob> job, const Platform* platform) {
  auto resolver = ReturnPromise(call);
  if (resolver.IsEmpty()) return;
  job->resolver_.Reset(resolver);
  call.environment().Start(std::move(job), platform);
}

HeldEvent HoldEvent(Call& call, const Object& event) {
  HeldEvent held{call.Hold(event), {}};
  auto queue = event.queue.lock();
  if (queue && queue->raw) held.queue = call.Hold(*queue);
  return held;
}

void ReturnWait(Call& call, const char* name, std::vector<HeldEvent> events, const Platform* platform,
                std::function<std::unique_ptr<PromiseJob>(cl_int)> retry) {
  auto resolver = ReturnPromise(call);
  if (resolver.IsEmpty()) return;
  auto callback = std::make_unique<Callback>();
  callback->subject.Reset(resolver);
  auto wait = std::make_shared<Wait>();
  wait->events = std::move(events);
  wait->ended = [id = call.environment().AddCallback(std::move(callback)), name, platform, retry = std::move(retry)](
                    Environment& environment, const Wait&, cl_int status) {
    auto waiting = environment.TakeCallback(id);
    if (!waiting) return;
    auto resolver = Nan::New(waiting->subject).As<v8::Promise::Resolver>();
    if (status == CL_SUCCESS || !retry) return Settle(environment, resolver, name, status);
    auto job = retry(status);
    job->resolver_.Reset(resolver);
    environment.Start(std::move(job), platform);
  };
  call.environment().Start(std::move(wait), platform);
}

}  // namespace clsort
