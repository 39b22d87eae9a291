#include <algorithm>
#include <cstring>

#include "build_options.h"
#include "info.h"
#include "one_shot_callback.h"
#include "program_binary.h"
#include "wait.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kProgramInfo = {
    {CL_PROGRAM_REFERENCE_COUNT, Info::kUint},
    {CL_PROGRAM_CONTEXT, Info::kHandle, Kind::kContext},
    {CL_PROGRAM_NUM_DEVICES, Info::kUint},
    {CL_PROGRAM_DEVICES, Info::kHandles, Kind::kDevice},
    {CL_PROGRAM_SOURCE, Info::kText},
    {CL_PROGRAM_BINARY_SIZES, Info::kSizes},
    {CL_PROGRAM_NUM_KERNELS, Info::kSize},
    {CL_PROGRAM_KERNEL_NAMES, Info::kText},
    {CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, Info::kBool},
    {CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, Info::kBool},
};

const std::vector<InfoRow> kBuildInfo = {
    {CL_PROGRAM_BUILD_STATUS, Info::kInt},
    {CL_PROGRAM_BUILD_OPTIONS, Info::kText},
    {CL_PROGRAM_BUILD_LOG, Info::kText},
    {CL_PROGRAM_BINARY_TYPE, Info::kUint},
    {CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, Info::kSize},
};

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

NAN_METHOD(CreateProgramWithSource) {
  Call call(info, "clCreateProgramWithSource");
  auto context = call.Handle(0, Kind::kContext);
  std::string source = call.Text(1);
  if (!call.ok()) return;
  const char* text = source.c_str();
  size_t length = source.size();
  cl_int status = CL_SUCCESS;
  cl_program program = api.clCreateProgramWithSource(context->As<cl_context>(), 1, &text, &length, &status);
  call.ReturnHandle(status, Kind::kProgram, program, context->platform);
}

NAN_METHOD(CreateProgramWithBinary) {
  Call call(info, "clCreateProgramWithBinary");
  auto context = call.Handle(0, Kind::kContext);
  auto devices = call.Handles(1, Kind::kDevice, CL_INVALID_VALUE);
  auto sizes = call.Elements(2);
  auto binaries = call.Elements(3);
  if (!call.ok()) return;
  size_t count = devices.size();
  if (count == 0 || sizes.size() != count || binaries.size() != count) {
    return (void)call.Fail(CL_INVALID_VALUE,
                           "expected one size and one binary for each of at least one device but got other numbers");
  }
  std::vector<cl_device_id> ids;
  std::vector<size_t> lengths;
  std::vector<HostMemory> memories;
  std::vector<const unsigned char*> pointers;
  for (size_t i = 0; i < count; i++) {
    ids.push_back(devices[i]->As<cl_device_id>());
    lengths.push_back(call.Unsigned(sizes[i], CL_INVALID_VALUE, SIZE_MAX));
    memories.push_back(call.Memory(binaries[i], lengths.back(), CL_INVALID_VALUE));
    pointers.push_back(static_cast<const unsigned char*>(memories.back().data));
  }
  if (!call.ok()) return;
  for (size_t i = 0; i < count; i++) {
    std::string problem = ProblemOfBinary(*context->platform, pointers[i], lengths[i]);
    if (!problem.empty()) {
      return (void)call.Fail(CL_INVALID_BINARY,
                             "argument 4: binary " + std::to_string(i + 1) + " is damaged: " + problem);
    }
  }
  cl_int status = CL_SUCCESS;
  cl_program program = api.clCreateProgramWithBinary(context->As<cl_context>(), static_cast<cl_uint>(count), ids.data(),
                                                     lengths.data(), pointers.data(), nullptr, &status);
  call.ReturnHandle(status, Kind::kProgram, program, context->platform);
}

NAN_METHOD(CreateProgramWithIL) {
  Call call(info, "clCreateProgramWithIL");
  auto context = call.Handle(0, Kind::kContext);
  HostMemory il = call.Memory(1, 1);
  if (!call.ok() || !call.Supported(api.clCreateProgramWithIL, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_program program = api.clCreateProgramWithIL(context->As<cl_context>(), il.data, il.bytes, &status);
  call.ReturnHandle(status, Kind::kProgram, program, context->platform);
}

NAN_METHOD(CreateProgramWithBuiltInKernels) {
  Call call(info, "clCreateProgramWithBuiltInKernels");
  auto context = call.Handle(0, Kind::kContext);
  auto devices = call.Handles(1, Kind::kDevice, CL_INVALID_VALUE);
  std::string names;
  if (call.ok() && call[2]->IsString()) {
    names = call.Text(2);
  } else if (call.ok()) {
    for (auto name : call.Elements(2)) names += call.Text(name, CL_INVALID_VALUE) + ";";
    if (!names.empty()) names.pop_back();
  }
  if (!call.ok() || !call.Supported(api.clCreateProgramWithBuiltInKernels, context->platform)) return;
  if (devices.empty() || names.empty()) {
    return (void)call.Fail(CL_INVALID_VALUE, "expected at least one device and one kernel name but got none");
  }
  std::vector<cl_device_id> ids;
  for (auto& device : devices) ids.push_back(device->As<cl_device_id>());
  cl_int status = CL_SUCCESS;
  cl_program program = api.clCreateProgramWithBuiltInKernels(
      context->As<cl_context>(), static_cast<cl_uint>(ids.size()), ids.data(), names.c_str(), &status);
  call.ReturnHandle(status, Kind::kProgram, program, context->platform);
}

constexpr char kArgumentInfo[] = " -cl-kernel-arg-info";

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

NAN_METHOD(BuildProgram) {
  Call call(info, "clBuildProgram");
  Build(call, false, 3);
}

NAN_METHOD(BuildProgramAsync) {
  Call call(info, "clBuildProgram");
  BuildAsync(call, "clBuildProgram", false);
}

NAN_METHOD(CompileProgram) {
  Call call(info, "clCompileProgram");
  Build(call, true, 5);
}

NAN_METHOD(CompileProgramAsync) {
  Call call(info, "clCompileProgram");
  BuildAsync(call, "clCompileProgram", true);
}

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

NAN_METHOD(LinkProgram) {
  Call call(info, "clLinkProgram");
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

/** Returns one Uint8Array for each device, each with its own ArrayBuffer. */
void ReturnBinaries(Call& call, cl_program program) {
  size_t bytes = 0;
  if (!call.Check(api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, nullptr, &bytes))) return;
  std::vector<size_t> sizes(bytes / sizeof(size_t));
  if (!call.Check(api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, bytes, sizes.data(), nullptr))) return;
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> pointers;
  for (size_t size : sizes) {
    binaries.emplace_back(size + 1);  // one more, because an empty vector may have no address
    pointers.push_back(binaries.back().data());
  }
  // rusticl ends the process when the binary of an unbuilt program is queried.
  bool any = std::any_of(sizes.begin(), sizes.end(), [](size_t size) { return size > 0; });
  if (any && !call.Check(api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof(void*),
                                              pointers.data(), nullptr))) {
    return;
  }
  auto array = Nan::New<v8::Array>();
  for (size_t i = 0; i < sizes.size(); i++) {
    auto buffer = v8::ArrayBuffer::New(call.environment().isolate(), sizes[i]);
    if (sizes[i]) std::memcpy(buffer->GetBackingStore()->Data(), pointers[i], sizes[i]);
    Nan::Set(array, static_cast<uint32_t>(i), v8::Uint8Array::New(buffer, 0, sizes[i]));
  }
  call.Return(array);
}

/** Returns CL_PROGRAM_IL, which may have any length. */
void ReturnIL(Call& call, cl_program program) {
  size_t bytes = 0;
  if (!call.Check(api.clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &bytes))) return;
  std::string il(bytes, '\0');
  if (bytes && !call.Check(api.clGetProgramInfo(program, CL_PROGRAM_IL, bytes, il.data(), nullptr))) return;
  call.Return(Nan::CopyBuffer(il.data(), static_cast<uint32_t>(bytes)).ToLocalChecked());
}

NAN_METHOD(GetProgramInfo) {
  Call call(info, "clGetProgramInfo");
  auto program = call.Handle(0, Kind::kProgram);
  cl_uint name = call.Uint(1);
  if (!call.ok()) return;
  if (name == CL_PROGRAM_BINARIES) return ReturnBinaries(call, program->As<cl_program>());
  if (name == CL_PROGRAM_IL) return ReturnIL(call, program->As<cl_program>());
  ReturnInfo(
      call, name, kProgramInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        return api.clGetProgramInfo(program->As<cl_program>(), name, bytes, value, needed);
      },
      program->platform);
}

/** Returns the build options as the program passed them. */
void ReturnBuildOptions(Call& call, cl_program program, cl_device_id device) {
  size_t bytes = 0;
  if (!call.Check(api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, 0, nullptr, &bytes))) return;
  std::string options(bytes + 1, '\0');
  if (!call.Check(
          api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, bytes, options.data(), nullptr))) {
    return;
  }
  options = options.c_str();
  size_t ours = options.rfind(kArgumentInfo + 1);
  if (ours != std::string::npos) options.erase(ours ? ours - 1 : 0, sizeof kArgumentInfo - (ours ? 1 : 2));
  call.Return(Nan::New(options).ToLocalChecked());
}

NAN_METHOD(GetProgramBuildInfo) {
  Call call(info, "clGetProgramBuildInfo");
  auto program = call.Handle(0, Kind::kProgram);
  auto device = call.Handle(1, Kind::kDevice);
  cl_uint name = call.Uint(2);
  if (call.ok() && name == CL_PROGRAM_BUILD_OPTIONS && program->asked_argument_info) {
    return ReturnBuildOptions(call, program->As<cl_program>(), device->As<cl_device_id>());
  }
  ReturnInfo(
      call, name, kBuildInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        return api.clGetProgramBuildInfo(program->As<cl_program>(), device->As<cl_device_id>(), name, bytes, value,
                                         needed);
      },
      program ? program->platform : nullptr);
}

void CL_CALLBACK OnProgramReleased(cl_program, void* user_data) { PostOneShot(user_data); }

NAN_METHOD(SetProgramReleaseCallback) {
  Call call(info, "clSetProgramReleaseCallback");
  auto program = call.Handle(0, Kind::kProgram);
  auto function = call.Callable(1);
  if (!call.ok() || !call.Supported(api.clSetProgramReleaseCallback, program->platform)) return;
  if (function.IsEmpty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "a function");
  OneShotCallback* once = MakeOneShot(call, function, call[2]);
  cl_int status = api.clSetProgramReleaseCallback(program->As<cl_program>(), OnProgramReleased, once);
  if (status != CL_SUCCESS) CancelOneShot(call.environment(), once);
  if (call.Check(status)) call.ReturnSuccess();
}

NAN_METHOD(SetProgramSpecializationConstant) {
  Call call(info, "clSetProgramSpecializationConstant");
  auto program = call.Handle(0, Kind::kProgram);
  cl_uint id = call.Uint(1);
  HostMemory value = call.Memory(2, 1);
  if (!call.ok() || !call.Supported(api.clSetProgramSpecializationConstant, program->platform)) return;
  // PoCL ends the process for any other kind of program.
  size_t bytes = 0;
  api.clGetProgramInfo(program->As<cl_program>(), CL_PROGRAM_IL, 0, nullptr, &bytes);
  if (bytes == 0)
    return (void)call.FailArgument(0, CL_INVALID_PROGRAM, "a program of createProgramWithIL", "another program");
  if (call.Check(api.clSetProgramSpecializationConstant(program->As<cl_program>(), id, value.bytes, value.data))) {
    call.ReturnSuccess();
  }
}

}  // namespace

void ExportProgram(Exports& exports) {
  exports.Set<CreateProgramWithSource>("createProgramWithSource");
  exports.Set<CreateProgramWithBinary>("createProgramWithBinary");
  exports.Set<CreateProgramWithIL>("createProgramWithIL");
  exports.Set<CreateProgramWithBuiltInKernels>("createProgramWithBuiltInKernels");
  exports.Set<RetainObject<Kind::kProgram>>("retainProgram");
  exports.Set<ReleaseObject<Kind::kProgram>>("releaseProgram");
  exports.Set<BuildProgram>("buildProgram");
  exports.Set<BuildProgramAsync>("buildProgramAsync");
  exports.Set<CompileProgram>("compileProgram");
  exports.Set<CompileProgramAsync>("compileProgramAsync");
  exports.Set<LinkProgram>("linkProgram");
  exports.Set<GetProgramInfo>("getProgramInfo");
  exports.Set<GetProgramBuildInfo>("getProgramBuildInfo");
  exports.Set<SetProgramReleaseCallback>("setProgramReleaseCallback");
  exports.Set<SetProgramSpecializationConstant>("setProgramSpecializationConstant");
}

}  // namespace clsort
