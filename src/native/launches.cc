#include "info.h"

namespace clsort {

namespace {

/** Kinds of kernel arguments in a list of launches; src/device/launch-list.ts has the same numbers. */
enum ArgumentKind : uint32_t { kBuffer = 0, kBytes = 1, kLocal = 2 };

/** Numbers that JavaScript has written, read one after the other. */
class Words {
 public:
  Words(const double* words, size_t count) : next_(words), end_(words + count) {}
  bool More() const { return next_ < end_; }
  /** 0 beyond the end: `ok` tells. */
  double Next() {
    if (next_ < end_) return *next_++;
    ok_ = false;
    return 0;
  }
  size_t Size() {
    double word = Next();
    if (word >= 0 && word <= 9007199254740991.0) return static_cast<size_t>(word);
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
 * Sets arguments of kernels and enqueues the kernels, a whole list in one call: for short kernels the way
 * from JavaScript to the driver and back costs more than the kernel.
 *
 * Of each launch the words tell: dimensions, 1 if a group size is given, the sizes, the group size, the
 * number of arguments to set, and of each argument its index, kind and two numbers: an index into `memory`
 * and nothing; a byte offset into `bytes` and a length; bytes of local memory and nothing. The first word
 * receives the number of launches that were enqueued.
 */
NAN_METHOD(EnqueueKernels) {
  Call call(info, "clEnqueueNDRangeKernel");
  Object* queue = call.Borrow(0, Kind::kCommandQueue);
  HostMemory words_memory = call.Memory(1, sizeof(double));
  size_t count = call.Size(2);
  auto kernels = call.Array(3);
  auto memory = call.Array(4);
  HostMemory bytes = call.Memory(5, 0);
  bool wanted = call.Bool(6);
  if (!call.ok()) return;
  if (count < 1 || count > words_memory.bytes / sizeof(double)) {
    return (void)call.Fail(CL_INVALID_VALUE, "argument 3: more words than there are");
  }
  auto* first = static_cast<double*>(words_memory.data);
  Words words(first + 1, count - 1);
  v8::Local<v8::Array> events;
  if (wanted) events = Nan::New<v8::Array>(static_cast<int>(kernels->Length()));
  *first = 0;
  for (uint32_t launch = 0; words.More(); launch++, *first = launch) {
    Nan::HandleScope scope;
    v8::Local<v8::Value> value;
    Object* kernel = Nan::Get(kernels, launch).ToLocal(&value)
                         ? call.Handle(value, Kind::kKernel, CL_INVALID_KERNEL).get()
                         : nullptr;
    if (!kernel) return;
    cl_kernel raw = kernel->As<cl_kernel>();
    size_t dimensions = words.Size();
    bool grouped = words.Size() != 0;
    size_t global[3] = {}, local[3] = {};
    if (dimensions < 1 || dimensions > 3) {
      return (void)call.Fail(CL_INVALID_WORK_DIMENSION, "expected 1, 2 or 3 dimensions");
    }
    for (size_t d = 0; d < dimensions; d++) global[d] = words.Size();
    for (size_t d = 0; grouped && d < dimensions; d++) local[d] = words.Size();
    for (size_t left = words.Size(); left > 0 && words.ok(); left--) {
      auto index = static_cast<cl_uint>(words.Size());
      size_t kind = words.Size(), a = words.Size(), b = words.Size();
      cl_int status = CL_INVALID_ARG_VALUE;
      std::shared_ptr<Object> object;
      if (index > 1024) {
        status = CL_INVALID_ARG_INDEX;
      } else if (kind == kBuffer) {
        if (!Nan::Get(memory, static_cast<uint32_t>(a)).ToLocal(&value)) return;
        object = call.Handle(value, Kind::kMemObject, CL_INVALID_MEM_OBJECT);
        if (!object) return;
        auto mem = object->As<cl_mem>();
        status = api.clSetKernelArg(raw, index, sizeof mem, &mem);
      } else if (kind == kBytes && a <= bytes.bytes && b <= bytes.bytes - a) {
        status = api.clSetKernelArg(raw, index, b, static_cast<const char*>(bytes.data) + a);
      } else if (kind == kLocal) {
        status = api.clSetKernelArg(raw, index, a, nullptr);
      }
      if (status != CL_SUCCESS) {
        return (void)call.Fail(status, "setting kernel argument " + std::to_string(index));
      }
      if (kernel->arguments.size() <= index) kernel->arguments.resize(index + 1);
      kernel->arguments[index].object = std::move(object);
      kernel->arguments[index].svm = nullptr;
    }
    if (!words.ok()) return (void)call.Fail(CL_INVALID_VALUE, "argument 2: the words end within a launch");
    if (!CheckArguments(call, *kernel)) return;
    cl_event event = nullptr;
    cl_int status = api.clEnqueueNDRangeKernel(queue->As<cl_command_queue>(), raw,
                                               static_cast<cl_uint>(dimensions), nullptr, global,
                                               grouped ? local : nullptr, 0, nullptr, wanted ? &event : nullptr);
    if (!call.Check(status)) return;
    if (wanted) Nan::Set(events, launch, call.WrapEvent(event, *queue));
  }
  if (wanted) {
    call.Return(events);
  } else {
    call.ReturnSuccess();
  }
}

}  // namespace

void ExportLaunches(Exports& exports) { exports.Set<EnqueueKernels>("enqueueKernels"); }

}  // namespace clsort
