#include "extensions.h"

#include <cstring>
#include <map>
#include <mutex>

namespace clsort {

namespace {

#ifndef CL_DEVICE_EXTENSIONS_WITH_VERSION
#define CL_DEVICE_EXTENSIONS_WITH_VERSION 0x1060
#endif

struct Row {
  const char* extension;
  const char* name;
};

constexpr Row kRows[] = {
#define CLSORT_ROW(extension, function, ...) {#extension, #function},
    CLSORT_EXTENSION_FUNCTIONS(CLSORT_ROW)
#undef CLSORT_ROW
};

constexpr uint32_t Version(uint32_t major, uint32_t minor, uint32_t patch) { return major << 22 | minor << 12 | patch; }

std::string VersionText(uint32_t version) {
  return std::to_string(version >> 22) + "." + std::to_string(version >> 12 & 0x3ff) + "." +
         std::to_string(version & 0xfff);
}

/**
 * Returns the first version of a provisional extension whose functions no longer have the types of the table; 0 for
 * none.
 */
uint32_t ChangedIn(const std::string& extension) {
  return extension == "cl_khr_command_buffer" ? Version(0, 9, 5) : 0;  // every command got another argument
}

std::string DeviceExtensions(cl_device_id device) {
  size_t bytes = 0;
  if (api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  return " " + std::string(text.c_str()) + " ";
}

bool DeviceHas(cl_device_id device, const std::string& extension) {
  return DeviceExtensions(device).find(" " + extension + " ") != std::string::npos;
}

/** Returns the version of an extension on a device; 0 if the device does not report it. */
uint32_t VersionOf(cl_device_id device, const char* extension) {
  size_t bytes = 0;
  if (api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, nullptr, &bytes) != CL_SUCCESS) return 0;
  std::vector<cl_name_version> rows(bytes / sizeof(cl_name_version));
  if (api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, bytes, rows.data(), nullptr) != CL_SUCCESS) {
    return 0;
  }
  for (const cl_name_version& row : rows) {
    if (std::strncmp(row.name, extension, sizeof row.name) == 0) return row.version;
  }
  return 0;
}

/** Returns why the functions of an extension cannot be called for a device; empty if they can. */
std::string ProblemOf(const Platform& platform, cl_device_id device, const char* extension) {
  if (!DeviceHas(device, extension)) return std::string("the device does not support ") + extension;
  if (uint32_t changed = ChangedIn(extension)) {
    uint32_t version = VersionOf(device, extension);
    if (version == 0) return std::string("the device does not report its version of ") + extension;
    if (version >= changed) {
      return std::string("the device has version ") + VersionText(version) + " of " + extension +
             ", whose functions have other arguments: clsort needs a version before " + VersionText(changed);
    }
  }
  const ExtensionFunctions& functions = ExtensionsOf(platform);
#define CLSORT_CHECK(of, function, ...) \
  if (std::strcmp(#of, extension) == 0 && !functions.function) return "the driver does not have " #function;
  CLSORT_EXTENSION_FUNCTIONS(CLSORT_CHECK)
#undef CLSORT_CHECK
  return {};
}

std::vector<cl_device_id> DevicesOf(cl_platform_id platform) {
  cl_uint count = 0;
  if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> devices(count);
  if (count && api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr) != CL_SUCCESS)
    return {};
  return devices;
}

CLSORT_EXPORT(getExtensionFunctions, "clGetExtensionFunctionAddressForPlatform") {
  auto platform = call.Handle(0, Kind::kPlatform);
  if (!call.ok()) return;
  std::map<std::string, bool> usable;  // by extension
  auto devices = DevicesOf(platform->As<cl_platform_id>());
  auto names = Nan::New<v8::Array>();
  uint32_t count = 0;
  for (const Row& row : kRows) {
    if (usable.count(row.extension) == 0) {
      bool& has = usable[row.extension];
      for (cl_device_id device : devices) has = has || ProblemOf(*platform->platform, device, row.extension).empty();
    }
    if (usable[row.extension]) Nan::Set(names, count++, Nan::New(row.name).ToLocalChecked());
  }
  call.Return(names);
}

}  // namespace

const ExtensionFunctions& ExtensionsOf(const Platform& platform) {
  static std::mutex guard;
  static std::map<cl_platform_id, ExtensionFunctions> known;
  std::lock_guard<std::mutex> lock(guard);
  auto [found, fresh] = known.try_emplace(platform.id);
  ExtensionFunctions& functions = found->second;
  const auto& find = api.clGetExtensionFunctionAddressForPlatform;
  if (!fresh || !find.pointer || platform.version < find.since || !DriverHas(platform, find.slot)) return functions;
#define CLSORT_FIND(extension, function, ...) \
  functions.function = reinterpret_cast<decltype(functions.function)>(find(platform.id, #function));
  CLSORT_EXTENSION_FUNCTIONS(CLSORT_FIND)
#undef CLSORT_FIND
  return functions;
}

bool HasExtension(const Platform& platform, cl_device_id device, const char* extension) {
  return ProblemOf(platform, device, extension).empty();
}

bool CheckExtension(Call& call, const Platform& platform, cl_device_id device, const char* extension) {
  if (!call.ok()) return false;
  std::string problem = ProblemOf(platform, device, extension);
  return problem.empty() || call.Fail(kUnsupported, problem);
}

}  // namespace clsort
