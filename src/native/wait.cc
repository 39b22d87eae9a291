#include "wait.h"

namespace clsort {

void PromiseJob::Finish(Environment& environment) {
  bool detached = environment.in_flight().SweepAndTellDetached();
  std::string reason;
  if (status_ == CL_SUCCESS && detached) {
    status_ = CL_INVALID_HOST_PTR;
    reason = kDetachedReason;
  }
  auto resolver = Nan::New(resolver_);
  auto context = Nan::GetCurrentContext();
  auto settled = status_ == CL_SUCCESS
                     ? resolver->Resolve(context, Nan::Undefined())
                     : resolver->Reject(context, MakeError(environment, status_, call_, reason, log_));
  (void)settled;  // nothing only when the environment is being terminated
}

void StartPromise(Call& call, std::unique_ptr<PromiseJob> job, const Platform* platform) {
  v8::Local<v8::Promise::Resolver> resolver;
  if (!v8::Promise::Resolver::New(Nan::GetCurrentContext()).ToLocal(&resolver)) return;
  job->resolver_.Reset(resolver);
  call.Return(resolver->GetPromise());
  call.environment().Start(std::move(job), platform);
}

}  // namespace clsort
