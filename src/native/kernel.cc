#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "info.h"

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
    {CL_KERNEL_WORK_GROUP_SIZE, Info::kSize},
    {CL_KERNEL_COMPILE_WORK_GROUP_SIZE, Info::kSizes},
    {CL_KERNEL_LOCAL_MEM_SIZE, Info::kLong},
    {CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, Info::kSize},
    {CL_KERNEL_PRIVATE_MEM_SIZE, Info::kLong},
    {CL_KERNEL_GLOBAL_WORK_SIZE, Info::kSizes},
};

const std::vector<InfoRow> kSubGroupInfo = {
    {CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, Info::kSize},
    {CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, Info::kSize},
    {CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, Info::kSizes},
    {CL_KERNEL_MAX_NUM_SUB_GROUPS, Info::kSize},
    {CL_KERNEL_COMPILE_NUM_SUB_GROUPS, Info::kSize},
};

NAN_METHOD(CreateKernel) {
  Call call(info, "clCreateKernel");
  auto program = call.Handle(0, Kind::kProgram);
  std::string name = call.Text(1);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = api.clCreateKernel(program->As<cl_program>(), name.c_str(), &status);
  call.ReturnHandle(status, Kind::kKernel, kernel, program->platform);
}

NAN_METHOD(CreateKernelsInProgram) {
  Call call(info, "clCreateKernelsInProgram");
  auto program = call.Handle(0, Kind::kProgram);
  if (!call.ok()) return;
  cl_uint count = 0;
  if (!call.Check(api.clCreateKernelsInProgram(program->As<cl_program>(), 0, nullptr, &count))) return;
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

NAN_METHOD(CloneKernel) {
  Call call(info, "clCloneKernel");
  auto kernel = call.Handle(0, Kind::kKernel);
  if (!call.ok() || !call.Supported(api.clCloneKernel, kernel->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_kernel clone = api.clCloneKernel(kernel->As<cl_kernel>(), &status);
  if (!call.Check(status)) return;
  auto handle = Wrap(call.environment(), Kind::kKernel, clone, kernel->platform);
  Unwrap(call.environment(), Kind::kKernel, handle)->arguments = kernel->arguments;
  call.Return(handle);
}

NAN_METHOD(RetainKernel) {
  Call call(info, "clRetainKernel");
  RetainHandle(call, Kind::kKernel);
}

NAN_METHOD(ReleaseKernel) {
  Call call(info, "clReleaseKernel");
  ReleaseHandle(call, Kind::kKernel);
}

/** IEEE 754 binary16, rounded to nearest even. */
cl_half ToHalf(double number) {
  float single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<cl_half>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<cl_half>(sign | 0x7c00);  // rounds to 65536 and beyond
  if (magnitude < 0x38800000) {  // a denormal: count units of 2^-24
    double units = std::nearbyint(std::ldexp(std::fabs(single), 24));
    return static_cast<cl_half>(sign | static_cast<uint32_t>(units));
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<cl_half>(sign | (rounded - 0x38000000) >> 13);
}

using Bytes = std::vector<char>;

template <typename T>
void Append(Bytes* bytes, T value) {
  const char* data = reinterpret_cast<const char*>(&value);
  bytes->insert(bytes->end(), data, data + sizeof value);
}

template <typename T>
void AppendInteger(Call& call, v8::Local<v8::Value> value, Bytes* bytes) {
  if (!value->IsNumber() && !value->IsBigInt()) {
    call.Fail(CL_INVALID_ARG_VALUE, "expected a number");
  } else if (std::is_signed<T>::value) {
    int64_t number = call.Signed(value, CL_INVALID_ARG_VALUE);
    if (number != static_cast<T>(number)) call.Fail(CL_INVALID_ARG_VALUE, "the number does not fit the type");
    Append(bytes, static_cast<T>(number));
  } else {
    Append(bytes, static_cast<T>(call.Unsigned(value, CL_INVALID_ARG_VALUE, std::numeric_limits<T>::max())));
  }
}

double Real(Call& call, v8::Local<v8::Value> value) {
  if (value->IsNumber()) return value.As<v8::Number>()->Value();
  call.Fail(CL_INVALID_ARG_VALUE, "expected a number");
  return 0;
}

using Converter = void (*)(Call&, v8::Local<v8::Value>, Bytes*);

void AppendHalf(Call& call, v8::Local<v8::Value> value, Bytes* bytes) { Append(bytes, ToHalf(Real(call, value))); }
void AppendFloat(Call& call, v8::Local<v8::Value> value, Bytes* bytes) {
  Append(bytes, static_cast<cl_float>(Real(call, value)));
}
void AppendDouble(Call& call, v8::Local<v8::Value> value, Bytes* bytes) { Append(bytes, Real(call, value)); }
void AppendBool(Call& call, v8::Local<v8::Value> value, Bytes* bytes) {
  if (!value->IsBoolean() && !value->IsNumber()) call.Fail(CL_INVALID_ARG_VALUE, "expected a boolean");
  Append(bytes, static_cast<cl_bool>(Nan::To<bool>(value).FromMaybe(false) ? CL_TRUE : CL_FALSE));
}

struct Scalar {
  Converter append;
  size_t bytes;
};

const std::map<std::string, Scalar> kScalars = {
    {"char", {AppendInteger<cl_char>, 1}},     {"uchar", {AppendInteger<cl_uchar>, 1}},
    {"short", {AppendInteger<cl_short>, 2}},   {"ushort", {AppendInteger<cl_ushort>, 2}},
    {"int", {AppendInteger<cl_int>, 4}},       {"uint", {AppendInteger<cl_uint>, 4}},
    {"long", {AppendInteger<cl_long>, 8}},     {"ulong", {AppendInteger<cl_ulong>, 8}},
    {"half", {AppendHalf, 2}},                 {"float", {AppendFloat, 4}},
    {"double", {AppendDouble, 8}},             {"bool", {AppendBool, 4}},
    {"unsigned char", {AppendInteger<cl_uchar>, 1}},   {"unsigned short", {AppendInteger<cl_ushort>, 2}},
    {"unsigned int", {AppendInteger<cl_uint>, 4}},     {"unsigned", {AppendInteger<cl_uint>, 4}},
    {"unsigned long", {AppendInteger<cl_ulong>, 8}},
};

/** "uint4" → the scalar and 4; "uint" → the scalar and 1; nothing for other types. */
const Scalar* ParseType(const std::string& type, size_t* width) {
  size_t digits = type.find_last_not_of("0123456789") + 1;
  *width = digits < type.size() && type.size() - digits <= 2 ? std::stoul(type.substr(digits)) : 1;
  if (*width != 1 && *width != 2 && *width != 3 && *width != 4 && *width != 8 && *width != 16) return nullptr;
  auto found = kScalars.find(type.substr(0, digits));
  return found == kScalars.end() ? nullptr : &found->second;
}

/** Asks the driver once what an argument is. Programs without argument info leave the type empty. */
const KernelArgument& Describe(Object& kernel, cl_uint index) {
  if (kernel.arguments.size() <= index) kernel.arguments.resize(index + 1);
  KernelArgument& argument = kernel.arguments[index];
  if (argument.asked) return argument;
  argument.asked = true;
  argument.status = CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  if (kernel.platform->version < api.clGetKernelArgInfo.since || !api.clGetKernelArgInfo.pointer) return argument;
  char type[256] = "";
  cl_kernel_arg_address_qualifier qualifier = 0;
  auto raw = kernel.As<cl_kernel>();
  argument.status =
      api.clGetKernelArgInfo(raw, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof qualifier, &qualifier, nullptr);
  if (argument.status == CL_SUCCESS) {
    argument.status =
        api.clGetKernelArgInfo(raw, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1, type, nullptr);
  }
  if (argument.status == CL_SUCCESS) {
    argument.type = type;
    argument.local = qualifier == CL_KERNEL_ARG_ADDRESS_LOCAL;
  }
  return argument;
}

bool IsMemoryType(const std::string& type) {
  return type.back() == '*' || type == "cl_mem" || type.compare(0, 5, "image") == 0 || type.find("pipe") == 0;
}

bool SetLocal(Call& call, Object& kernel, cl_uint index, v8::Local<v8::Value> value) {
  if (!value->IsNumber() && !value->IsBigInt()) {
    return call.Fail(CL_INVALID_ARG_VALUE, "local memory takes its size in bytes");
  }
  size_t bytes = call.Unsigned(value, CL_INVALID_ARG_VALUE, SIZE_MAX);
  return call.ok() && call.Check(api.clSetKernelArg(kernel.As<cl_kernel>(), index, bytes, nullptr));
}

/** Sets a handle's object and keeps it: the driver does not. */
bool SetObject(Call& call, Object& kernel, cl_uint index, std::shared_ptr<Object> object) {
  if (!call.ok()) return false;
  if (!call.Check(api.clSetKernelArg(kernel.As<cl_kernel>(), index, sizeof object->raw, &object->raw))) return false;
  if (kernel.arguments.size() <= index) kernel.arguments.resize(index + 1);
  kernel.arguments[index].object = std::move(object);
  kernel.arguments[index].svm = nullptr;
  return true;
}

bool SetBytes(Call& call, Object& kernel, cl_uint index, size_t length, const void* data) {
  if (!call.ok()) return false;
  // NVIDIA's driver and others take null for "local memory"; by-value arguments are never empty.
  if (length == 0) return call.Fail(CL_INVALID_ARG_SIZE, "an argument by value has at least one byte");
  return call.Check(api.clSetKernelArg(kernel.As<cl_kernel>(), index, length, data));
}

bool SetTyped(Call& call, Object& kernel, cl_uint index, const std::string& type, v8::Local<v8::Value> value) {
  if (type == "local" || type == "__local") return SetLocal(call, kernel, index, value);
  if (type == "sampler_t") {
    return SetObject(call, kernel, index, call.Handle(value, Kind::kSampler, CL_INVALID_SAMPLER));
  }
  if (type == "queue_t") {
    return SetObject(call, kernel, index, call.Handle(value, Kind::kCommandQueue, CL_INVALID_DEVICE_QUEUE));
  }
  if (IsMemoryType(type)) {
    if (value->IsNull()) {  // a null pointer is a legal argument
      void* null = nullptr;
      if (index < kernel.arguments.size()) kernel.arguments[index].object.reset();
      return call.Check(api.clSetKernelArg(kernel.As<cl_kernel>(), index, sizeof null, &null));
    }
    return SetObject(call, kernel, index, call.Handle(value, Kind::kMemObject, CL_INVALID_MEM_OBJECT));
  }

  HostMemory memory;
  bool is_memory = HostMemory::Of(value, &memory);
  size_t width = 1;
  const Scalar* scalar = ParseType(type, &width);
  if (!scalar) {  // a struct of the program's: only its bytes will do
    if (is_memory) return SetBytes(call, kernel, index, memory.bytes, memory.data);
    return call.Fail(CL_INVALID_ARG_VALUE, "an argument of type " + type + " takes its bytes as a Buffer");
  }
  size_t slots = width == 3 ? 4 : width;  // OpenCL stores three as four
  if (is_memory) {
    if (memory.bytes == scalar->bytes * slots) return SetBytes(call, kernel, index, memory.bytes, memory.data);
    if (width == 3 && memory.bytes == scalar->bytes * 3) {
      Bytes padded(static_cast<char*>(memory.data), static_cast<char*>(memory.data) + memory.bytes);
      padded.resize(scalar->bytes * slots);
      return SetBytes(call, kernel, index, padded.size(), padded.data());
    }
    return call.Fail(CL_INVALID_ARG_SIZE, type + " has " + std::to_string(scalar->bytes * slots) +
                                              " bytes, not " + std::to_string(memory.bytes));
  }
  Bytes bytes;
  if (width == 1) {
    if (value->IsObject()) return call.Fail(CL_INVALID_ARG_VALUE, "expected a number for " + type);
    scalar->append(call, value, &bytes);
  } else {
    if (!value->IsArray()) return call.Fail(CL_INVALID_ARG_VALUE, "expected an array for " + type);
    auto array = value.As<v8::Array>();
    if (array->Length() != width) {
      return call.Fail(CL_INVALID_ARG_SIZE, "expected " + std::to_string(width) + " numbers for " + type);
    }
    for (uint32_t i = 0; call.ok() && i < width; i++) {
      scalar->append(call, Nan::Get(array, i).ToLocalChecked(), &bytes);
    }
    bytes.resize(scalar->bytes * slots);
  }
  return SetBytes(call, kernel, index, bytes.size(), bytes.data());
}

/** Without a type: the kernel's own argument info decides, and where there is none the value does. */
bool SetUntyped(Call& call, Object& kernel, cl_uint index, v8::Local<v8::Value> value) {
  Environment& environment = call.environment();
  const KernelArgument& argument = Describe(kernel, index);
  if (argument.status == CL_SUCCESS && !argument.type.empty()) {
    return argument.local ? SetLocal(call, kernel, index, value)
                          : SetTyped(call, kernel, index, std::string(argument.type), value);
  }
  if (argument.status == CL_INVALID_ARG_INDEX) return call.Fail(CL_INVALID_ARG_INDEX);
  for (Kind kind : {Kind::kMemObject, Kind::kSampler, Kind::kCommandQueue}) {
    if (UnwrapAny(environment, kind, value)) {
      return SetObject(call, kernel, index, call.Handle(value, kind, InvalidStatus(kind)));
    }
  }
  HostMemory memory;
  if (HostMemory::Of(value, &memory)) return SetBytes(call, kernel, index, memory.bytes, memory.data);
  return call.Fail(CL_INVALID_ARG_VALUE,
                   "the driver does not tell the argument's type: name it, as in setKernelArg(k, i, 'uint', 5)");
}

NAN_METHOD(SetKernelArg) {
  Call call(info, "clSetKernelArg");
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  std::string type = call.Has(2) ? call.Text(2, CL_INVALID_VALUE) : std::string();
  if (!call.ok()) return;
  cl_uint count = 0;
  if (!call.Check(api.clGetKernelInfo(kernel->As<cl_kernel>(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr))) {
    return;
  }
  if (index >= count) {
    return (void)call.Fail(CL_INVALID_ARG_INDEX, "the kernel has " + std::to_string(count) + " arguments");
  }
  if (type.empty() ? SetUntyped(call, *kernel, index, call[3]) : SetTyped(call, *kernel, index, type, call[3])) {
    call.ReturnSuccess();
  }
}

NAN_METHOD(SetKernelArgSVMPointer) {
  Call call(info, "clSetKernelArgSVMPointer");
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  HostMemory memory = call.Memory(2, 1, CL_INVALID_ARG_VALUE);
  if (!call.ok() || !call.Supported(api.clSetKernelArgSVMPointer, kernel->platform)) return;
  if (!call.environment().svm().Contains(memory.data)) {
    return (void)call.Fail(CL_INVALID_ARG_VALUE, "argument 3: expected memory of SVMAlloc that is not freed");
  }
  if (!call.Check(api.clSetKernelArgSVMPointer(kernel->As<cl_kernel>(), index, memory.data))) return;
  if (kernel->arguments.size() <= index) kernel->arguments.resize(index + 1);
  kernel->arguments[index].object.reset();
  kernel->arguments[index].svm = memory.data;
  call.ReturnSuccess();
}

NAN_METHOD(SetKernelExecInfo) {
  Call call(info, "clSetKernelExecInfo");
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint name = call.Uint(1);
  if (!call.ok() || !call.Supported(api.clSetKernelExecInfo, kernel->platform)) return;
  auto raw = kernel->As<cl_kernel>();
  if (name == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
    auto array = call.Array(2);
    std::vector<void*> pointers;
    for (uint32_t i = 0; call.ok() && i < array->Length(); i++) {
      HostMemory memory = call.Memory(Nan::Get(array, i).ToLocalChecked(), 1, CL_INVALID_VALUE);
      if (call.ok() && !call.environment().svm().Contains(memory.data)) {
        call.Fail(CL_INVALID_VALUE, "argument 3: expected memory of SVMAlloc that is not freed");
      }
      pointers.push_back(memory.data);
    }
    if (call.ok() && call.Check(api.clSetKernelExecInfo(raw, name, pointers.size() * sizeof(void*), pointers.data()))) {
      call.ReturnSuccess();
    }
    return;
  }
  cl_bool flag = call.Bool(2) ? CL_TRUE : CL_FALSE;
  if (call.Check(api.clSetKernelExecInfo(raw, name, sizeof flag, &flag))) call.ReturnSuccess();
}

NAN_METHOD(GetKernelInfo) {
  Call call(info, "clGetKernelInfo");
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint name = call.Uint(1);
  ReturnInfo(call, name, kKernelInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetKernelInfo(kernel->As<cl_kernel>(), name, bytes, value, needed);
             },
             kernel ? kernel->platform : nullptr);
}

NAN_METHOD(GetKernelArgInfo) {
  Call call(info, "clGetKernelArgInfo");
  auto kernel = call.Handle(0, Kind::kKernel);
  cl_uint index = call.Uint(1, CL_INVALID_ARG_INDEX);
  cl_uint name = call.Uint(2);
  if (!call.ok() || !call.Supported(api.clGetKernelArgInfo, kernel->platform)) return;
  ReturnInfo(call, name, kArgumentInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetKernelArgInfo(kernel->As<cl_kernel>(), index, name, bytes, value, needed);
             },
             kernel->platform);
}

NAN_METHOD(GetKernelWorkGroupInfo) {
  Call call(info, "clGetKernelWorkGroupInfo");
  auto kernel = call.Handle(0, Kind::kKernel);
  std::shared_ptr<Object> device;
  if (call.Has(1)) device = call.Handle(1, Kind::kDevice);
  cl_uint name = call.Uint(2);
  if (!call.ok()) return;
  cl_device_id id = device ? device->As<cl_device_id>() : nullptr;
  ReturnInfo(call, name, kWorkGroupInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetKernelWorkGroupInfo(kernel->As<cl_kernel>(), id, name, bytes, value, needed);
             },
             kernel->platform);
}

NAN_METHOD(GetKernelSubGroupInfo) {
  Call call(info, "clGetKernelSubGroupInfo");
  auto kernel = call.Handle(0, Kind::kKernel);
  std::shared_ptr<Object> device;
  if (call.Has(1)) device = call.Handle(1, Kind::kDevice);
  cl_uint name = call.Uint(2);
  std::vector<size_t> input;
  if (call.ok() && call[3]->IsNumber()) {
    input.push_back(call.Size(3));
  } else if (call.Has(3)) {
    auto array = call.Array(3);
    if (call.ok()) input = call.Sizes(3, array->Length(), CL_INVALID_VALUE);
  }
  if (!call.ok() || !call.Supported(api.clGetKernelSubGroupInfo, kernel->platform)) return;
  cl_device_id id = device ? device->As<cl_device_id>() : nullptr;
  ReturnInfo(call, name, kSubGroupInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               // The one answer whose length the caller chooses: a work-group size in three dimensions.
               if (name == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT && !value) {
                 *needed = 3 * sizeof(size_t);
                 return CL_SUCCESS;
               }
               return api.clGetKernelSubGroupInfo(kernel->As<cl_kernel>(), id, name,
                                                  input.size() * sizeof(size_t),
                                                  input.empty() ? nullptr : input.data(), bytes, value, needed);
             },
             kernel->platform);
}

NAN_METHOD(EnqueueNDRangeKernel) {
  Call call(info, "clEnqueueNDRangeKernel");
  Object* queue = call.Borrow(0, Kind::kCommandQueue);
  Object* kernel = call.Borrow(1, Kind::kKernel);
  cl_uint dimensions = call.Uint(2, CL_INVALID_WORK_DIMENSION);
  if (call.ok() && (dimensions < 1 || dimensions > 3)) {
    call.Fail(CL_INVALID_WORK_DIMENSION, "expected 1, 2 or 3 dimensions");
  }
  WorkSize offset = call.Work(3, dimensions, CL_INVALID_GLOBAL_OFFSET);
  WorkSize global = call.Work(4, dimensions, CL_INVALID_GLOBAL_WORK_SIZE);
  WorkSize local = call.Work(5, dimensions, CL_INVALID_WORK_GROUP_SIZE);
  WaitList waits = call.Events(6);
  bool wanted = call.Bool(7);
  if (!call.ok() || !CheckArguments(call, *kernel)) return;
  // OpenCL 2.1 allows no size at all; what it means is rarely what was meant.
  if (!global.given) return (void)call.Fail(CL_INVALID_GLOBAL_WORK_SIZE, "argument 5: expected sizes");
  cl_event event = nullptr;
  cl_int status = api.clEnqueueNDRangeKernel(queue->As<cl_command_queue>(), kernel->As<cl_kernel>(), dimensions,
                                             offset.data(), global.data(), local.data(), waits.count(),
                                             waits.data(), wanted ? &event : nullptr);
  call.ReturnEvent(status, wanted, event, *queue);
}

NAN_METHOD(EnqueueTask) {
  Call call(info, "clEnqueueTask");
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto kernel = call.Handle(1, Kind::kKernel);
  WaitList waits = call.Events(2);
  bool wanted = call.Bool(3);
  if (!call.ok() || !CheckArguments(call, *kernel)) return;
  cl_event event = nullptr;
  cl_int status = api.clEnqueueTask(queue->As<cl_command_queue>(), kernel->As<cl_kernel>(), waits.count(),
                                    waits.data(), wanted ? &event : nullptr);
  call.ReturnEvent(status, wanted, event, *queue);
}

NAN_METHOD(EnqueueNativeKernel) {
  Call call(info, "clEnqueueNativeKernel");
  call.Fail(kUnsupported, "a native kernel is a C function that a driver thread calls; JavaScript has none");
}

}  // namespace

bool CheckArguments(Call& call, const Object& kernel) {
  for (size_t i = 0; i < kernel.arguments.size(); i++) {
    const KernelArgument& argument = kernel.arguments[i];
    if ((argument.object && (!argument.object->raw || argument.object->HostDetached())) ||
        (argument.svm && !call.environment().svm().Contains(argument.svm))) {
      return call.Fail(CL_INVALID_KERNEL_ARGS, "kernel argument " + std::to_string(i) + " was released");
    }
  }
  return true;
}

void ExportKernel(Exports& exports) {
  exports.Set<CreateKernel>("createKernel");
  exports.Set<CreateKernelsInProgram>("createKernelsInProgram");
  exports.Set<CloneKernel>("cloneKernel");
  exports.Set<RetainKernel>("retainKernel");
  exports.Set<ReleaseKernel>("releaseKernel");
  exports.Set<SetKernelArg>("setKernelArg");
  exports.Set<SetKernelArgSVMPointer>("setKernelArgSVMPointer");
  exports.Set<SetKernelExecInfo>("setKernelExecInfo");
  exports.Set<GetKernelInfo>("getKernelInfo");
  exports.Set<GetKernelArgInfo>("getKernelArgInfo");
  exports.Set<GetKernelWorkGroupInfo>("getKernelWorkGroupInfo");
  exports.Set<GetKernelSubGroupInfo>("getKernelSubGroupInfo");
  exports.Set<EnqueueNDRangeKernel>("enqueueNDRangeKernel");
  exports.Set<EnqueueTask>("enqueueTask");
  exports.Set<EnqueueNativeKernel>("enqueueNativeKernel");
}

}  // namespace clsort
