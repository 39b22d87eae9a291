#include <algorithm>

#include "id_table.h"
#include "info.h"
#include "one_shot_callback.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kContextInfo = {
    {CL_CONTEXT_REFERENCE_COUNT, Info::kUint},
    {CL_CONTEXT_NUM_DEVICES, Info::kUint},
    {CL_CONTEXT_DEVICES, Info::kHandles, Kind::kDevice},
    {CL_CONTEXT_PROPERTIES, Info::kProperties},
};

/** Destination of the errors of a context. */
struct Notify {
  std::shared_ptr<Mailbox> mailbox;
  uint64_t callback = 0;
};

/** Error callbacks of the living contexts. Never destroyed: drivers report errors at any time. */
IdTable<Notify>& notifies = *new IdTable<Notify>;

void CL_CALLBACK OnContextError(const char* message, const void* data, size_t bytes, void* number) {
  Notify notify = notifies.Find(number);
  if (!notify.mailbox) return;
  std::string text = message ? message : "";
  std::string details(static_cast<const char*>(data), data ? bytes : 0);
  notify.mailbox->Post([id = notify.callback, text, details](Environment& environment) {
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

/** Stores the error callback and returns the number that the driver passes back; null without a callback. */
void* MakeNotify(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data) {
  if (function.IsEmpty()) return nullptr;
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(data);
  callback->awaited = false;  // an error may never occur, so the process does not wait for one
  return notifies.Add({call.environment().mailbox(), call.environment().AddCallback(std::move(callback))});
}

/** Frees the error callback. Runs on the JavaScript thread. */
void DropNotify(Environment& environment, void* number) {
  environment.TakeCallback(notifies.Find(number).callback);
  notifies.Remove(number);
}

void CL_CALLBACK OnContextGone(cl_context, void* number) {
  if (auto mailbox = notifies.Find(number).mailbox) {
    mailbox->Post([number](Environment& environment) { DropNotify(environment, number); });
  }
}

/**
 * Returns a new context. Its error callback is freed with the context, or with the handle if the driver does not report
 * the destruction of contexts.
 */
void ReturnContext(Call& call, cl_int status, cl_context context, Platform* platform, void* number) {
  Environment& environment = call.environment();
  if (status != CL_SUCCESS) {
    if (number) DropNotify(environment, number);
    return (void)call.Check(status);
  }
  auto handle = Wrap(environment, Kind::kContext, context, platform);
  call.Return(handle);
  if (!number) return;
  if (Has(*platform, api.clSetContextDestructorCallback) &&
      api.clSetContextDestructorCallback(context, OnContextGone, number) == CL_SUCCESS) {
    return;
  }
  Unwrap(environment, Kind::kContext, handle)->error_callback =
      std::shared_ptr<void>(number, [&environment](void* ended) { DropNotify(environment, ended); });
}

/** Returns the platform of the first device of a context. */
cl_int PlatformOfContext(cl_context context, Platform** platform) {
  std::vector<cl_device_id> devices;
  cl_platform_id id = nullptr;
  cl_int status = DevicesOf(context, &devices);
  if (status == CL_SUCCESS) {
    cl_device_id first = devices.empty() ? nullptr : devices[0];
    status = api.clGetDeviceInfo(first, CL_DEVICE_PLATFORM, sizeof id, &id, nullptr);
  }
  if (status != CL_SUCCESS) return status;
  *platform = PlatformOf(id);
  return (*platform)->status;
}

/** Reads the properties of a context. A number may be passed as a platform, and drivers would use it as a pointer. */
std::vector<cl_context_properties> ReadProperties(Call& call, int i) {
  auto properties = call.Properties<cl_context_properties>(i, CL_INVALID_PROPERTY);
  for (size_t k = 0; k + 1 < properties.size() && properties[k] != 0; k += 2) {
    if (properties[k] != CL_CONTEXT_PLATFORM || !call.Loaded(api.clGetPlatformIDs)) continue;
    cl_uint count = 0;
    if (!call.Check(api.clGetPlatformIDs(0, nullptr, &count))) break;
    std::vector<cl_platform_id> ids(count);
    if (!call.Check(api.clGetPlatformIDs(count, ids.data(), nullptr))) break;
    auto id = reinterpret_cast<cl_platform_id>(properties[k + 1]);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      call.FailArgument(0, CL_INVALID_PLATFORM, "a platform after CONTEXT_PLATFORM", "another value");
    }
  }
  return properties;
}

CLSORT_EXPORT(createContext, "clCreateContext") {
  auto properties = ReadProperties(call, 0);
  if (call.ok() && !call.Has(1)) return (void)call.FailArgument(1, CL_INVALID_VALUE, "devices");
  auto devices = call.Handles(1, Kind::kDevice, CL_INVALID_VALUE);
  auto function = call.Callable(2);
  if (!call.Loaded(api.clCreateContext)) return;
  if (devices.empty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "at least one device");
  std::vector<cl_device_id> ids;
  for (auto& device : devices) ids.push_back(device->As<cl_device_id>());
  void* notify = MakeNotify(call, function, call[3]);
  cl_int status = CL_SUCCESS;
  cl_context context =
      api.clCreateContext(properties.empty() ? nullptr : properties.data(), static_cast<cl_uint>(ids.size()),
                          ids.data(), notify ? OnContextError : nullptr, notify, &status);
  ReturnContext(call, status, context, devices[0]->platform, notify);
}

CLSORT_EXPORT(createContextFromType, "clCreateContextFromType") {
  auto properties = ReadProperties(call, 0);
  cl_device_type type = 0;
  if (call.ok() && call[1]->IsArray()) {  // several types in an array, as in node-opencl
    for (auto one : call.Elements(1)) type |= call.Unsigned(one, CL_INVALID_DEVICE_TYPE);
  } else {
    type = call.Unsigned(1, CL_INVALID_DEVICE_TYPE);
  }
  auto function = call.Callable(2);
  if (!call.Loaded(api.clCreateContextFromType)) return;
  void* notify = MakeNotify(call, function, call[3]);
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

CLSORT_EXPORT(getContextInfo, "clGetContextInfo") {
  ReturnInfoOf<cl_context>(call, Kind::kContext, kContextInfo, api.clGetContextInfo);
}

void CL_CALLBACK OnContextDestroyed(cl_context, void* user_data) { PostOneShot(user_data); }

CLSORT_EXPORT(setContextDestructorCallback, "clSetContextDestructorCallback") {
  auto context = call.Handle(0, Kind::kContext);
  auto function = call.Callable(1);
  if (!call.ok() || !call.Supported(api.clSetContextDestructorCallback, context->platform)) return;
  if (function.IsEmpty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "a function");
  OneShotCallback* one_shot = MakeOneShot(call, function, call[2]);
  cl_int status = api.clSetContextDestructorCallback(context->As<cl_context>(), OnContextDestroyed, one_shot);
  if (status != CL_SUCCESS) CancelOneShot(call.environment(), one_shot);
  if (call.Check(status)) call.ReturnSuccess();
}

const Export kRetainContext("retainContext", Export::Invoke<RetainObject<Kind::kContext>>);
const Export kReleaseContext("releaseContext", Export::Invoke<ReleaseObject<Kind::kContext>>);

}  // namespace

}  // namespace clsort
