#pragma once

#include <functional>
#include <string>
#include <vector>

#include "call.h"
#include "waits.h"

namespace clsort {

/** Job that settles a promise: resolves it with undefined, or rejects it with `status_` as an error. */
class PromiseJob : public Job {
 public:
  explicit PromiseJob(const char* call) : call_(call) {}
  void Finish(Environment& environment) override;

 protected:
  const char* const call_;
  cl_int status_ = CL_SUCCESS;
  std::string log_;

 private:
  friend void StartPromise(Call& call, std::unique_ptr<PromiseJob> job, const Platform* platform);
  friend void ReturnWait(Call&, const char*, std::vector<HeldEvent>, const Platform*,
                         std::function<std::unique_ptr<PromiseJob>(cl_int)>);
  Nan::Global<v8::Promise::Resolver> resolver_;
};

/** Starts the job and returns its promise. */
void StartPromise(Call& call, std::unique_ptr<PromiseJob> job, const Platform* platform);

/**
 * Retains the event of a handle for a wait, and its queue if that must be flushed; a released queue is already flushed.
 */
HeldEvent HoldEvent(Call& call, const Object& event);

/**
 * Returns a promise for the end of all events. `retry` gets the status of a failed wait and returns a job that settles
 * the promise instead.
 */
void ReturnWait(Call& call, const char* name, std::vector<HeldEvent> events, const Platform* platform,
                std::function<std::unique_ptr<PromiseJob>(cl_int)> retry = {});

}  // namespace clsort
