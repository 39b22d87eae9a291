#include "info.h"
#include "once.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kContextInfo = {
    {CL_CONTEXT_REFERENCE_COUNT, Info::kUint},
    {CL_CONTEXT_NUM_DEVICES, Info::kUint},
    {CL_CONTEXT_DEVICES, Info::kHandles, Kind::kDevice},
    {CL_CONTEXT_PROPERTIES, Info::kProperties},
};

/** What a context's error callback needs. Drivers keep the pointer for as long as they like: never freed. */
struct Notify {
  std::shared_ptr<Mailbox> mailbox;
  uint64_t callback;
};

void CL_CALLBACK OnContextError(const char* message, const void* data, size_t bytes, void* user_data) {
  auto* notify = static_cast<Notify*>(user_data);
  std::string text = message ? message : "";
  std::string details(static_cast<const char*>(data), data ? bytes : 0);
  notify->mailbox->Post([id = notify->callback, text, details](Environment& environment) {
    Callback* callback = environment.PeekCallback(id);
    if (!callback) return;
    v8::Local<v8::Value> arguments[] = {
        Nan::New(text).ToLocalChecked(),
        Nan::CopyBuffer(details.data(), static_cast<uint32_t>(details.size())).ToLocalChecked(),
        Nan::New(callback->data),
    };
    Nan::Call(Nan::New(callback->function), Nan::New<v8::Object>(), 3, arguments);
  });
}

Notify* MakeNotify(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data) {
  if (function.IsEmpty()) return nullptr;
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(data);
  callback->awaited = false;  // errors may never come
  return new Notify{call.environment().mailbox(), call.environment().AddCallback(std::move(callback))};
}

/** Returns a new context, or lets go of what was made for its error callback. */
void ReturnContext(Call& call, cl_int status, cl_context context, Platform* platform, Notify* notify) {
  if (status != CL_SUCCESS && notify) {
    call.environment().TakeCallback(notify->callback);
    delete notify;
  }
  call.ReturnHandle(status, Kind::kContext, context, platform);
}

/** The platform of the first device of a context. */
cl_int PlatformOfContext(cl_context context, Platform** platform) {
  size_t bytes = 0;
  cl_int status = api.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id) + 1);
  cl_platform_id id = nullptr;
  if (status == CL_SUCCESS) {
    status = api.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr);
  }
  if (status == CL_SUCCESS) {
    status = api.clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof id, &id, nullptr);
  }
  if (status != CL_SUCCESS) return status;
  *platform = PlatformOf(id);
  return (*platform)->status;
}

NAN_METHOD(CreateContext) {
  Call call(info, "clCreateContext");
  auto properties = call.Properties<cl_context_properties>(0, CL_INVALID_PROPERTY);
  if (call.ok() && !call.Has(1)) return (void)call.Fail(CL_INVALID_VALUE, "argument 2: expected devices");
  auto devices = call.Handles(1, Kind::kDevice, CL_INVALID_VALUE);
  auto function = call.Callable(2);
  if (!call.Loaded(api.clCreateContext)) return;
  if (devices.empty()) return (void)call.Fail(CL_INVALID_VALUE, "argument 2: expected at least one device");
  std::vector<cl_device_id> ids;
  for (auto& device : devices) ids.push_back(device->As<cl_device_id>());
  Notify* notify = MakeNotify(call, function, call[3]);
  cl_int status = CL_SUCCESS;
  cl_context context =
      api.clCreateContext(properties.empty() ? nullptr : properties.data(), static_cast<cl_uint>(ids.size()),
                          ids.data(), notify ? OnContextError : nullptr, notify, &status);
  ReturnContext(call, status, context, devices[0]->platform, notify);
}

NAN_METHOD(CreateContextFromType) {
  Call call(info, "clCreateContextFromType");
  auto properties = call.Properties<cl_context_properties>(0, CL_INVALID_PROPERTY);
  cl_device_type type = 0;
  if (call.ok() && call[1]->IsArray()) {  // several types, as node-opencl took them
    auto types = call.Array(1);
    for (uint32_t i = 0; i < types->Length(); i++) {
      type |= call.Unsigned(Nan::Get(types, i).ToLocalChecked(), CL_INVALID_DEVICE_TYPE);
    }
  } else {
    type = call.Unsigned(call[1], CL_INVALID_DEVICE_TYPE);
  }
  auto function = call.Callable(2);
  if (!call.Loaded(api.clCreateContextFromType)) return;
  Notify* notify = MakeNotify(call, function, call[3]);
  cl_int status = CL_SUCCESS;
  cl_context context = api.clCreateContextFromType(properties.empty() ? nullptr : properties.data(), type,
                                                   notify ? OnContextError : nullptr, notify, &status);
  Platform* platform = nullptr;
  if (status == CL_SUCCESS) {
    status = PlatformOfContext(context, &platform);
    if (status != CL_SUCCESS) api.clReleaseContext(context);
  }
  ReturnContext(call, status, context, platform, notify);
}

NAN_METHOD(RetainContext) {
  Call call(info, "clRetainContext");
  RetainHandle(call, Kind::kContext);
}

NAN_METHOD(ReleaseContext) {
  Call call(info, "clReleaseContext");
  ReleaseHandle(call, Kind::kContext);
}

NAN_METHOD(GetContextInfo) {
  Call call(info, "clGetContextInfo");
  auto context = call.Handle(0, Kind::kContext);
  cl_uint name = call.Uint(1);
  ReturnInfo(call, name, kContextInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetContextInfo(context->As<cl_context>(), name, bytes, value, needed);
             },
             context ? context->platform : nullptr);
}

void CL_CALLBACK OnContextDestroyed(cl_context, void* user_data) { PostOnce(user_data); }

NAN_METHOD(SetContextDestructorCallback) {
  Call call(info, "clSetContextDestructorCallback");
  auto context = call.Handle(0, Kind::kContext);
  auto function = call.Callable(1);
  if (!call.ok() || !call.Supported(api.clSetContextDestructorCallback, context->platform)) return;
  if (function.IsEmpty()) return (void)call.Fail(CL_INVALID_VALUE, "argument 2: expected a function");
  Once* once = MakeOnce(call, function, call[2]);
  cl_int status = api.clSetContextDestructorCallback(context->As<cl_context>(), OnContextDestroyed, once);
  if (status != CL_SUCCESS) CancelOnce(call.environment(), once);
  if (call.Check(status)) call.ReturnSuccess();
}

}  // namespace

void ExportContext(Exports& exports) {
  exports.Set<CreateContext>("createContext");
  exports.Set<CreateContextFromType>("createContextFromType");
  exports.Set<RetainContext>("retainContext");
  exports.Set<ReleaseContext>("releaseContext");
  exports.Set<GetContextInfo>("getContextInfo");
  exports.Set<SetContextDestructorCallback>("setContextDestructorCallback");
}

}  // namespace clsort
