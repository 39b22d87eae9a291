#include "info.h"

#include <cstring>

namespace clsort {

namespace {

template <typename T>
T At(const std::vector<char>& bytes, size_t i = 0) {
  T value{};
  if ((i + 1) * sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

v8::Local<v8::Value> Text(const char* text, size_t length) {
  length = strnlen(text, length);  // drivers count one terminating zero or several
  return Nan::New(text, static_cast<int>(length)).ToLocalChecked();
}

template <typename T>
v8::Local<v8::Array> Numbers(const std::vector<char>& bytes) {
  auto array = Nan::New<v8::Array>();
  for (size_t i = 0; i < bytes.size() / sizeof(T); i++) {
    Nan::Set(array, static_cast<uint32_t>(i), Nan::New(static_cast<double>(At<T>(bytes, i))));
  }
  return array;
}

/** Returns whether a device is a sub-device: only those are reference-counted. */
bool IsSubDevice(Call& call, cl_device_id device, const Platform* platform) {
  cl_device_id parent = nullptr;
  return platform->version >= 120 &&
         call.Check(api.clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, nullptr)) &&
         parent != nullptr;
}

/** Returns a handle of an object that the driver returned and retains the object; throws if that fails. */
v8::Local<v8::Value> NewHandle(Call& call, Kind kind, void* raw, Platform* platform) {
  unsigned references = 0;
  if (!raw) {
  } else if (kind == Kind::kPlatform) {
    platform = PlatformOf(static_cast<cl_platform_id>(raw));
    call.Check(platform->status);
  } else if (kind != Kind::kDevice || IsSubDevice(call, static_cast<cl_device_id>(raw), platform)) {
    references = call.Check(Retain(kind, platform, raw)) ? 1 : 0;
  }
  return Wrap(call.environment(), kind, raw, platform, references);
}

v8::Local<v8::Value> Versions(const std::vector<char>& bytes) {
  auto array = Nan::New<v8::Array>();
  for (size_t i = 0; i < bytes.size() / sizeof(cl_name_version); i++) {
    auto row = At<cl_name_version>(bytes, i);
    auto object = Nan::New<v8::Object>();
    Nan::Set(object, Nan::New("name").ToLocalChecked(), Text(row.name, sizeof row.name));
    Nan::Set(object, Nan::New("version").ToLocalChecked(), Nan::New(row.version));
    Nan::Set(array, static_cast<uint32_t>(i), object);
  }
  return array;
}

v8::Local<v8::Value> Format(const cl_image_format& format) {
  auto array = Nan::New<v8::Array>(2);
  Nan::Set(array, 0, Nan::New(format.image_channel_order));
  Nan::Set(array, 1, Nan::New(format.image_channel_data_type));
  SetFormat(array, format);
  return array;
}

v8::Local<v8::Value> ByLength(const std::vector<char>& bytes) {
  if (bytes.size() == sizeof(cl_uint)) return Nan::New(At<cl_uint>(bytes));
  if (bytes.size() == sizeof(cl_ulong)) return HighLow(At<cl_ulong>(bytes));
  return Nan::CopyBuffer(bytes.data(), static_cast<uint32_t>(bytes.size())).ToLocalChecked();
}

}  // namespace

v8::Local<v8::Array> HighLow(cl_ulong value) {
  auto array = Nan::New<v8::Array>(2);
  Nan::Set(array, 0, Nan::New(static_cast<uint32_t>(value >> 32)));
  Nan::Set(array, 1, Nan::New(static_cast<uint32_t>(value)));
  return array;
}

void SetFormat(v8::Local<v8::Object> target, const cl_image_format& format) {
  Nan::Set(target, Nan::New("channel_order").ToLocalChecked(), Nan::New(format.image_channel_order));
  Nan::Set(target, Nan::New("channel_data_type").ToLocalChecked(), Nan::New(format.image_channel_data_type));
}

void ReturnInfo(Call& call, cl_uint name, const std::vector<InfoRow>& table, const InfoQuery& query,
                Platform* platform) {
  if (!call.ok()) return;
  size_t length = 0;
  if (!call.Check(query(0, nullptr, &length))) return;
  std::vector<char> bytes(length);
  if (length > 0 && !call.Check(query(length, bytes.data(), nullptr))) return;

  const InfoRow* row = nullptr;
  for (const InfoRow& candidate : table) {
    if (candidate.name == name) row = &candidate;
  }
  if (!row) return call.Return(ByLength(bytes));
  switch (row->type) {
    case Info::kText: return call.Return(Text(bytes.data(), bytes.size()));
    case Info::kBool: return call.Return(Nan::New(At<cl_bool>(bytes) != CL_FALSE));
    case Info::kUint:
    case Info::kVersion: return call.Return(Nan::New(At<cl_uint>(bytes)));
    case Info::kInt: return call.Return(Nan::New(At<cl_int>(bytes)));
    case Info::kSize: return call.Return(Nan::New(static_cast<double>(At<size_t>(bytes))));
    case Info::kBits: return call.Return(Nan::New(static_cast<double>(At<cl_bitfield>(bytes))));
    case Info::kLong: return call.Return(HighLow(At<cl_ulong>(bytes)));
    case Info::kSizes: return call.Return(Numbers<size_t>(bytes));
    case Info::kProperties: return call.Return(Numbers<intptr_t>(bytes));
    case Info::kHandle: return call.Return(NewHandle(call, row->kind, At<void*>(bytes), platform));
    case Info::kHandles: {
      auto array = Nan::New<v8::Array>();
      for (size_t i = 0; i < bytes.size() / sizeof(void*); i++) {
        Nan::Set(array, static_cast<uint32_t>(i), NewHandle(call, row->kind, At<void*>(bytes, i), platform));
      }
      return call.Return(array);
    }
    case Info::kVersions: return call.Return(Versions(bytes));
    case Info::kFormat: return call.Return(Format(At<cl_image_format>(bytes)));
    case Info::kPointer: return call.Return(Nan::New(At<void*>(bytes) != nullptr));
  }
}

cl_int DevicesOf(cl_context context, std::vector<cl_device_id>* devices) {
  size_t bytes = 0;
  cl_int status = api.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  if (status != CL_SUCCESS) return status;
  devices->resize(bytes / sizeof(cl_device_id));
  return api.clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices->data(), nullptr);
}

}  // namespace clsort
