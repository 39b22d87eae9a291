#include "call.h"

#include <algorithm>
#include <cmath>

#include "info.h"
#include "v8_versions.h"

namespace clsort {

namespace {

/** Describes a value for an error message. Runs no JavaScript. */
std::string Describe(v8::Local<v8::Value> value) {
  if (value->IsString()) return "a string";
  if (value->IsSymbol()) return "a symbol";
  if (value->IsFunction()) return "a function";
  if (value->IsArray()) return "an array of " + std::to_string(value.As<v8::Array>()->Length()) + " elements";
  if (value->IsObject()) return "an object";
  return *Nan::Utf8String(value);
}

std::string VersionText(unsigned version) {
  return std::to_string(version / 100) + "." + std::to_string(version / 10 % 10);
}

/** Returns the parent of a sub-device, or null. */
cl_device_id ParentOf(cl_device_id device) {
  cl_device_id parent = nullptr;
  api.clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr);
  return parent;
}

v8::Local<v8::String> TextValue(const std::string& text) { return Nan::New(text).ToLocalChecked(); }

}  // namespace

Environment* EnvironmentOf(const Nan::FunctionCallbackInfo<v8::Value>& info) {
  return static_cast<Environment*>(PointerOf(info.Data().As<v8::External>(), 0));
}

v8::Local<v8::Value> MakeError(Environment& environment, cl_int status, const char* call, const std::string& reason,
                               const std::string& log) {
  Nan::EscapableHandleScope scope;
  v8::Local<v8::Value> arguments[] = {Nan::New(status), TextValue(call), TextValue(reason), TextValue(log)};
  if (environment.make_error.IsEmpty()) return scope.Escape(Nan::Error(call));
  v8::Local<v8::Value> error;
  if (Nan::Call(Nan::New(environment.make_error), Nan::New<v8::Object>(), 4, arguments).ToLocal(&error)) {
    return scope.Escape(error);
  }
  return {};
}

Call::Call(const Nan::FunctionCallbackInfo<v8::Value>& info, const char* name)
    : info_(info),
      environment_(EnvironmentOf(info)),
      name_(name),
      first_handed_out_(environment_->handed_out().size()) {
  // Delete objects of handles collected since the last call: a loop that never yields must not accumulate them.
  if (environment_->objects().HasCollected()) environment_->objects().DeleteCollected();
}

bool Call::Fail(cl_int status, const std::string& reason, const std::string& log) {
  if (failed_) return false;
  failed_ = true;
  std::string subject = subject_ ? subject_ : "";
  if (number_ > 0) subject += " " + std::to_string(number_);
  bool named = reason.compare(0, subject.size(), subject) == 0;
  auto error =
      MakeError(*environment_, status, name_, named ? reason : subject + (reason.empty() ? "" : ": ") + reason, log);
  if (!error.IsEmpty()) Nan::ThrowError(error);
  return false;
}

bool Call::FailExpected(cl_int status, const std::string& expected, const std::string& got) {
  std::string ordinal = subject_ || argument_ < 0 ? "" : Ordinal(argument_) + ": ";
  return Fail(status, ordinal + "expected " + expected + " but got " + got);
}

bool Call::FailValue(cl_int status, const std::string& expected, v8::Local<v8::Value> value) {
  return !failed_ && FailExpected(status, expected, Describe(value));
}

bool Call::FailVersion(unsigned have, unsigned need) {
  return Fail(kUnsupported, "it needs OpenCL " + VersionText(need) + "; the platform has OpenCL " + VersionText(have));
}

bool Call::FitsContext(Object& object) {
  if (object.kind == Kind::kPlatform) return true;
  if (!first_of_context_) {
    if (object.kind != Kind::kDevice) first_of_context_ = &object;
    return true;
  }
  if (&object == first_of_context_) return true;
  cl_context context = first_of_context_->Context();
  if (!context) return true;
  if (object.kind != Kind::kDevice) return !object.Context() || object.Context() == context;
  std::vector<cl_device_id> devices;
  if (DevicesOf(context, &devices) != CL_SUCCESS) return true;
  // PoCL lists the root device in a context of a sub-device.
  auto device = object.As<cl_device_id>();
  while (device && std::find(devices.begin(), devices.end(), device) == devices.end()) device = ParentOf(device);
  return device != nullptr;
}

void Call::HandOut(Object& object, cl_int status) {
  if (!first_object_) first_object_ = &object;
  bool fits_platform = object.platform == first_object_->platform;
  if (fits_platform && FitsContext(object)) return environment_->handed_out().push_back({&object, {}, 0, status});
  bool device = object.kind == Kind::kDevice;
  std::string name = NameOf(object.kind), other = NameOf((fits_platform ? first_of_context_ : first_object_)->kind);
  Fail(device ? CL_INVALID_DEVICE : CL_INVALID_CONTEXT,
       !fits_platform ? "the " + name + " is of another platform than the " + other
       : device       ? "the Device is not in the context: use one of the devices that the context was created for"
                      : "the " + name + " is of another context than the " + other);
}

const SvmMemory* Call::Shared(const void* data) {
  const SvmMemory* found = environment_->svm().Find(data);
  if (!found || !first_of_context_) return found;
  cl_context context = first_of_context_->Context();
  if (!context || found->context() == context) return found;
  Fail(CL_INVALID_CONTEXT,
       std::string("the shared virtual memory is of another context than the ") + NameOf(first_of_context_->kind));
  return nullptr;
}

bool Call::CheckAgain() {
  ran_javascript_ = false;
  const auto& handed_out = environment_->handed_out();
  for (size_t i = first_handed_out_; i < handed_out.size(); i++) {
    const HandedOut& one = handed_out[i];
    if (one.object && (!one.object->raw || one.object->HostDetached())) {
      return Fail(one.status,
                  std::string("the ") + NameOf(one.object->kind) + " was released while the arguments were read");
    }
    if (one.end > 0 && one.buffer->ByteLength() < one.end) {
      return Fail(one.status, "the ArrayBuffer was detached or shrunk while the arguments were read");
    }
  }
  return true;
}

std::shared_ptr<Object> Call::Handle(v8::Local<v8::Value> value, Kind kind, cl_int status) {
  if (failed_) return nullptr;
  auto object = UnwrapAny(*environment_, kind, value);
  if (object && object->raw && !object->HostDetached()) {
    HandOut(*object, status);
    return failed_ ? nullptr : object;
  }
  if (object && object->raw) {
    Fail(status, std::string("the ArrayBuffer that contains the ") + NameOf(kind) + " was detached");
    return nullptr;
  }
  if (object) {
    Fail(status, std::string("the ") + NameOf(kind) + " was released");
  } else {
    FailValue(status, std::string("a handle of kind ") + NameOf(kind), value);
  }
  return nullptr;
}

Object* Call::Borrow(int i, Kind kind) {
  if (failed_) return nullptr;
  Object* object = BorrowHandle(*environment_, kind, info_[i]);
  if (!object) return Handle(i, kind).get();  // throws
  HandOut(*object, InvalidStatus(kind));
  return failed_ ? nullptr : object;
}

Retained Call::Hold(const Object& object) {
  if (!ok() || !Check(Retain(object.kind, object.platform, object.raw))) return {};
  return Retained(object.kind, object.platform, object.raw);
}

std::vector<std::shared_ptr<Object>> Call::Handles(int i, Kind kind, cl_int status) {
  std::vector<std::shared_ptr<Object>> objects;
  if (failed_ || !Has(i)) return objects;
  ArgumentScope scope(this, i);
  for (auto element : Elements(info_[i], status)) objects.push_back(Handle(element, kind, InvalidStatus(kind)));
  if (failed_) objects.clear();
  return objects;
}

cl_int Call::Await(const Platform& platform, const std::vector<cl_event>& events) {
  bool terminated = false;
  cl_int status = environment_->Await(platform, events, &terminated);
  if (terminated) failed_ = true;
  return status;
}

bool Call::CheckWait(cl_int status) {
  bool detached = environment_->in_flight().SweepAndCheckDetached();
  if (!Check(status)) return false;
  return !detached || Fail(CL_INVALID_HOST_PTR, kDetachedReason);
}

void Call::ReturnHandle(cl_int status, Kind kind, void* raw, Platform* platform) {
  if (Check(status)) Return(Wrap(*environment_, kind, raw, platform));
}

v8::Local<v8::Object> Call::WrapEvent(cl_event event, Object& queue) {
  auto handle = Wrap(*environment_, Kind::kEvent, event, queue.platform);
  Unwrap(*environment_, Kind::kEvent, handle)->queue = queue.weak_from_this();
  return handle;
}

void Call::ReturnEvent(cl_int status, bool wanted, cl_event event, Object& queue) {
  if (!Check(status)) return;
  if (wanted) {
    Return(WrapEvent(event, queue));
  } else {
    ReturnSuccess();
  }
}

namespace {

struct Function {
  const char* name;
  v8::FunctionCallback callback;
};

/** The exported functions. Objects of other files add to it before this file is initialised. */
std::vector<Function>& Functions() {
  static std::vector<Function>& functions = *new std::vector<Function>;
  return functions;
}

}  // namespace

Export::Export(const char* name, v8::FunctionCallback callback) { Functions().push_back({name, callback}); }

void Export::SetAll(Environment& environment, v8::Local<v8::Object> target) {
  auto data = NewExternal(environment.isolate(), &environment, 0);
  for (auto [name, callback] : Functions()) {
    auto constructor = v8::FunctionTemplate::New(v8::Isolate::GetCurrent(), callback, data);
    auto function = Nan::GetFunction(constructor).ToLocalChecked();
    auto key = Nan::New(name).ToLocalChecked();
    function->SetName(key);
    Nan::Set(target, key, function);
  }
}

std::string FunctionName(const char* verb, Kind kind) {
  return std::string("cl") + verb + NameOf(kind) + (kind == Kind::kCommandBuffer ? "KHR" : "");
}

void RetainHandle(Call& call, Kind kind) {
  auto object = call.Handle(0, kind);
  if (!call.ok() || !call.Check(Retain(kind, object->platform, object->raw))) return;
  object->references++;
  call.ReturnSuccess();
}

void ReleaseHandle(Call& call, Kind kind) {
  auto object = UnwrapAny(call.environment(), kind, call[0]);
  if (object && object->released_with_all) return call.ReturnSuccess();
  if (!object || !object->raw) return (void)call.Handle(0, kind);  // throws
  cl_int status = CL_SUCCESS;
  if (object->references > 1) {
    status = Release(kind, object->platform, object->raw);
    if (status == CL_SUCCESS) object->references--;
  } else if (kind == Kind::kCommandQueue && call.environment().AwaitsItself(*object->platform)) {
    object->ReleaseLater();  // drivers block until the queue is empty; only this thread can complete its user events
  } else {
    OwnedReference last = object->TakeReferences();
    if (last.count) status = Release(kind, last.platform, last.raw);
  }
  if (call.Check(status)) call.ReturnSuccess();
}

}  // namespace clsort
