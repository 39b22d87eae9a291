#include "argument_value.h"
#include "info.h"
#include "launch.h"
#include "launch_limits.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kKernelInfo = {
    {CL_KERNEL_FUNCTION_NAME, Info::kText},
    {CL_KERNEL_NUM_ARGS, Info::kUint},
    {CL_KERNEL_REFERENCE_COUNT, Info::kUint},
    {CL_KERNEL_CONTEXT, Info::kHandle, Kind::kContext},
    {CL_KERNEL_PROGRAM, Info::kHandle, Kind::kProgram},
    {CL_KERNEL_ATTRIBUTES, Info::kText},
};

const std::vector<InfoRow> kArgumentInfo = {
    {CL_KERNEL_ARG_ADDRESS_QUALIFIER, Info::kUint},
    {CL_KERNEL_ARG_ACCESS_QUALIFIER, Info::kUint},
    {CL_KERNEL_ARG_TYPE_NAME, Info::kText},
    {CL_KERNEL_ARG_TYPE_QUALIFIER, Info::kBits},
    {CL_KERNEL_ARG_NAME, Info::kText},
};

const std::vector<InfoRow> kWorkGroupInfo = {
    {CL_KERNEL_WORK_GROUP_SIZE, Info::kSize},  {CL_KERNEL_COMPILE_WORK_GROUP_SIZE, Info::kSizes},
    {CL_KERNEL_LOCAL_MEM_SIZE, Info::kLong},   {CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, Info::kSize},
    {CL_KERNEL_PRIVATE_MEM_SIZE, Info::kLong}, {CL_KERNEL_GLOBAL_WORK_SIZE, Info::kSizes},
};

const std::vector<InfoRow> kSubGroupInfo = {
    {CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, Info::kSize},  {CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, Info::kSize},
    {CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, Info::kSizes}, {CL_KERNEL_MAX_NUM_SUB_GROUPS, Info::kSize},
    {CL_KERNEL_COMPILE_NUM_SUB_GROUPS, Info::kSize},
};

/** Returns why a program has no such kernel, as far as the driver reports it. */
std::string ReasonForNoKernel(const Object& program, cl_int status, const std::string& name) {
  if (status == CL_INVALID_PROGRAM_EXECUTABLE) {
    return "the program is not built for a device of its context: call buildProgram or linkProgram first";
  }
  if (status != CL_INVALID_KERNEL_NAME) return {};
  std::string reason = "the program has no kernel '" + name + "'";
  size_t bytes = 0;
  auto raw = program.As<cl_program>();
  if (program.platform->version < 120 ||
      api.clGetProgramInfo(raw, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes) != CL_SUCCESS || bytes < 2) {
    return reason;
  }
  std::string names(bytes, '\0');
  api.clGetProgramInfo(raw, CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr);
  return reason + "; its kernels are: " + names.c_str();
}

CLSORT_EXPORT(createKernel, "clCreateKernel") {
  auto program = call.Handle(0, Kind::kProgram);
  std::string name = call.Text(1);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = api.clCreateKernel(program->As<cl_program>(), name.c_str(), &status);
  if (status != CL_SUCCESS) return (void)call.Fail(status, ReasonForNoKernel(*program, status, name));
  call.ReturnHandle(status, Kind::kKernel, kernel, program->platform);
}

CLSORT_EXPORT(createKernelsInProgram, "clCreateKernelsInProgram") {
  auto program = call.Handle(0, Kind::kProgram);
  if (!call.ok()) return;
  cl_uint count = 0;
  cl_int status = api.clCreateKernelsInProgram(program->As<cl_program>(), 0, nullptr, &count);
  if (status != CL_SUCCESS) return (void)call.Fail(status, ReasonForNoKernel(*program, status, {}));
  std::vector<cl_kernel> kernels(count);
  if (count && !call.Check(api.clCreateKernelsInProgram(program->As<cl_program>(), count, kernels.data(), nullptr))) {
    return;
  }
  auto array = Nan::New<v8::Array>();
  for (cl_uint i = 0; i < count; i++) {
    Nan::Set(array, i, Wrap(call.environment(), Kind::kKernel, kernels[i], program->platform));
  }
  call.Return(array);
}

CLSORT_EXPORT(cloneKernel, "clCloneKernel") {
  auto kernel = call.Handle(0, Kind::kKernel);
  if (!call.ok() || !call.Supported(api.clCloneKernel, kernel->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_kernel clone = api.clCloneKernel(kernel->As<cl_kernel>(), &status);
  if (!call.Check(status)) return;
  auto handle = Wrap(call.environment(), Kind::kKernel, clone, kernel->platform);
  auto object = Unwrap(call.environment(), Kind::kKernel, handle);
  object->arguments = kernel->arguments;
  object->indirect_svm = kernel->indirect_svm;
  if (kernel->kernel_limits) {
    object->kernel_limits = std::make_shared<KernelLimits>(*kernel->kernel_limits);
    // PoCL's clone treats the size of local memory as the size of a value and reads that many bytes at a launch.
    const std::vector<size_t>& locals = kernel->kernel_limits->arguments;
    for (size_t i = 0; i < locals.size(); i++) {
      if (locals[i] > 0 && !call.Check(api.clSetKernelArg(clone, static_cast<cl_uint>(i), locals[i], nullptr))) return;
    }
  }
  // PoCL's clone also treats a null pointer as the address of a buffer.
  for (size_t i = 0; i < object->arguments.size(); i++) {
    const KernelArgument& argument = object->arguments[i];
    if (!argument.set || argument.takes != Takes::kBuffer || argument.object || argument.svm) continue;
    if (!call.Check(api.clSetKernelArg(clone, static_cast<cl_uint>(i), sizeof(cl_mem), nullptr))) return;
  }
  call.Return(handle);
}

CLSORT_EXPORT(setKernelArg, "clSetKernelArg") {
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  std::string type = call.Has(2) ? call.Text(2, CL_INVALID_VALUE) : std::string();
  if (!call.ok()) return;
  ArgumentValue value = ReadArgument(call, *kernel, index, type, call[3]);
  if (call.ok() && SetArgument(call, *kernel, std::move(value))) call.ReturnSuccess();
}

CLSORT_EXPORT(setKernelArgSVMPointer, "clSetKernelArgSVMPointer") {
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  HostMemory memory = call.Memory(2, 1, CL_INVALID_ARG_VALUE);
  if (!call.ok() || !call.Supported(api.clSetKernelArgSVMPointer, kernel->platform)) return;
  const SvmMemory* found = call.Shared(memory.data);
  if (!found || found->Unified()) {
    return (void)call.FailArgument(2, CL_INVALID_ARG_VALUE, "memory of SVMAlloc that is not freed");
  }
  KernelArgument* argument = ArgumentOf(call, *kernel, index);
  if (argument && CheckOffer(call, *argument, index, Takes::kBuffer) && SetPointer(call, *kernel, index, memory.data)) {
    call.ReturnSuccess();
  }
}

CLSORT_EXPORT(setKernelExecInfo, "clSetKernelExecInfo") {
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint name = call.Uint(1);
  if (!call.ok() || !call.Supported(api.clSetKernelExecInfo, kernel->platform)) return;
  auto raw = kernel->As<cl_kernel>();
  if (name == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
    std::vector<void*> pointers;
    for (auto element : call.Elements(2)) {
      HostMemory memory = call.Memory(element, 1, CL_INVALID_VALUE);
      if (call.ok() && !call.Shared(memory.data)) {
        call.FailArgument(2, CL_INVALID_VALUE, "memory of SVMAlloc that is not freed", "other memory");
      }
      pointers.push_back(memory.data);
    }
    if (call.ok() && call.Check(api.clSetKernelExecInfo(raw, name, pointers.size() * sizeof(void*), pointers.data()))) {
      kernel->indirect_svm = std::move(pointers);
      call.ReturnSuccess();
    }
    return;
  }
  cl_bool flag = call.Bool(2) ? CL_TRUE : CL_FALSE;
  if (call.Check(api.clSetKernelExecInfo(raw, name, sizeof flag, &flag))) call.ReturnSuccess();
}

CLSORT_EXPORT(getKernelInfo, "clGetKernelInfo") {
  ReturnInfoOf<cl_kernel>(call, Kind::kKernel, kKernelInfo, api.clGetKernelInfo);
}

NAN_METHOD(GetKernelArgInfo) {
  Call call(info, "clGetKernelArgInfo");
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  cl_uint name = call.Uint(2);
  if (!call.ok() || !call.Supported(api.clGetKernelArgInfo, kernel->platform)) return;
  size_t needed = 0;
  cl_int status = api.clGetKernelArgInfo(kernel->As<cl_kernel>(), index, name, 0, nullptr, &needed);
  if (status == CL_KERNEL_ARG_INFO_NOT_AVAILABLE) {
    return (void)call.Fail(status,
                           "the program was created from a binary, or built without -cl-kernel-arg-info: "
                           "create it from source");
  }
  ReturnInfo(
      call, name, kArgumentInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        return api.clGetKernelArgInfo(kernel->As<cl_kernel>(), index, name, bytes, value, needed);
      },
      kernel->platform);
}
const Export kGetKernelArgInfo("getKernelArgInfo", Export::Invoke<GetKernelArgInfo>);

CLSORT_EXPORT(getKernelWorkGroupInfo, "clGetKernelWorkGroupInfo") {
  auto kernel = call.Handle(0, Kind::kKernel);
  std::shared_ptr<Object> device;
  if (call.Has(1)) device = call.Handle(1, Kind::kDevice);
  cl_uint name = call.Uint(2);
  if (!call.ok()) return;
  cl_device_id id = device ? device->As<cl_device_id>() : nullptr;
  ReturnInfo(
      call, name, kWorkGroupInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        return api.clGetKernelWorkGroupInfo(kernel->As<cl_kernel>(), id, name, bytes, value, needed);
      },
      kernel->platform);
}

CLSORT_EXPORT(getKernelSubGroupInfo, "clGetKernelSubGroupInfo") {
  auto kernel = call.Handle(0, Kind::kKernel);
  std::shared_ptr<Object> device;
  if (call.Has(1)) device = call.Handle(1, Kind::kDevice);
  cl_uint name = call.Uint(2);
  std::vector<size_t> input;
  if (call.ok() && call[3]->IsNumber()) {
    input.push_back(call.Size(3));
  } else if (call.Has(3)) {
    for (auto element : call.Elements(3)) input.push_back(call.Unsigned(element, CL_INVALID_VALUE, SIZE_MAX));
  }
  if (!call.ok() || !call.Supported(api.clGetKernelSubGroupInfo, kernel->platform)) return;
  cl_device_id id = device ? device->As<cl_device_id>() : nullptr;
  ReturnInfo(
      call, name, kSubGroupInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        // The only result whose length the caller chooses: a work-group size in three dimensions.
        if (name == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT && !value) {
          *needed = 3 * sizeof(size_t);
          return CL_SUCCESS;
        }
        return api.clGetKernelSubGroupInfo(kernel->As<cl_kernel>(), id, name, input.size() * sizeof(size_t),
                                           input.empty() ? nullptr : input.data(), bytes, value, needed);
      },
      kernel->platform);
}

CLSORT_EXPORT(enqueueNDRangeKernel, "clEnqueueNDRangeKernel") {
  Object* queue = call.Borrow(0, Kind::kCommandQueue);
  Object* kernel = call.Borrow(1, Kind::kKernel);
  cl_uint dimensions = call.Uint(2, CL_INVALID_WORK_DIMENSION);
  if (call.ok() && (dimensions < 1 || dimensions > 3)) {
    call.FailArgument(2, CL_INVALID_WORK_DIMENSION, "1, 2 or 3 dimensions");
  }
  WorkSize offset = call.Work(3, dimensions, CL_INVALID_GLOBAL_OFFSET);
  WorkSize global = call.Work(4, dimensions, CL_INVALID_GLOBAL_WORK_SIZE);
  WorkSize local = call.Work(5, dimensions, CL_INVALID_WORK_GROUP_SIZE);
  WaitList waits = call.Events(6);
  bool wanted = call.Bool(7);
  if (!call.ok() || !CheckArguments(call, *kernel)) return;
  // OpenCL 2.1 allows a missing size, which is rarely intended.
  if (!global.given) return (void)call.FailArgument(4, CL_INVALID_GLOBAL_WORK_SIZE, "sizes");
  if (!CheckLaunch(call, *queue, *kernel, dimensions, offset.data(), global.data(), local.data())) return;
  cl_event event = nullptr;
  cl_int status = Launch(call, *kernel, wanted, &event, [&](cl_event* place) {
    return api.clEnqueueNDRangeKernel(queue->As<cl_command_queue>(), kernel->As<cl_kernel>(), dimensions, offset.data(),
                                      global.data(), local.data(), waits.count(), waits.data(), place);
  });
  call.ReturnEvent(status, wanted, event, *queue);
}

CLSORT_EXPORT(enqueueTask, "clEnqueueTask") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto kernel = call.Handle(1, Kind::kKernel);
  WaitList waits = call.Events(2);
  bool wanted = call.Bool(3);
  const size_t one[] = {1};
  if (!call.ok() || !CheckArguments(call, *kernel) || !CheckLaunch(call, *queue, *kernel, 1, nullptr, one, one)) return;
  cl_event event = nullptr;
  cl_int status = Launch(call, *kernel, wanted, &event, [&](cl_event* place) {
    return api.clEnqueueTask(queue->As<cl_command_queue>(), kernel->As<cl_kernel>(), waits.count(), waits.data(),
                             place);
  });
  call.ReturnEvent(status, wanted, event, *queue);
}

CLSORT_EXPORT(enqueueNativeKernel, "clEnqueueNativeKernel") {
  call.Fail(kUnsupported, "native kernels are C functions, which JavaScript cannot provide");
}

const Export kRetainKernel("retainKernel", Export::Invoke<RetainObject<Kind::kKernel>>);
const Export kReleaseKernel("releaseKernel", Export::Invoke<ReleaseObject<Kind::kKernel>>);

}  // namespace

}  // namespace clsort
