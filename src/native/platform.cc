#include "info.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kPlatformInfo = {
    {CL_PLATFORM_PROFILE, Info::kText},
    {CL_PLATFORM_VERSION, Info::kText},
    {CL_PLATFORM_NAME, Info::kText},
    {CL_PLATFORM_VENDOR, Info::kText},
    {CL_PLATFORM_EXTENSIONS, Info::kText},
    {CL_PLATFORM_ICD_SUFFIX_KHR, Info::kText},
    {CL_PLATFORM_HOST_TIMER_RESOLUTION, Info::kLong},
    {CL_PLATFORM_NUMERIC_VERSION, Info::kVersion},
    {CL_PLATFORM_EXTENSIONS_WITH_VERSION, Info::kVersions},
};

CLSORT_EXPORT(getPlatformIDs, "clGetPlatformIDs") {
  if (!call.Loaded(api.clGetPlatformIDs)) return;
  cl_uint count = 0;
  if (!call.Check(api.clGetPlatformIDs(0, nullptr, &count))) return;
  // A loader without drivers returns CL_PLATFORM_NOT_FOUND_KHR or a count of 0.
  if (count == 0) return (void)call.Fail(CL_PLATFORM_NOT_FOUND_KHR);
  std::vector<cl_platform_id> ids(count);
  if (!call.Check(api.clGetPlatformIDs(count, ids.data(), nullptr))) return;
  auto array = Nan::New<v8::Array>();
  for (cl_uint i = 0; i < count; i++) {
    Platform* platform = PlatformOf(ids[i]);
    if (!call.Check(platform->status)) return;
    Nan::Set(array, i, Wrap(call.environment(), Kind::kPlatform, ids[i], platform, 0));
  }
  call.Return(array);
}

CLSORT_EXPORT(getPlatformInfo, "clGetPlatformInfo") {
  ReturnInfoOf<cl_platform_id>(call, Kind::kPlatform, kPlatformInfo, api.clGetPlatformInfo);
}

CLSORT_EXPORT(unloadPlatformCompiler, "clUnloadPlatformCompiler") {
  auto platform = call.Handle(0, Kind::kPlatform);
  if (!call.ok() || !call.Supported(api.clUnloadPlatformCompiler, platform->platform)) return;
  if (call.Check(api.clUnloadPlatformCompiler(platform->As<cl_platform_id>()))) call.ReturnSuccess();
}

CLSORT_EXPORT(unloadCompiler, "clUnloadCompiler") {
  if (call.Loaded(api.clUnloadCompiler) && call.Check(api.clUnloadCompiler())) call.ReturnSuccess();
}

/** Makes every later call for objects of this platform run on the JavaScript thread. */
CLSORT_EXPORT(setSingleThreaded, "setSingleThreaded") {
  auto platform = call.Handle(0, Kind::kPlatform);
  if (call.ok()) platform->platform->single_threaded = call.Bool(1);
}

/** Returns { path, problem }: the loader, or why there is none. */
NAN_METHOD(LoaderInfo) {
  const Loader& loader = OpenLoader();
  auto object = Nan::New<v8::Object>();
  Nan::Set(object, Nan::New("path").ToLocalChecked(), Nan::New(loader.path).ToLocalChecked());
  Nan::Set(object, Nan::New("problem").ToLocalChecked(), Nan::New(loader.problem).ToLocalChecked());
  info.GetReturnValue().Set(object);
}
const Export kLoaderInfo("loaderInfo", Export::Invoke<LoaderInfo>);

}  // namespace

}  // namespace clsort
