#ifndef CLSORT_NATIVE_WAIT_H_
#define CLSORT_NATIVE_WAIT_H_

#include <functional>
#include <string>
#include <vector>

#include "call.h"
#include "waits.h"

namespace clsort {

/** A job whose end settles a promise: fulfilled with undefined, or rejected with `status_` as an error. */
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

/** The event of a handle to wait for; a queue that was released has been flushed by that. */
HeldEvent HoldEvent(Call& call, const Object& event);

/**
 * Returns a promise of the end of all events. `retry` gets the status of a wait
 * that failed, and makes a job that settles the promise instead.
 */
void ReturnWait(Call& call, const char* name, std::vector<HeldEvent> events, const Platform* platform,
                std::function<std::unique_ptr<PromiseJob>(cl_int)> retry = {});

}  // namespace clsort

#endif
