#ifndef CLSORT_NATIVE_WAIT_H_
#define CLSORT_NATIVE_WAIT_H_

#include <string>

#include "call.h"

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
  Nan::Global<v8::Promise::Resolver> resolver_;
};

/** Starts the job and returns its promise. */
void StartPromise(Call& call, std::unique_ptr<PromiseJob> job, const Platform* platform);

}  // namespace clsort

#endif
