#include <cstring>

#include "build_options.h"
#include "info.h"
#include "one_shot_callback.h"
#include "program_binary.h"

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

CLSORT_EXPORT(createProgramWithSource, "clCreateProgramWithSource") {
  auto context = call.Handle(0, Kind::kContext);
  std::string source = call.Text(1);
  if (!call.ok()) return;
  const char* text = source.c_str();
  size_t length = source.size();
  cl_int status = CL_SUCCESS;
  cl_program program = api.clCreateProgramWithSource(context->As<cl_context>(), 1, &text, &length, &status);
  call.ReturnHandle(status, Kind::kProgram, program, context->platform);
}

CLSORT_EXPORT(createProgramWithBinary, "clCreateProgramWithBinary") {
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

CLSORT_EXPORT(createProgramWithIL, "clCreateProgramWithIL") {
  auto context = call.Handle(0, Kind::kContext);
  HostMemory il = call.Memory(1, 1);
  if (!call.ok() || !call.Supported(api.clCreateProgramWithIL, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_program program = api.clCreateProgramWithIL(context->As<cl_context>(), il.data, il.bytes, &status);
  call.ReturnHandle(status, Kind::kProgram, program, context->platform);
}

CLSORT_EXPORT(createProgramWithBuiltInKernels, "clCreateProgramWithBuiltInKernels") {
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

CLSORT_EXPORT(getProgramInfo, "clGetProgramInfo") {
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

CLSORT_EXPORT(getProgramBuildInfo, "clGetProgramBuildInfo") {
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

CLSORT_EXPORT(setProgramReleaseCallback, "clSetProgramReleaseCallback") {
  auto program = call.Handle(0, Kind::kProgram);
  auto function = call.Callable(1);
  if (!call.ok() || !call.Supported(api.clSetProgramReleaseCallback, program->platform)) return;
  if (function.IsEmpty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "a function");
  OneShotCallback* once = MakeOneShot(call, function, call[2]);
  cl_int status = api.clSetProgramReleaseCallback(program->As<cl_program>(), OnProgramReleased, once);
  if (status != CL_SUCCESS) CancelOneShot(call.environment(), once);
  if (call.Check(status)) call.ReturnSuccess();
}

CLSORT_EXPORT(setProgramSpecializationConstant, "clSetProgramSpecializationConstant") {
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

const Export kRetainProgram("retainProgram", Export::Invoke<RetainObject<Kind::kProgram>>);
const Export kReleaseProgram("releaseProgram", Export::Invoke<ReleaseObject<Kind::kProgram>>);

}  // namespace

}  // namespace clsort
