#include <algorithm>

#include "build_options.h"
#include "info.h"
#include "one_shot_callback.h"
#include "wait.h"

namespace clsort {

namespace {

std::vector<cl_device_id> DevicesOf(cl_program program) {
  size_t bytes = 0;
  api.clGetProgramInfo(program, CL_PROGRAM_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  if (bytes) api.clGetProgramInfo(program, CL_PROGRAM_DEVICES, bytes, devices.data(), nullptr);
  return devices;
}

/** Removes duplicates: Clover ends the process if a device is passed twice. */
std::vector<cl_device_id> Distinct(const std::vector<std::shared_ptr<Object>>& devices) {
  std::vector<cl_device_id> distinct;
  for (const auto& device : devices) {
    auto raw = device->As<cl_device_id>();
    if (std::find(distinct.begin(), distinct.end(), raw) == distinct.end()) distinct.push_back(raw);
  }
  return distinct;
}

/** Returns the concatenated build logs of all devices. */
std::string BuildLog(cl_program program) {
  std::string log;
  for (cl_device_id device : DevicesOf(program)) {
    size_t bytes = 0;
    if (api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS) {
      continue;
    }
    std::string text(bytes, '\0');
    if (bytes) api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, text.data(), nullptr);
    log += text.c_str();
  }
  return log;
}

bool HasSource(const Object& program) {
  size_t bytes = 0;
  return api.clGetProgramInfo(program.As<cl_program>(), CL_PROGRAM_SOURCE, 0, nullptr, &bytes) == CL_SUCCESS &&
         bytes > 1;
}

cl_build_status BuildStatusOf(const Object& program, cl_device_id device) {
  cl_build_status status = CL_BUILD_NONE;
  api.clGetProgramBuildInfo(program.As<cl_program>(), device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
  return status;
}

/** Arguments of clBuildProgram or clCompileProgram, retained while the call runs. */
struct BuildWork {
  bool compile = false;
  Retained program;
  std::vector<Retained> held;
  std::vector<cl_device_id> devices;
  std::string options;
  std::vector<cl_program> headers;
  std::vector<std::string> header_names;
  std::string log;
  /** Whether all devices are already built: a binary gives the same result again. */
  bool done = false;

  /** Removes the devices that the program is already built for. */
  void LeaveOutBuilt(const Object& of) {
    if (devices.empty()) devices = DevicesOf(of.As<cl_program>());
    auto built = [&](cl_device_id device) { return BuildStatusOf(of, device) == CL_BUILD_SUCCESS; };
    devices.erase(std::remove_if(devices.begin(), devices.end(), built), devices.end());
    done = devices.empty();
  }

  cl_int Run() {
    if (done) return CL_SUCCESS;
    auto device_count = static_cast<cl_uint>(devices.size());
    const cl_device_id* device_list = devices.empty() ? nullptr : devices.data();
    cl_program raw = program.As<cl_program>();
    cl_int status;
    if (compile) {
      std::vector<const char*> names;
      for (const std::string& name : header_names) names.push_back(name.c_str());
      status = api.clCompileProgram(raw, device_count, device_list, options.c_str(),
                                    static_cast<cl_uint>(headers.size()), headers.empty() ? nullptr : headers.data(),
                                    names.empty() ? nullptr : names.data(), nullptr, nullptr);
    } else {
      status = api.clBuildProgram(raw, device_count, device_list, options.c_str(), nullptr, nullptr);
    }
    if (status != CL_SUCCESS) log = BuildLog(raw);
    return status;
  }
};

/**
 * Adds the option for argument info, which `setKernelArg` checks against: otherwise some drivers use an integer as the
 * address of an image. @return whether the option was added
 */
bool AskArgumentInfo(const Platform& platform, std::string* options) {
  if (platform.version < api.clGetKernelArgInfo.since || options->find(kArgumentInfo + 1) != std::string::npos) {
    return false;
  }
  *options += kArgumentInfo;
  return true;
}

/** Throws if there is a kernel of the program: Oclgrind would use freed memory of that kernel after a build. */
bool CheckNoKernels(Call& call, const Object& program) {
  for (const auto& kernel : call.environment().objects().OfKind(Kind::kKernel)) {
    cl_program of = nullptr;
    if (!kernel->raw) continue;
    api.clGetKernelInfo(kernel->As<cl_kernel>(), CL_KERNEL_PROGRAM, sizeof of, &of, nullptr);
    if (of == program.As<cl_program>()) {
      return call.Fail(CL_INVALID_OPERATION,
                       "the program has kernels: release them, or create another program from the source");
    }
  }
  return true;
}

/** Reads arguments 0 to 2 and, for a compilation, 3 and 4. */
BuildWork ReadBuild(Call& call, bool compile) {
  BuildWork work;
  work.compile = compile;
  auto program = call.Handle(0, Kind::kProgram);
  auto devices = call.Handles(1, Kind::kDevice, CL_INVALID_VALUE);
  work.options =
      ReadBuildOptions(call, 2, program.get(), compile ? CL_INVALID_COMPILER_OPTIONS : CL_INVALID_BUILD_OPTIONS);
  std::vector<std::shared_ptr<Object>> headers;
  if (compile) {
    headers = call.Handles(3, Kind::kProgram, CL_INVALID_VALUE);
    if (call.ok() && call.Has(4)) {
      for (auto name : call.Elements(4)) work.header_names.push_back(call.Text(name, CL_INVALID_VALUE));
    }
    if (call.ok() && headers.size() != work.header_names.size()) {
      call.FailArgument(4, CL_INVALID_VALUE, std::to_string(headers.size()) + " include names");
    }
  }
  if (!call.ok() || !CheckNoKernels(call, *program)) return work;
  for (auto& header : headers) {
    // PoCL ends the process otherwise.
    if (!HasSource(*header))
      call.FailArgument(3, CL_INVALID_PROGRAM, "headers that were created from source", "others");
    work.headers.push_back(header->As<cl_program>());
    work.held.push_back(call.Hold(*header));
  }
  work.devices = Distinct(devices);
  for (auto& device : devices) work.held.push_back(call.Hold(*device));
  bool source = HasSource(*program), binaries = program->platform->builds_binaries;
  program->asked_argument_info = (source || binaries) && AskArgumentInfo(*program->platform, &work.options);
  if (!source && !compile && binaries) work.LeaveOutBuilt(*program);
  work.program = call.Hold(*program);
  return work;
}

class BuildPromise final : public PromiseJob {
 public:
  BuildPromise(const char* call, BuildWork work) : PromiseJob(call), work_(std::move(work)) {}
  void Run() override {
    status_ = work_.Run();
    log_ = work_.log;
  }

 private:
  BuildWork work_;
};

/** Build that calls a function at the end, also after a failure, like OpenCL's callback. */
class BuildWithCallback final : public Job {
 public:
  BuildWithCallback(BuildWork work, v8::Local<v8::Function> function, v8::Local<v8::Value> data,
                    v8::Local<v8::Object> program)
      : work_(std::move(work)) {
    function_.Reset(function);
    data_.Reset(data);
    program_.Reset(program);
  }
  void Run() override { work_.Run(); }
  void Finish(Environment&) override {
    v8::Local<v8::Value> arguments[] = {Nan::New(data_), Nan::New(program_)};
    Nan::Call(Nan::New(function_), Nan::New<v8::Object>(), 2, arguments);
  }

 private:
  BuildWork work_;
  Nan::Global<v8::Function> function_;
  Nan::Global<v8::Value> data_;
  Nan::Global<v8::Object> program_;
};

void Build(Call& call, bool compile, int callback) {
  BuildWork work = ReadBuild(call, compile);
  auto function = call.Callable(callback);
  if (!call.ok()) return;
  auto program = Unwrap(call.environment(), Kind::kProgram, call[0]);
  if (compile && !call.Supported(api.clCompileProgram, program->platform)) return;
  if (function.IsEmpty()) {
    cl_int status = work.Run();
    if (call.Check(status, work.log)) call.ReturnSuccess();
    return;
  }
  call.environment().Start(
      std::make_unique<BuildWithCallback>(std::move(work), function, call[callback + 1], call[0].As<v8::Object>()),
      program->platform);
  call.ReturnSuccess();
}

void BuildAsync(Call& call, const char* name, bool compile) {
  BuildWork work = ReadBuild(call, compile);
  if (!call.ok()) return;
  auto program = Unwrap(call.environment(), Kind::kProgram, call[0]);
  if (compile && !call.Supported(api.clCompileProgram, program->platform)) return;
  StartPromise(call, std::make_unique<BuildPromise>(name, std::move(work)), program->platform);
}

CLSORT_EXPORT(buildProgram, "clBuildProgram") { Build(call, false, 3); }

CLSORT_EXPORT(buildProgramAsync, "clBuildProgram") { BuildAsync(call, "clBuildProgram", false); }

CLSORT_EXPORT(compileProgram, "clCompileProgram") { Build(call, true, 5); }

CLSORT_EXPORT(compileProgramAsync, "clCompileProgram") { BuildAsync(call, "clCompileProgram", true); }

/** Calls `function(data, program)` in a later turn of the event loop. */
void CallLater(Call& call, v8::Local<v8::Function> function, v8::Local<v8::Value> data, v8::Local<v8::Object> subject) {
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(data);
  callback->subject.Reset(subject);
  uint64_t id = call.environment().AddCallback(std::move(callback));
  call.environment().mailbox()->Post([id](Environment& environment) {
    auto taken = environment.TakeCallback(id);
    if (!taken) return;
    v8::Local<v8::Value> arguments[] = {Nan::New(taken->data), Nan::New(taken->subject)};
    Nan::Call(Nan::New(taken->function), Nan::New<v8::Object>(), 2, arguments);
  });
}

/** Throws unless a program can be linked: PoCL and Oclgrind end the process for programs that are not compiled. */
bool CheckLinkable(Call& call, const Object& program, size_t position) {
  for (cl_device_id device : DevicesOf(program.As<cl_program>())) {
    cl_build_status status = BuildStatusOf(program, device);
    // PoCL reports no build for a program from a binary.
    if (status == CL_BUILD_SUCCESS || (status == CL_BUILD_NONE && !HasSource(program))) continue;
    std::string name = "argument 4: program " + std::to_string(position + 1);
    return call.Fail(CL_INVALID_OPERATION,
                     status == CL_BUILD_NONE    ? name + " is not compiled: call compileProgram"
                     : status == CL_BUILD_ERROR ? name + " is not compiled: its build failed"
                                                : name + " is being compiled: wait for it",
                     status == CL_BUILD_ERROR ? BuildLog(program.As<cl_program>()) : std::string());
  }
  return call.ok();
}

CLSORT_EXPORT(linkProgram, "clLinkProgram") {
  auto context = call.Handle(0, Kind::kContext);
  auto devices = call.Handles(1, Kind::kDevice, CL_INVALID_VALUE);
  std::string options = ReadBuildOptions(call, 2, context.get(), CL_INVALID_LINKER_OPTIONS);
  auto inputs = call.Handles(3, Kind::kProgram, CL_INVALID_VALUE);
  auto function = call.Callable(4);
  if (!call.ok() || !call.Supported(api.clLinkProgram, context->platform)) return;
  if (inputs.empty()) return (void)call.FailArgument(3, CL_INVALID_VALUE, "at least one program");
  std::vector<cl_device_id> ids = Distinct(devices);
  std::vector<cl_program> programs;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!CheckLinkable(call, *inputs[i], i)) return;
    programs.push_back(inputs[i]->As<cl_program>());
  }
  bool asked = context->platform->builds_binaries && AskArgumentInfo(*context->platform, &options);
  cl_int status = CL_SUCCESS;
  cl_program program = api.clLinkProgram(
      context->As<cl_context>(), static_cast<cl_uint>(ids.size()), ids.empty() ? nullptr : ids.data(), options.c_str(),
      static_cast<cl_uint>(programs.size()), programs.data(), nullptr, nullptr, &status);
  if (status != CL_SUCCESS) {
    std::string log = program ? BuildLog(program) : std::string();
    if (program) api.clReleaseProgram(program);
    return (void)call.Check(status, log);
  }
  auto handle = Wrap(call.environment(), Kind::kProgram, program, context->platform);
  Unwrap(call.environment(), Kind::kProgram, handle)->asked_argument_info = asked;
  if (!function.IsEmpty()) CallLater(call, function, call[5], handle);
  call.Return(handle);
}

}  // namespace

}  // namespace clsort
