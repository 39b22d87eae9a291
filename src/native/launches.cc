#include <cmath>

#include "argument_value.h"
#include "launch.h"
#include "launch_limits.h"

namespace clsort {

namespace {

/** Kinds of kernel arguments in a list of launches; src/device/queue/launch-list.ts has the same numbers. */
enum ArgumentKind : uint32_t { kBuffer = 0, kBytes = 1, kLocal = 2 };

/** Sequential reader of numbers written by JavaScript. */
class Words {
 public:
  Words(const double* words, size_t count) : next_(words), end_(words + count) {}
  bool More() const { return next_ < end_; }
  /** Returns 0 beyond the end and sets `ok` to false. */
  double Next() {
    if (next_ < end_) return *next_++;
    ok_ = false;
    return 0;
  }
  size_t Size() {
    double word = Next();
    if (word >= 0 && word <= 9007199254740991.0 && std::floor(word) == word) return static_cast<size_t>(word);
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }

 private:
  const double* next_;
  const double* end_;
  bool ok_ = true;
};

/**
 * Sets arguments of kernels and enqueues the kernels, a whole list in one call: the call from JavaScript to the driver
 * takes longer than a short kernel.
 *
 * Words of each launch: dimensions, 1 if a work-group size is given, the global sizes, the work-group size, the number
 * of arguments to set, and for each argument its index, kind and two numbers: an index into `memory` and 0; an offset
 * into `bytes` and a length; bytes of local memory and 0. The first word receives the number of enqueued launches.
 */
CLSORT_EXPORT(enqueueKernels, "clEnqueueNDRangeKernel") {
  Object* queue = call.Borrow(0, Kind::kCommandQueue);
  HostMemory words_memory = call.Memory(1, sizeof(double));
  size_t count = call.Size(2);
  auto kernels = call.Elements(3);
  auto memory = call.Elements(4);
  HostMemory bytes = call.Memory(5, 0);
  bool wanted = call.Bool(6);
  if (!call.ok()) return;
  // No JavaScript runs from here on.
  if (count < 1 || count > words_memory.bytes / sizeof(double)) {
    return (void)call.FailArgument(2, CL_INVALID_VALUE, "at most the words of argument 2");
  }
  auto* first = static_cast<double*>(words_memory.data);
  Words words(first + 1, count - 1);
  std::vector<v8::Local<v8::Value>> events;
  *first = 0;
  for (size_t launch = 0; words.More(); launch++, *first = static_cast<double>(launch)) {
    Nan::EscapableHandleScope scope;
    if (launch >= kernels.size()) return (void)call.FailArgument(3, CL_INVALID_VALUE, "a kernel for each launch");
    auto kernel = call.Handle(kernels[launch], Kind::kKernel, CL_INVALID_KERNEL);
    if (!kernel) return;
    size_t dimensions = words.Size();
    bool grouped = words.Size() != 0;
    size_t global[3] = {}, local[3] = {};
    if (dimensions < 1 || dimensions > 3) {
      return (void)call.Fail(CL_INVALID_WORK_DIMENSION,
                             "expected 1, 2 or 3 dimensions but got " + std::to_string(dimensions));
    }
    for (size_t d = 0; d < dimensions; d++) global[d] = words.Size();
    for (size_t d = 0; grouped && d < dimensions; d++) local[d] = words.Size();
    for (size_t left = words.Size(); left > 0 && words.ok(); left--) {
      size_t index = words.Size(), kind = words.Size(), a = words.Size(), b = words.Size();
      if (!words.ok()) break;
      KernelArgument* argument = ArgumentOf(call, *kernel, index);
      if (!argument) return;
      if (kind == kBuffer && a < memory.size()) {
        auto object = call.Handle(memory[a], Kind::kMemObject, CL_INVALID_MEM_OBJECT);
        if (!object || !CheckMemory(call, *argument, index, *object)) return;
        if (!SetObject(call, *kernel, index, std::move(object))) return;
      } else if (kind == kBytes && a <= bytes.bytes && b <= bytes.bytes - a) {
        if (!CheckBytes(call, *argument, index, b)) return;
        if (!SetBytes(call, *kernel, index, b, static_cast<const char*>(bytes.data) + a)) return;
      } else if (kind == kLocal) {
        if (!CheckOffer(call, *argument, index, Takes::kLocal) || !SetLocal(call, *kernel, index, a)) return;
      } else {
        return (void)call.Fail(CL_INVALID_ARG_VALUE,
                               NameArgument(*argument, index) + ": expected a buffer, bytes or local memory");
      }
    }
    if (!words.ok()) {
      return (void)call.FailArgument(1, CL_INVALID_VALUE, "whole numbers of complete launches", "other words");
    }
    if (!CheckArguments(call, *kernel) || !CheckLaunch(call, *queue, *kernel, static_cast<cl_uint>(dimensions), nullptr,
                                                       global, grouped ? local : nullptr)) {
      return;
    }
    cl_event event = nullptr;
    cl_int status = Launch(call, *kernel, wanted, &event, [&](cl_event* place) {
      return api.clEnqueueNDRangeKernel(queue->As<cl_command_queue>(), kernel->As<cl_kernel>(),
                                        static_cast<cl_uint>(dimensions), nullptr, global, grouped ? local : nullptr, 0,
                                        nullptr, place);
    });
    if (!call.Check(status)) return;
    if (wanted) events.push_back(scope.Escape(call.WrapEvent(event, *queue)));
  }
  if (wanted) {
    call.Return(v8::Array::New(call.environment().isolate(), events.data(), events.size()));
  } else {
    call.ReturnSuccess();
  }
}

/**
 * Reads values for all arguments of a kernel, then sets them and enqueues the kernel: atomic with respect to other
 * calls.
 */
CLSORT_EXPORT(callKernel, "clEnqueueNDRangeKernel") {
  Object* queue = call.Borrow(0, Kind::kCommandQueue);
  Object* kernel = call.Borrow(1, Kind::kKernel);
  cl_uint dimensions = call.Uint(2, CL_INVALID_WORK_DIMENSION);
  if (call.ok() && (dimensions < 1 || dimensions > 3)) {
    call.FailArgument(2, CL_INVALID_WORK_DIMENSION, "1, 2 or 3 dimensions");
  }
  WorkSize global = call.Work(3, dimensions, CL_INVALID_GLOBAL_WORK_SIZE);
  WorkSize local = call.Work(4, dimensions, CL_INVALID_WORK_GROUP_SIZE);
  auto given = call.Elements(5);
  if (!call.ok()) return;
  if (!global.given) return (void)call.Fail(CL_INVALID_GLOBAL_WORK_SIZE, "argument 2: expected sizes but got none");
  size_t count = ArgumentsOf(call, *kernel).size();
  if (given.size() != count) {
    return (void)call.Fail(CL_INVALID_KERNEL_ARGS, "expected " + std::to_string(count) + " kernel arguments but got " +
                                                       std::to_string(given.size()));
  }
  std::vector<ArgumentValue> values;
  for (size_t i = 0; i < count && call.ok(); i++) values.push_back(ReadArgument(call, *kernel, i, {}, given[i]));
  if (!call.ok()) return;
  for (ArgumentValue& value : values) {
    if (!SetArgument(call, *kernel, std::move(value))) return;
  }
  if (!CheckLaunch(call, *queue, *kernel, dimensions, nullptr, global.data(), local.data())) return;
  cl_event event = nullptr;
  cl_int status = Launch(call, *kernel, true, &event, [&](cl_event* place) {
    return api.clEnqueueNDRangeKernel(queue->As<cl_command_queue>(), kernel->As<cl_kernel>(), dimensions, nullptr,
                                      global.data(), local.data(), 0, nullptr, place);
  });
  call.ReturnEvent(status, true, event, *queue);
}

}  // namespace

}  // namespace clsort
