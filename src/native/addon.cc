#include <nan.h>

#include "call.h"

namespace clsort {

namespace {

/** Takes what only JavaScript can do: making errors, which it knows the names of, and protecting ArrayBuffers. */
NAN_METHOD(Initialize) {
  EnvironmentOf(info)->make_error.Reset(info[0].As<v8::Function>());
  EnvironmentOf(info)->foreign().SetProtect(info[1].As<v8::Function>());
}

NAN_METHOD(IsReleased) {
  Environment& environment = *EnvironmentOf(info);
  for (size_t kind = 0; kind < kKinds; kind++) {
    if (auto object = UnwrapAny(environment, static_cast<Kind>(kind), info[0])) {
      return info.GetReturnValue().Set(!object->raw);
    }
  }
}

NAN_METHOD(ReleaseAll) { EnvironmentOf(info)->ReleaseAll(info[0]->IsTrue()); }

/** Releases all references of a handle on a thread of ours; the handle is invalid at once. */
NAN_METHOD(ReleaseAsync) {
  Call call(info, "releaseAsync");
  for (size_t kind = 0; kind < kKinds; kind++) {
    auto object = UnwrapAny(call.environment(), static_cast<Kind>(kind), call[0]);
    if (!object) continue;
    if (!object->raw && !object->released_with_all) {
      return (void)call.Fail(InvalidStatus(object->kind), std::string("the ") + NameOf(object->kind) + " was released");
    }
    object->ReleaseLater();
    return;
  }
  call.Fail(CL_INVALID_VALUE, "expected a handle");
}

NAN_METHOD(SetCopyMappings) {
  Environment& environment = *EnvironmentOf(info);
  info.GetReturnValue().Set(environment.copy_mappings);
  environment.copy_mappings = Nan::To<bool>(info[0]).FromJust();
}

NAN_MODULE_INIT(Init) {
  PinAddon();
  auto environment = Environment::Create(target);
  Exports exports(*environment, target);
  exports.Set<Initialize>("initialize");
  exports.Set<IsReleased>("isReleased");
  exports.Set<ReleaseAll>("releaseAll");
  exports.Set<ReleaseAsync>("releaseAsync");
  exports.Set<SetCopyMappings>("setCopyMappings");
  ExportPlatform(exports);
  ExportDevice(exports);
  ExportContext(exports);
  ExportCommandQueue(exports);
  ExportMemObject(exports);
  ExportImage(exports);
  ExportPipe(exports);
  ExportSampler(exports);
  ExportProgram(exports);
  ExportKernel(exports);
  ExportEvent(exports);
  ExportTransfer(exports);
  ExportSvm(exports);
  ExportLaunches(exports);
  ExportStaging(exports);
  ExportChecksum(exports);
}

}  // namespace

}  // namespace clsort

NAN_MODULE_WORKER_ENABLED(clsort, clsort::Init)
