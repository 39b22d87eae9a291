#pragma once

#include <nan.h>

#include <memory>
#include <string>
#include <vector>

#include "environment.h"

namespace clsort {

/** Status codes of this binding, outside of OpenCL's range; TypeScript converts them to typed errors. */
constexpr cl_int kNoLoader = -2'000'001;
constexpr cl_int kUnsupported = -2'000'002;

constexpr char kDetachedReason[] = "an ArrayBuffer was detached while a command used its memory";

/** Names an argument in error messages. */
inline std::string Ordinal(int i) { return "argument " + std::to_string(i + 1); }

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
 * One call of an OpenCL function from JavaScript: reads the arguments, throws, returns.
 *
 * The first invalid argument throws; afterwards every reader returns a harmless default. A function therefore reads all
 * its arguments and checks `ok()` once before it calls the driver. There are no C++ exceptions.
 *
 * Array elements and object properties may be getters or belong to a proxy. Reading them runs arbitrary JavaScript,
 * which may throw, release handles or detach memory. Only `Elements` and `Property` read them, and the next `ok()`
 * checks again everything that was handed out.
 */
class Call {
 public:
  Call(const Nan::FunctionCallbackInfo<v8::Value>& info, const char* name);
  ~Call() { environment_->handed_out().resize(first_handed_out_); }
  Call(const Call&) = delete;

  Environment& environment() const { return *environment_; }
  /** Returns whether all arguments were valid and everything handed out still exists; throws otherwise. */
  bool ok() { return !failed_ && (!ran_javascript_ || CheckAgain()); }
  v8::Local<v8::Value> operator[](int i) const { return info_[i]; }
  /** Returns whether the argument is neither undefined nor null. */
  bool Has(int i) const { return !info_[i]->IsUndefined() && !info_[i]->IsNull(); }

  /** Returns whether the loader has the function, for calls without a handle; throws otherwise. */
  template <typename Pointer>
  bool Loaded(const Function<Pointer>& function) {
    if (!ok()) return false;
    if (!OpenLoader().loaded) return Fail(kNoLoader, OpenLoader().problem);
    if (!function.pointer) return Fail(kUnsupported, "the OpenCL loader does not have it");
    return true;
  }
  /** Returns whether the loader and the platform have the function; throws otherwise. */
  template <typename Pointer>
  bool Supported(const Function<Pointer>& function, const Platform* platform) {
    if (!Loaded(function)) return false;
    if (platform->version < function.since) return FailVersion(platform->version, function.since);
    return DriverHas(*platform, function.slot) || Fail(kUnsupported, "the driver does not have it");
  }

  // Readers. `status` is the code of the error for an invalid value.
  std::shared_ptr<Object> Handle(int i, Kind kind) {
    ArgumentScope scope(this, i);
    return Handle(info_[i], kind, InvalidStatus(kind));
  }
  std::shared_ptr<Object> Handle(v8::Local<v8::Value> value, Kind kind, cl_int status);
  /** Like `Handle`, for frequent calls; the argument keeps the object alive during the call. */
  Object* Borrow(int i, Kind kind);
  /** Retains the object of a handle for a job on another thread; throws on failure. */
  Retained Hold(const Object& object);
  /** Returns the objects of an array of handles; none for undefined and null. */
  std::vector<std::shared_ptr<Object>> Handles(int i, Kind kind, cl_int status);
  /** Reads an integer from 0 to 2^64 - 1: a safe integer or a bigint. */
  uint64_t Unsigned(v8::Local<v8::Value> value, cl_int status, uint64_t max = UINT64_MAX);
  uint64_t Unsigned(int i, cl_int status, uint64_t max = UINT64_MAX) {
    ArgumentScope scope(this, i);
    return Unsigned(info_[i], status, max);
  }
  size_t Size(int i, cl_int status = CL_INVALID_VALUE) { return Unsigned(i, status, SIZE_MAX); }
  cl_uint Uint(int i, cl_int status = CL_INVALID_VALUE) {
    return static_cast<cl_uint>(Unsigned(i, status, UINT32_MAX));
  }
  /** Reads a number of threads, which is at least 1. */
  unsigned Threads(int i);
  /** Like `Size`, but 0 for undefined and null. */
  size_t SizeOr0(int i) { return Has(i) ? Size(i) : 0; }
  /** Reads flags like `Unsigned`; 0 for null or an omitted argument. */
  cl_bitfield Bits(int i);
  /** Reads an integer that may be negative. */
  int64_t Signed(v8::Local<v8::Value> value, cl_int status);
  bool Bool(int i) const { return info_[i]->BooleanValue(environment_->isolate()); }
  std::string Text(int i, cl_int status = CL_INVALID_VALUE) {
    ArgumentScope scope(this, i);
    return Text(info_[i], status);
  }
  std::string Text(v8::Local<v8::Value> value, cl_int status);
  /** Reads a 32-bit integer that may be negative. */
  cl_int Int(v8::Local<v8::Value> value, cl_int status);
  cl_int Int(int i) {
    ArgumentScope scope(this, i);
    return Int(info_[i], CL_INVALID_VALUE);
  }
  /** Returns the elements of an array, which are all read before any is converted. */
  std::vector<v8::Local<v8::Value>> Elements(v8::Local<v8::Value> value, cl_int status);
  /** Returns the elements of a required argument. */
  std::vector<v8::Local<v8::Value>> Elements(int i, cl_int status = CL_INVALID_VALUE);
  /** Reads `length` sizes; an empty vector for undefined and null. */
  std::vector<size_t> Sizes(int i, size_t length, cl_int status);
  /** Reads up to three sizes without a heap allocation, for frequent calls; a number stands for an array of one. */
  WorkSize Work(int i, cl_uint dimensions, cl_int status);
  /** Reads three required sizes. */
  std::vector<size_t> Origin(int i, cl_int status = CL_INVALID_VALUE);
  /** Returns a property of an object; undefined if it is missing. */
  v8::Local<v8::Value> Property(v8::Local<v8::Object> object, const char* name);
  /** Reads host memory of at least `bytes` bytes; throws `status` otherwise. */
  HostMemory Memory(v8::Local<v8::Value> value, size_t bytes, cl_int status);
  HostMemory Memory(int i, size_t bytes, cl_int status = CL_INVALID_VALUE) {
    ArgumentScope scope(this, i);
    return Memory(info_[i], bytes, status);
  }
  /** Like `Memory`, for memory that is used after the call has returned. */
  HostMemory LastingMemory(v8::Local<v8::Value> value, size_t bytes, cl_int status);
  HostMemory LastingMemory(int i, size_t bytes, cl_int status = CL_INVALID_VALUE) {
    ArgumentScope scope(this, i);
    return LastingMemory(info_[i], bytes, status);
  }
  WaitList Events(int i);
  /** Reads a list of numbers, booleans and handles and appends a 0; an empty vector for undefined and null. */
  template <typename T>
  std::vector<T> Properties(int i, cl_int status) {
    std::vector<T> list;
    for (uint64_t value : RawProperties(i, status)) list.push_back(static_cast<T>(value));
    return list;
  }
  /** Returns the function bound to the asynchronous context of this call; empty for undefined and null. */
  v8::Local<v8::Function> Callable(int i);
  /**
   * Returns the shared virtual memory that contains this byte, or null; throws if it belongs to another context than
   * the objects read before.
   */
  const SvmMemory* Shared(const void* data);

  /** Throws and returns false. `reason` describes the invalid argument. */
  bool Fail(cl_int status, const std::string& reason = {}, const std::string& log = {});
  /** Throws `expected EXPECTED but got GOT`, with the ordinal of the argument that is being read; returns false. */
  bool FailExpected(cl_int status, const std::string& expected, const std::string& got);
  /** Like `FailExpected`, with a description of the value. */
  bool FailValue(cl_int status, const std::string& expected, v8::Local<v8::Value> value);
  bool FailArgument(int i, cl_int status, const std::string& expected) {
    ArgumentScope scope(this, i);
    return FailValue(status, expected, info_[i]);
  }
  bool FailArgument(int i, cl_int status, const std::string& expected, const std::string& got) {
    ArgumentScope scope(this, i);
    return FailExpected(status, expected, got);
  }
  /** Throws unless the status is CL_SUCCESS. */
  bool Check(cl_int status, const std::string& log = {}) { return status == CL_SUCCESS ? ok() : Fail(status, {}, log); }
  /**
   * `Check` for a call that has waited: frees host memory that is no longer in flight, and throws if some was detached.
   */
  bool CheckWait(cl_int status);
  /**
   * Blocks until commands have ended. In a worker that is being terminated it does not wait, and the call returns
   * nothing.
   */
  cl_int Await(const Platform& platform, const std::vector<cl_event>& events);
  /** Sets the subject and number that error messages of this call begin with; none by default. */
  void SetSubject(const char* subject = nullptr, size_t number = 0) { subject_ = subject, number_ = number; }

  void Return(v8::Local<v8::Value> value) { info_.GetReturnValue().Set(value); }
  /** Returns CL_SUCCESS as a number. */
  void ReturnSuccess() { info_.GetReturnValue().Set(static_cast<int32_t>(CL_SUCCESS)); }
  /** Returns a new handle; throws if the status is an error. */
  void ReturnHandle(cl_int status, Kind kind, void* raw, Platform* platform);
  /** Returns a new handle for the event of a command. */
  v8::Local<v8::Object> WrapEvent(cl_event event, Object& queue);
  /** Returns the event if requested, otherwise CL_SUCCESS. */
  void ReturnEvent(cl_int status, bool wanted, cl_event event, Object& queue);

  /**
   * Allows the next handles to belong to another platform or context than the previous ones; no driver call gets both.
   */
  void BeginOtherObjects() { first_object_ = first_of_context_ = nullptr; }

 private:
  bool FailVersion(unsigned have, unsigned need);
  /** Adds the ordinal of an argument to error messages while it is being read. */
  class ArgumentScope {
   public:
    ArgumentScope(Call* call, int i) : call_(call) { call->argument_ = i; }
    ~ArgumentScope() { call_->argument_ = -1; }
    ArgumentScope(const ArgumentScope&) = delete;

   private:
    Call* call_;
  };

  std::vector<uint64_t> RawProperties(int i, cl_int status);
  /** Returns the value as an array; throws if it is not one. */
  v8::Local<v8::Array> Array(v8::Local<v8::Value> value, cl_int status);
  bool Element(v8::Local<v8::Array> array, uint32_t k, v8::Local<v8::Value>* element);
  /** Registers an object that the driver will use. Most drivers crash if a call mixes two platforms or contexts. */
  void HandOut(Object& object, cl_int status);
  /**
   * Returns whether an object belongs to the same context as the previous objects; for a device, whether it is in that
   * context.
   */
  bool FitsContext(Object& object);
  bool CheckAgain();

  const Nan::FunctionCallbackInfo<v8::Value>& info_;
  Environment* environment_;
  const char* name_;
  size_t first_handed_out_;
  Object* first_object_ = nullptr;
  /** First object that belongs to a context. */
  Object* first_of_context_ = nullptr;
  /** Index of the argument that is being read; -1 for none. */
  int argument_ = -1;
  const char* subject_ = nullptr;
  size_t number_ = 0;
  bool failed_ = false;
  bool ran_javascript_ = false;
};

/** Returns the environment that a function belongs to. */
Environment* EnvironmentOf(const Nan::FunctionCallbackInfo<v8::Value>& info);

/** Returns an error as `Call::Fail` throws it; empty if JavaScript throws or is terminated meanwhile. */
v8::Local<v8::Value> MakeError(Environment& environment, cl_int status, const char* call,
                               const std::string& reason = {}, const std::string& log = {});

/**
 * A function that the addon exports. Its environment is in the data of the function.
 *
 * Nan::SetMethod is slower: its access to the data of a function takes a sixth of the time of a kernel launch.
 */
class Export {
 public:
  Export(const char* name, v8::FunctionCallback callback);
  Export(const Export&) = delete;

  /** Sets the functions of all `Export` objects of the addon. */
  static void SetAll(Environment& environment, v8::Local<v8::Object> target);

  template <void (*function)(const Nan::FunctionCallbackInfo<v8::Value>&)>
  static void Invoke(const v8::FunctionCallbackInfo<v8::Value>& info) {
    Nan::FunctionCallbackInfo<v8::Value> own(info, info.Data());
    if (EnvironmentOf(own)->closed()) return Nan::ThrowError("cannot call OpenCL: the process is exiting");
    function(own);
  }
};

/** Begins an exported function of `Call& call`. Error messages contain `title`, such as the name in C. */
#define CLSORT_EXPORT(name, title)                                       \
  static void name##_body(Call& call);                                   \
  static NAN_METHOD(name##_call) {                                       \
    Call call(info, title);                                              \
    name##_body(call);                                                   \
  }                                                                      \
  static const Export name##_export(#name, Export::Invoke<name##_call>); \
  static void name##_body(Call& call)

/** Retains the object of a handle: the retain… functions of all reference-counted kinds. */
void RetainHandle(Call& call, Kind kind);
/** Releases one reference of a handle: the release… functions of all reference-counted kinds. */
void ReleaseHandle(Call& call, Kind kind);

/** Returns the name of the OpenCL function that does `verb` to objects of a kind. */
std::string FunctionName(const char* verb, Kind kind);

template <Kind kind>
NAN_METHOD(RetainObject) {
  static const std::string name = FunctionName("Retain", kind);
  Call call(info, name.c_str());
  RetainHandle(call, kind);
}

template <Kind kind>
NAN_METHOD(ReleaseObject) {
  static const std::string name = FunctionName("Release", kind);
  Call call(info, name.c_str());
  ReleaseHandle(call, kind);
}

}  // namespace clsort
