#include <nan.h>

#include "call.h"
#include "v8_versions.h"

namespace clsort {

namespace {

/**
 * Stores JavaScript helpers: one makes errors (JavaScript knows their names), one protects ArrayBuffers, one binds
 * callbacks to their asynchronous context, and one does nothing, which fails in a worker that is being terminated.
 */
NAN_METHOD(Initialize) {
  Environment& environment = *EnvironmentOf(info);
  environment.make_error.Reset(info[0].As<v8::Function>());
  environment.external_array_buffers().SetProtect(info[1].As<v8::Function>());
  environment.bind_callback.Reset(info[2].As<v8::Function>());
  environment.do_nothing.Reset(info[3].As<v8::Function>());
}
const Export kInitialize("initialize", Export::Invoke<Initialize>);

NAN_METHOD(IsReleased) {
  Environment& environment = *EnvironmentOf(info);
  for (size_t kind = 0; kind < kKinds; kind++) {
    if (auto object = UnwrapAny(environment, static_cast<Kind>(kind), info[0])) {
      return info.GetReturnValue().Set(!object->raw);
    }
  }
}
const Export kIsReleased("isReleased", Export::Invoke<IsReleased>);

/** Returns whether two handles belong to the same OpenCL object. */
NAN_METHOD(IsSame) {
  Environment& environment = *EnvironmentOf(info);
  bool same = info[0]->StrictEquals(info[1]);
  for (size_t kind = 0; kind < kKinds && !same; kind++) {
    auto a = Unwrap(environment, static_cast<Kind>(kind), info[0]);
    auto b = Unwrap(environment, static_cast<Kind>(kind), info[1]);
    same = a && b && a->raw == b->raw;
  }
  info.GetReturnValue().Set(same);
}
const Export kIsSame("isSame", Export::Invoke<IsSame>);

NAN_METHOD(ReleaseAll) { EnvironmentOf(info)->ReleaseAll(info[0]->IsTrue()); }
const Export kReleaseAll("releaseAll", Export::Invoke<ReleaseAll>);

/**
 * Releases all references of a handle on another thread; the handle is invalid at once. If the second argument is true,
 * objects that are never released are ignored instead of throwing.
 */
CLSORT_EXPORT(releaseAsync, "releaseAsync") {
  for (size_t kind = 0; kind < kKinds; kind++) {
    auto object = UnwrapAny(call.environment(), static_cast<Kind>(kind), call[0]);
    if (!object) continue;
    if (!object->raw && !object->released_with_all) {
      return (void)call.Fail(InvalidStatus(object->kind), std::string("the ") + NameOf(object->kind) + " was released");
    }
    if (object->Permanent()) {
      if (call[1]->IsTrue()) return;
      return (void)call.Fail(InvalidStatus(object->kind), "platforms and root devices cannot be released");
    }
    object->ReleaseLater();
    return;
  }
  call.FailArgument(0, CL_INVALID_VALUE, "a handle");
}

NAN_METHOD(SetCopyMappings) {
  Environment& environment = *EnvironmentOf(info);
  info.GetReturnValue().Set(environment.copy_mappings);
  environment.copy_mappings = Nan::To<bool>(info[0]).FromJust();
}
const Export kSetCopyMappings("setCopyMappings", Export::Invoke<SetCopyMappings>);

/**
 * Reports allocated or freed bytes to V8 and returns the sum of all reports, by this addon and others.
 * process.memoryUsage() includes only ArrayBuffers.
 */
NAN_METHOD(ExternalBytes) {
  auto change = info[0]->IsNumber() ? static_cast<int64_t>(Nan::To<double>(info[0]).FromJust()) : 0;
  int64_t bytes = AdjustExternalBytes(EnvironmentOf(info)->isolate(), change);
  info.GetReturnValue().Set(static_cast<double>(bytes));
}
const Export kExternalBytes("externalBytes", Export::Invoke<ExternalBytes>);

/** Runs a full garbage collection now. Reported external bytes only influence when V8 starts one. */
NAN_METHOD(CollectNow) {
  EnvironmentOf(info)->isolate()->MemoryPressureNotification(v8::MemoryPressureLevel::kCritical);
}
const Export kCollectNow("collectNow", Export::Invoke<CollectNow>);

NAN_MODULE_INIT(Init) {
  PinAddon();
  Export::SetAll(*Environment::Create(target), target);
}

}  // namespace

}  // namespace clsort

NAN_MODULE_WORKER_ENABLED(clsort, clsort::Init)
