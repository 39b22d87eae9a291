#ifndef CLSORT_NATIVE_CALL_H_
#define CLSORT_NATIVE_CALL_H_

#include <nan.h>

#include <memory>
#include <string>
#include <vector>

#include "environment.h"

namespace clsort {

/** Statuses of ours, outside of OpenCL's range: the TypeScript side makes typed errors of them. */
constexpr cl_int kNoLoader = -2'000'001;
constexpr cl_int kUnsupported = -2'000'002;

constexpr char kDetachedReason[] = "an ArrayBuffer was detached while a command used its memory";

/** Events that a command waits for. */
struct WaitList {
  std::vector<cl_event> events;
  cl_uint count() const { return static_cast<cl_uint>(events.size()); }
  const cl_event* data() const { return events.empty() ? nullptr : events.data(); }
};

/** Sizes in up to three dimensions, or none. */
struct WorkSize {
  size_t sizes[3];
  bool given = false;
  const size_t* data() const { return given ? sizes : nullptr; }
};

/**
 * One call from JavaScript into one OpenCL function: reads the arguments, throws, returns.
 *
 * The first argument that is wrong throws; from then on every reader returns a harmless default, so a
 * function reads all its arguments in a row and asks `ok()` once before it calls the driver. There are no
 * C++ exceptions.
 *
 * Elements of arrays and properties of objects may be getters of the program's or lie behind a proxy, so
 * reading them runs any JavaScript, which may throw, and may release or detach what was read before. Hence
 * `Elements` and `Property` are the only ways to them, and after them `ok()` looks once more at all that
 * was handed out.
 */
class Call {
 public:
  Call(const Nan::FunctionCallbackInfo<v8::Value>& info, const char* name);
  ~Call() { environment_->handed_out().resize(first_handed_out_); }
  Call(const Call&) = delete;

  Environment& environment() const { return *environment_; }
  /** Whether no argument was wrong and all that was handed out is there still; throws where it is not. */
  bool ok() { return !failed_ && (!ran_javascript_ || CheckAgain()); }
  v8::Local<v8::Value> operator[](int i) const { return info_[i]; }
  /** Neither undefined nor null. */
  bool Has(int i) const { return !info_[i]->IsUndefined() && !info_[i]->IsNull(); }

  /** Whether the loader has the function, for calls that need no handle; throws otherwise. */
  template <typename Pointer>
  bool Loaded(const Function<Pointer>& function) {
    if (!ok()) return false;
    if (!OpenLoader().loaded) return Fail(kNoLoader, OpenLoader().problem);
    if (!function.pointer) return Fail(kUnsupported, "the OpenCL loader lacks it");
    return true;
  }
  /** Whether loader and platform have the function; throws otherwise. */
  template <typename Pointer>
  bool Supported(const Function<Pointer>& function, const Platform* platform) {
    if (!Loaded(function)) return false;
    if (platform->version < function.since) return FailVersion(platform->version, function.since);
    return DriverHas(*platform, function.slot) || Fail(kUnsupported, "the driver lacks it");
  }

  // Readers. `status` is what is thrown for a value that cannot be.
  std::shared_ptr<Object> Handle(int i, Kind kind) { return Handle(info_[i], kind, InvalidStatus(kind)); }
  std::shared_ptr<Object> Handle(v8::Local<v8::Value> value, Kind kind, cl_int status);
  /** As `Handle`, for calls that are made very often; the argument keeps the object for as long as the call. */
  Object* Borrow(int i, Kind kind);
  /** A reference of its own to a handle's object, for a job on another thread; throws where there is none. */
  Retained Hold(const Object& object);
  /** An array of handles, or none for undefined and null. */
  std::vector<std::shared_ptr<Object>> Handles(int i, Kind kind, cl_int status);
  /** Whole numbers from 0 to 2^64 - 1: safe integers and bigints. */
  uint64_t Unsigned(v8::Local<v8::Value> value, cl_int status, uint64_t max = UINT64_MAX);
  size_t Size(int i, cl_int status = CL_INVALID_VALUE) { return Unsigned(info_[i], status, SIZE_MAX); }
  cl_uint Uint(int i, cl_int status = CL_INVALID_VALUE) {
    return static_cast<cl_uint>(Unsigned(info_[i], status, UINT32_MAX));
  }
  /** As `Size`, but 0 where nothing is given. */
  size_t SizeOr0(int i) { return Has(i) ? Size(i) : 0; }
  /** Flags: as `Unsigned`; null means none, and so does an argument that is left out. */
  cl_bitfield Bits(int i);
  /** Whole numbers that may be negative. */
  int64_t Signed(v8::Local<v8::Value> value, cl_int status);
  bool Bool(int i) const { return info_[i]->BooleanValue(environment_->isolate()); }
  std::string Text(int i, cl_int status = CL_INVALID_VALUE) { return Text(info_[i], status); }
  std::string Text(v8::Local<v8::Value> value, cl_int status);
  /** A whole number of 32 bits that may be negative. */
  cl_int Int(v8::Local<v8::Value> value, cl_int status);
  /**
   * The elements of an array, all read before anything is made of the first of them. `what` names the array in
   * the error for anything else.
   */
  std::vector<v8::Local<v8::Value>> Elements(v8::Local<v8::Value> value, cl_int status, const std::string& what);
  /** The elements of an argument, which must be given. */
  std::vector<v8::Local<v8::Value>> Elements(int i, cl_int status = CL_INVALID_VALUE);
  /** `length` sizes, or an empty vector for undefined and null. */
  std::vector<size_t> Sizes(int i, size_t length, cl_int status);
  /**
   * Up to three sizes without a heap allocation, for calls that are made very often; instead of an array of
   * one its number.
   */
  WorkSize Work(int i, cl_uint dimensions, cl_int status);
  /** Three sizes that must be given. */
  std::vector<size_t> Origin(int i, cl_int status = CL_INVALID_VALUE);
  /** A property of an object, undefined where it has none. */
  v8::Local<v8::Value> Property(v8::Local<v8::Object> object, const char* name);
  /** Host memory of at least `bytes` bytes; `status` is thrown for anything else. */
  HostMemory Memory(v8::Local<v8::Value> value, size_t bytes, cl_int status);
  HostMemory Memory(int i, size_t bytes, cl_int status = CL_INVALID_VALUE) { return Memory(info_[i], bytes, status); }
  /** Like `Memory`, for memory that is used after the call has returned. */
  HostMemory LastingMemory(v8::Local<v8::Value> value, size_t bytes, cl_int status);
  HostMemory LastingMemory(int i, size_t bytes, cl_int status = CL_INVALID_VALUE) {
    return LastingMemory(info_[i], bytes, status);
  }
  WaitList Events(int i);
  /** A list of properties that ends with a 0, or an empty vector: numbers, booleans and handles. */
  template <typename T>
  std::vector<T> Properties(int i, cl_int status) {
    std::vector<T> list;
    for (uint64_t value : RawProperties(i, status)) list.push_back(static_cast<T>(value));
    return list;
  }
  /** A function that runs in the asynchronous context of this call, or empty. */
  v8::Local<v8::Function> Callable(int i);
  /** The shared virtual memory that has this byte, or null; throws where it is of another context than what was read before. */
  const SvmMemory* Shared(const void* data);

  /** Throws; always false. `reason` says what is wrong with which argument. */
  bool Fail(cl_int status, const std::string& reason = {}, const std::string& log = {});
  /** Throws unless the status is CL_SUCCESS. */
  bool Check(cl_int status, const std::string& log = {}) { return status == CL_SUCCESS ? ok() : Fail(status, {}, log); }
  /** `Check` for a call that has waited: host memory in flight may be free now, or turn out to be lost. */
  bool CheckWait(cl_int status);
  /** Blocks until commands have ended; a worker that is being terminated does not wait for them, and nothing is returned. */
  cl_int Await(const Platform& platform, const std::vector<cl_event>& events);
  /** What the errors of this call are about, until it is set to nothing: their reasons begin with it, and with its number. */
  void SetSubject(const char* subject = nullptr, size_t number = 0) { subject_ = subject, number_ = number; }

  void Return(v8::Local<v8::Value> value) { info_.GetReturnValue().Set(value); }
  /** CL_SUCCESS as a number. */
  void ReturnSuccess() { info_.GetReturnValue().Set(static_cast<int32_t>(CL_SUCCESS)); }
  /** A new handle, unless the status is an error. */
  void ReturnHandle(cl_int status, Kind kind, void* raw, Platform* platform);
  /** A new handle of the event of a command. */
  v8::Local<v8::Object> WrapEvent(cl_event event, Object& queue);
  /** The event where one was asked for, CL_SUCCESS otherwise. */
  void ReturnEvent(cl_int status, bool wanted, cl_event event, Object& queue);

  /** Handles that follow may be of another platform or context than those before: no call of the driver's gets both. */
  void BeginOtherObjects() { first_object_ = first_of_context_ = nullptr; }

 private:
  bool FailVersion(unsigned have, unsigned need);
  std::vector<uint64_t> RawProperties(int i, cl_int status);
  /** The array of an argument, or none. */
  v8::Local<v8::Array> Array(v8::Local<v8::Value> value, cl_int status, const std::string& what);
  bool Element(v8::Local<v8::Array> array, uint32_t k, v8::Local<v8::Value>* element);
  /** Notes an object that the driver will see. Objects of two platforms or contexts in one call end most drivers. */
  void HandOut(Object& object, cl_int status);
  /** Whether an object and what was read before are of one context; for a device: whether it is one of that context. */
  bool FitsContext(Object& object);
  bool CheckAgain();

  const Nan::FunctionCallbackInfo<v8::Value>& info_;
  Environment* environment_;
  const char* name_;
  size_t first_handed_out_;
  Object* first_object_ = nullptr;
  /** The first that belongs to a context. */
  Object* first_of_context_ = nullptr;
  const char* subject_ = nullptr;
  size_t number_ = 0;
  bool failed_ = false;
  bool ran_javascript_ = false;
};

/** The environment that a function belongs to. */
Environment* EnvironmentOf(const Nan::FunctionCallbackInfo<v8::Value>& info);

/**
 * Makes an error as `Call::Fail` throws it. Empty when JavaScript failed or is being terminated meanwhile, which throws
 * by itself.
 */
v8::Local<v8::Value> MakeError(Environment& environment, cl_int status, const char* call,
                               const std::string& reason = {}, const std::string& log = {});

/**
 * Sets functions of `exports` that find their environment.
 *
 * Not by Nan::SetMethod, whose way to a function's data costs a sixth of a kernel's launch.
 */
class Exports {
 public:
  Exports(Environment& environment, v8::Local<v8::Object> target);

  template <void (*function)(const Nan::FunctionCallbackInfo<v8::Value>&)>
  void Set(const char* name) {
    Set(name, [](const v8::FunctionCallbackInfo<v8::Value>& info) {
      Nan::FunctionCallbackInfo<v8::Value> own(info, info.Data());
      if (EnvironmentOf(own)->closed()) return Nan::ThrowError("OpenCL is closed: the process ends");
      function(own);
    });
  }

 private:
  void Set(const char* name, v8::FunctionCallback callback);

  v8::Local<v8::Object> target_;
  v8::Local<v8::External> environment_;
};

// One per OpenCL object.
void ExportPlatform(Exports& exports);
void ExportDevice(Exports& exports);
void ExportContext(Exports& exports);
void ExportCommandQueue(Exports& exports);
void ExportMemObject(Exports& exports);
void ExportImage(Exports& exports);
void ExportPipe(Exports& exports);
void ExportSampler(Exports& exports);
void ExportProgram(Exports& exports);
void ExportKernel(Exports& exports);
void ExportEvent(Exports& exports);
void ExportTransfer(Exports& exports);
void ExportSvm(Exports& exports);
void ExportLaunches(Exports& exports);
void ExportPoll(Exports& exports);
void ExportStaging(Exports& exports);
void ExportFileTransfer(Exports& exports);
void ExportChecksum(Exports& exports);
void ExportHash(Exports& exports);
void ExportMultiset(Exports& exports);
void ExportNearSort(Exports& exports);
void ExportPlacement(Exports& exports);
void ExportParallelCopy(Exports& exports);
void ExportPartition(Exports& exports);
void ExportPartitionTransfer(Exports& exports);
void ExportRelay(Exports& exports);
void ExportExtensions(Exports& exports);
void ExportCommandBuffer(Exports& exports);
void ExportExternalMemory(Exports& exports);
void ExportUnifiedMemory(Exports& exports);

/** Retains a handle's object: the exported retain… of every counted kind. */
void RetainHandle(Call& call, Kind kind);
/** Releases one reference of a handle: the exported release… of every counted kind. */
void ReleaseHandle(Call& call, Kind kind);

}  // namespace clsort

#endif
