#include "object.h"

#include "command_buffer.h"
#include "environment.h"
#include "v8_versions.h"

namespace clsort {

namespace {

/** Releases references on a pool thread: clRelease… blocks in some drivers. */
class ReleaseJob final : public Job {
 public:
  explicit ReleaseJob(OwnedReference reference) : reference_(reference) {}
  void Run() override { reference_.Give(); }
  bool Essential() const override { return true; }
  bool Awaited() const override { return false; }

 private:
  OwnedReference reference_;
};

void OnCollected(const v8::WeakCallbackInfo<Handle>& info) {
  Handle* handle = info.GetParameter();
  Environment* environment = handle->environment;
  environment->objects().Collected(handle);
  environment->Wake();
}

Handle* HandleOf(Environment& environment, Kind kind, v8::Local<v8::Value> value) {
  if (!value->IsObject()) return nullptr;
  if (!Nan::New(environment.templates[static_cast<size_t>(kind)])->HasInstance(value)) return nullptr;
  return static_cast<Handle*>(Nan::GetInternalFieldPointer(value.As<v8::Object>(), 0));
}

NAN_METHOD(Construct) { Nan::ThrowTypeError("Illegal constructor: use the create… and get… functions"); }

}  // namespace

const char* NameOf(Kind kind) {
  static const char* const names[kKinds] = {"Platform", "Device",  "Context", "CommandQueue", "MemObject",
                                            "Sampler",  "Program", "Kernel",  "Event",        "CommandBuffer"};
  return names[static_cast<size_t>(kind)];
}

cl_int InvalidStatus(Kind kind) {
  static const cl_int statuses[kKinds] = {CL_INVALID_PLATFORM,   CL_INVALID_DEVICE,
                                          CL_INVALID_CONTEXT,    CL_INVALID_COMMAND_QUEUE,
                                          CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER,
                                          CL_INVALID_PROGRAM,    CL_INVALID_KERNEL,
                                          CL_INVALID_EVENT,      -1138 /* CL_INVALID_COMMAND_BUFFER_KHR */};
  return statuses[static_cast<size_t>(kind)];
}

cl_int Retain(Kind kind, const Platform* platform, void* raw) {
  switch (kind) {
    case Kind::kPlatform: return CL_SUCCESS;
    case Kind::kDevice:
      return platform->version < api.clRetainDevice.since ? CL_SUCCESS
                                                          : api.clRetainDevice(static_cast<cl_device_id>(raw));
    case Kind::kContext: return api.clRetainContext(static_cast<cl_context>(raw));
    case Kind::kCommandQueue: return api.clRetainCommandQueue(static_cast<cl_command_queue>(raw));
    case Kind::kMemObject: return api.clRetainMemObject(static_cast<cl_mem>(raw));
    case Kind::kSampler: return api.clRetainSampler(static_cast<cl_sampler>(raw));
    case Kind::kProgram: return api.clRetainProgram(static_cast<cl_program>(raw));
    case Kind::kKernel: return api.clRetainKernel(static_cast<cl_kernel>(raw));
    case Kind::kEvent: return api.clRetainEvent(static_cast<cl_event>(raw));
    case Kind::kCommandBuffer: return RetainRecording(raw);
  }
  return CL_INVALID_VALUE;
}

cl_int Release(Kind kind, const Platform* platform, void* raw) {
  switch (kind) {
    case Kind::kPlatform: return CL_SUCCESS;
    case Kind::kDevice:
      return platform->version < api.clReleaseDevice.since ? CL_SUCCESS
                                                           : api.clReleaseDevice(static_cast<cl_device_id>(raw));
    case Kind::kContext: return api.clReleaseContext(static_cast<cl_context>(raw));
    case Kind::kCommandQueue: return api.clReleaseCommandQueue(static_cast<cl_command_queue>(raw));
    case Kind::kMemObject: return api.clReleaseMemObject(static_cast<cl_mem>(raw));
    case Kind::kSampler: return api.clReleaseSampler(static_cast<cl_sampler>(raw));
    case Kind::kProgram: return api.clReleaseProgram(static_cast<cl_program>(raw));
    case Kind::kKernel: return api.clReleaseKernel(static_cast<cl_kernel>(raw));
    case Kind::kEvent: return api.clReleaseEvent(static_cast<cl_event>(raw));
    case Kind::kCommandBuffer: return ReleaseRecording(raw);
  }
  return CL_INVALID_VALUE;
}

void OwnedReference::Give() const {
  for (unsigned i = 0; i < count; i++) Release(kind, platform, raw);
}

Object::Object(Environment* environment, Kind kind, void* raw, Platform* platform, unsigned references)
    : environment(environment), kind(kind), raw(raw), platform(platform), references(raw ? references : 0) {
  environment->objects().Add(this);
}

Object::~Object() {
  environment->objects().Remove(this);
  ReleaseLater();
}

void Object::ReleaseLater() {
  OwnedReference reference = TakeReferences();
  if (reference.count > 0) {
    environment->Start(std::make_unique<ReleaseJob>(reference), reference.platform);
  }
}

OwnedReference Object::TakeReferences() {
  // Members released here may own the last reference to this object.
  std::shared_ptr<Object> self = weak_from_this().lock();
  if (open_user_event) {
    // Nothing can complete it any more, so a wait for it would never end.
    SetOpenUserEvent(false);
    cl_int status = user_events.MayFail(As<cl_event>()) ? CL_INVALID_EVENT : CL_COMPLETE;
    user_events.Settle(As<cl_event>(), status, platform->keeps_bare_waiters);
    environment->waits().AskSoon();
  }
  if (kind == Kind::kCommandQueue && raw) environment->svm().KeepUntilQueueEnds(*this);
  if (kind == Kind::kCommandQueue && raw && references > 0) environment->Retire(*this);
  OwnedReference taken{kind, platform, raw, references};
  raw = nullptr;
  references = 0;
  arguments.clear();
  indirect_svm.clear();
  if (kind == Kind::kMemObject) environment->mappings().Drop(this, environment->external_array_buffers());
  host_buffer.Reset();
  host_store.reset();
  ReportMemory(0);
  error_callback.reset();
  return taken;
}

cl_context Object::Context() {
  if (context_ || !raw) return context_;
  auto ask = [this](const auto& function, auto object, auto name) {
    function(object, name, sizeof context_, &context_, nullptr);
  };
  switch (kind) {
    case Kind::kPlatform:
    case Kind::kDevice: break;
    case Kind::kContext: context_ = As<cl_context>(); break;
    case Kind::kCommandQueue: ask(api.clGetCommandQueueInfo, As<cl_command_queue>(), CL_QUEUE_CONTEXT); break;
    case Kind::kMemObject: ask(api.clGetMemObjectInfo, As<cl_mem>(), CL_MEM_CONTEXT); break;
    case Kind::kSampler: ask(api.clGetSamplerInfo, As<cl_sampler>(), CL_SAMPLER_CONTEXT); break;
    case Kind::kProgram: ask(api.clGetProgramInfo, As<cl_program>(), CL_PROGRAM_CONTEXT); break;
    case Kind::kKernel: ask(api.clGetKernelInfo, As<cl_kernel>(), CL_KERNEL_CONTEXT); break;
    case Kind::kEvent: ask(api.clGetEventInfo, As<cl_event>(), CL_EVENT_CONTEXT); break;
    case Kind::kCommandBuffer: context_ = recorded_on->Context(); break;
  }
  return context_;
}

void Object::SetOpenUserEvent(bool open) {
  if (open == open_user_event) return;
  open_user_event = open;
  environment->CountOpenUserEvents(open ? 1 : -1);
}

void Object::ReportMemory(size_t bytes) {
  auto now = static_cast<int64_t>(bytes);
  int64_t change = now - std::exchange(reported_bytes_, now);
  if (change != 0) AdjustExternalBytes(environment->isolate(), change);
}

bool Object::HostDetached() const { return !host_buffer.IsEmpty() && Nan::New(host_buffer)->WasDetached(); }

std::vector<std::shared_ptr<Object>> ObjectRegistry::OfKind(Kind kind) const {
  std::vector<std::shared_ptr<Object>> found;
  for (Object* object : objects_) {
    if (object->kind != kind || !object->raw) continue;
    if (auto shared = object->weak_from_this().lock()) found.push_back(std::move(shared));
  }
  return found;
}

void ObjectRegistry::Collected(Handle* handle) {
  handle->handle.Reset();
  collected_.push_back(std::move(handle->object));
  handles_.erase(handle);
  delete handle;
}

void ObjectRegistry::DeleteCollected() {
  auto dead = std::move(collected_);
  collected_.clear();
}

void ObjectRegistry::DropHandles() {
  for (Handle* handle : handles_) {
    handle->handle.Reset();
    collected_.push_back(std::move(handle->object));
    delete handle;
  }
  handles_.clear();
  DeleteCollected();
}

void InitializeClasses(Environment& environment, v8::Local<v8::Object> exports) {
  for (size_t kind = 0; kind < kKinds; kind++) {
    auto constructor = Nan::New<v8::FunctionTemplate>(Construct);
    auto name = Nan::New(NameOf(static_cast<Kind>(kind))).ToLocalChecked();
    constructor->SetClassName(name);
    constructor->InstanceTemplate()->SetInternalFieldCount(1);
    environment.templates[kind].Reset(constructor);
    Nan::Set(exports, name, Nan::GetFunction(constructor).ToLocalChecked());
  }
}

v8::Local<v8::Object> Wrap(Environment& environment, Kind kind, void* raw, Platform* platform, unsigned references) {
  Nan::EscapableHandleScope scope;
  auto constructor = Nan::New(environment.templates[static_cast<size_t>(kind)]);
  auto object = Nan::NewInstance(constructor->InstanceTemplate()).ToLocalChecked();
  auto* handle = new Handle{&environment, std::make_shared<Object>(&environment, kind, raw, platform, references), {}};
  Nan::SetInternalFieldPointer(object, 0, handle);
  environment.objects().Add(handle);
  v8::Global<v8::Object>& weak = handle->handle;
  weak.Reset(environment.isolate(), object);
  weak.SetWeak(handle, OnCollected, v8::WeakCallbackType::kParameter);
  return scope.Escape(object);
}

std::shared_ptr<Object> UnwrapAny(Environment& environment, Kind kind, v8::Local<v8::Value> value) {
  Handle* handle = HandleOf(environment, kind, value);
  return handle ? handle->object : nullptr;
}

Object* BorrowHandle(Environment& environment, Kind kind, v8::Local<v8::Value> value) {
  Handle* handle = HandleOf(environment, kind, value);
  Object* object = handle ? handle->object.get() : nullptr;
  return object && object->raw && !object->HostDetached() ? object : nullptr;
}

std::shared_ptr<Object> Unwrap(Environment& environment, Kind kind, v8::Local<v8::Value> value) {
  auto object = UnwrapAny(environment, kind, value);
  return object && object->raw ? object : nullptr;
}

}  // namespace clsort
