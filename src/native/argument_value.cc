#include "argument_value.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

namespace clsort {

namespace {

/** Converts to IEEE 754 binary16, rounding to nearest even. */
cl_half ToHalf(double number) {
  float single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<cl_half>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<cl_half>(sign | 0x7c00);  // rounds to 65536 or more
  if (magnitude < 0x38800000) {                                             // denormal: a multiple of 2^-24
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
    call.FailValue(CL_INVALID_ARG_VALUE, "a number", value);
  } else if (std::is_signed<T>::value) {
    int64_t number = call.Signed(value, CL_INVALID_ARG_VALUE);
    if (number != static_cast<T>(number)) call.FailValue(CL_INVALID_ARG_VALUE, "a number that fits the type", value);
    Append(bytes, static_cast<T>(number));
  } else {
    Append(bytes, static_cast<T>(call.Unsigned(value, CL_INVALID_ARG_VALUE, std::numeric_limits<T>::max())));
  }
}

double Real(Call& call, v8::Local<v8::Value> value) {
  if (value->IsNumber()) return value.As<v8::Number>()->Value();
  call.FailValue(CL_INVALID_ARG_VALUE, "a number", value);
  return 0;
}

using Converter = void (*)(Call&, v8::Local<v8::Value>, Bytes*);

void AppendHalf(Call& call, v8::Local<v8::Value> value, Bytes* bytes) { Append(bytes, ToHalf(Real(call, value))); }
void AppendFloat(Call& call, v8::Local<v8::Value> value, Bytes* bytes) {
  Append(bytes, static_cast<cl_float>(Real(call, value)));
}
void AppendDouble(Call& call, v8::Local<v8::Value> value, Bytes* bytes) { Append(bytes, Real(call, value)); }
void AppendBool(Call& call, v8::Local<v8::Value> value, Bytes* bytes) {
  if (!value->IsBoolean() && !value->IsNumber()) call.FailValue(CL_INVALID_ARG_VALUE, "a boolean", value);
  Append(bytes, static_cast<cl_bool>(Nan::To<bool>(value).FromMaybe(false) ? CL_TRUE : CL_FALSE));
}

struct Scalar {
  Converter append;
  size_t bytes;
};

const std::map<std::string, Scalar> kScalars = {
    {"char", {AppendInteger<cl_char>, 1}},
    {"uchar", {AppendInteger<cl_uchar>, 1}},
    {"short", {AppendInteger<cl_short>, 2}},
    {"ushort", {AppendInteger<cl_ushort>, 2}},
    {"int", {AppendInteger<cl_int>, 4}},
    {"uint", {AppendInteger<cl_uint>, 4}},
    {"long", {AppendInteger<cl_long>, 8}},
    {"ulong", {AppendInteger<cl_ulong>, 8}},
    {"half", {AppendHalf, 2}},
    {"float", {AppendFloat, 4}},
    {"double", {AppendDouble, 8}},
    {"bool", {AppendBool, 4}},
    {"unsigned char", {AppendInteger<cl_uchar>, 1}},
    {"unsigned short", {AppendInteger<cl_ushort>, 2}},
    {"unsigned int", {AppendInteger<cl_uint>, 4}},
    {"unsigned", {AppendInteger<cl_uint>, 4}},
    {"unsigned long", {AppendInteger<cl_ulong>, 8}},
};

/** Parses "uint4" as the scalar and 4, "uint" as the scalar and 1; returns null for other types. */
const Scalar* ParseType(const std::string& type, size_t* width) {
  size_t digits = type.find_last_not_of("0123456789") + 1;
  *width = digits < type.size() && type.size() - digits <= 2 ? std::stoul(type.substr(digits)) : 1;
  if (*width != 1 && *width != 2 && *width != 3 && *width != 4 && *width != 8 && *width != 16) return nullptr;
  auto found = kScalars.find(type.substr(0, digits));
  return found == kScalars.end() ? nullptr : &found->second;
}

/** OpenCL stores vectors of three like vectors of four. */
size_t Slots(size_t width) { return width == 3 ? 4 : width; }

/** Returns whether the type is "image2d_t", "image1d_array_t" or similar, but not a struct of the program. */
bool IsImageType(const std::string& type) {
  return type.size() >= 9 && type.compare(0, 5, "image") == 0 && type[5] >= '1' && type[5] <= '3' && type[6] == 'd' &&
         type.compare(type.size() - 2, 2, "_t") == 0;
}

bool StartsWith(const std::string& type, const char* word) {
  size_t length = std::strlen(word);
  return type.compare(0, length, word) == 0 && (type.size() == length || type[length] == ' ');
}

/**
 * Returns the kind of argument that a type name requires; kBuffer for every memory object, because the handle has the
 * exact kind.
 */
Takes TakesOf(const std::string& type) {
  if (StartsWith(type, "local") || StartsWith(type, "__local")) return Takes::kLocal;
  if (type == "sampler_t") return Takes::kSampler;
  if (type == "queue_t") return Takes::kQueue;
  bool memory = type.back() == '*' || type == "cl_mem" || StartsWith(type, "pipe") || IsImageType(type);
  return memory ? Takes::kBuffer : Takes::kValue;
}

/** Reads one value from JavaScript for a kernel argument. */
class Reader {
 public:
  Reader(Call& call, const KernelArgument& argument, size_t index) : call_(call), argument_(argument) {
    read_.index = index;
  }

  ArgumentValue Take() { return std::move(read_); }

  void Typed(Takes takes, const std::string& type, v8::Local<v8::Value> value) {
    switch (takes) {
      case Takes::kLocal: return Local(value);
      case Takes::kSampler: return Handle(value, Kind::kSampler, takes, CL_INVALID_SAMPLER);
      case Takes::kQueue: return Handle(value, Kind::kCommandQueue, takes, CL_INVALID_DEVICE_QUEUE);
      case Takes::kBuffer:
      case Takes::kImage:
      case Takes::kPipe: return Memory(value);
      default: return Value(type, value);
    }
  }

  /** Determines the type from the value, if neither the caller nor the driver names it. */
  void Untyped(v8::Local<v8::Value> value) {
    Environment& environment = call_.environment();
    if (UnwrapAny(environment, Kind::kMemObject, value)) return Memory(value);
    if (UnwrapAny(environment, Kind::kSampler, value)) return Typed(Takes::kSampler, {}, value);
    if (UnwrapAny(environment, Kind::kCommandQueue, value)) return Typed(Takes::kQueue, {}, value);
    HostMemory memory;
    bool is_memory = HostMemory::Of(value, &memory);
    if (is_memory && argument_.takes == Takes::kGuessed && memory.bytes == sizeof(void*)) {
      call_.Fail(CL_INVALID_ARG_VALUE,
                 "the driver does not report whether this is a value or an image: name the type, as in "
                 "setKernelArg(k, i, 'ulong', bytes)");
    } else if (is_memory) {
      Store(memory.data, memory.bytes, 0);
    } else {
      call_.Fail(CL_INVALID_ARG_VALUE,
                 "the driver does not report the argument's type: name it, as in setKernelArg(k, i, 'uint', 5)");
    }
  }

 private:
  void Local(v8::Local<v8::Value> value) {
    read_.kind = Takes::kLocal;
    if (!CheckOffer(call_, argument_, read_.index, Takes::kLocal)) return;
    if (!value->IsNumber() && !value->IsBigInt()) {
      call_.FailValue(CL_INVALID_ARG_VALUE, "the size of local memory in bytes", value);
    }
    read_.local = call_.Unsigned(value, CL_INVALID_ARG_VALUE, SIZE_MAX);
  }

  void Handle(v8::Local<v8::Value> value, Kind kind, Takes takes, cl_int status) {
    read_.kind = takes;
    if (CheckOffer(call_, argument_, read_.index, takes)) read_.object = call_.Handle(value, kind, status);
  }

  /** Reads a memory object, shared virtual memory, or null for a null pointer. */
  void Memory(v8::Local<v8::Value> value) {
    read_.kind = Takes::kBuffer;
    HostMemory memory;
    bool shared = HostMemory::Of(value, &memory) && call_.Shared(memory.data);
    if (!call_.ok()) return;
    if (value->IsNull() || shared) {
      if (!CheckOffer(call_, argument_, read_.index, Takes::kBuffer) || !shared) return;
      read_.pointer = call_.Memory(value, 1, CL_INVALID_MEM_OBJECT).data;
      return;
    }
    read_.object = call_.Handle(value, Kind::kMemObject, CL_INVALID_MEM_OBJECT);
    if (read_.object) CheckMemory(call_, argument_, read_.index, *read_.object);
  }

  /** Stores bytes, padded with zeros up to `padded`. */
  void Store(const void* data, size_t bytes, size_t padded) {
    auto* first = static_cast<const char*>(data);
    read_.bytes.assign(first, first + bytes);
    if (bytes < padded) read_.bytes.resize(padded);
    CheckBytes(call_, argument_, read_.index, read_.bytes.size());
  }

  void Value(const std::string& type, v8::Local<v8::Value> value) {
    if (!CheckOffer(call_, argument_, read_.index, Takes::kValue)) return;
    HostMemory memory;
    bool is_memory = HostMemory::Of(value, &memory);
    size_t width = 1;
    const Scalar* scalar = ParseType(type, &width);
    if (!scalar) {  // a struct of the program, which only accepts its bytes
      if (is_memory) return Store(memory.data, memory.bytes, 0);
      return (void)call_.FailValue(
          CL_INVALID_ARG_VALUE,
          "the bytes of " + type + " in a Buffer, or a value with its type, as in " + "setKernelArg(k, i, 'uint', 5),",
          value);
    }
    size_t bytes = scalar->bytes * Slots(width);
    if (is_memory) {
      bool fits = memory.bytes == bytes || (width == 3 && memory.bytes == scalar->bytes * 3);
      if (fits) return Store(memory.data, memory.bytes, bytes);
      return (void)call_.FailExpected(CL_INVALID_ARG_SIZE, std::to_string(bytes) + " bytes for " + type,
                                      std::to_string(memory.bytes));
    }
    Bytes read;
    if (width == 1) {
      if (value->IsObject()) return (void)call_.FailValue(CL_INVALID_ARG_VALUE, "a number for " + type, value);
      scalar->append(call_, value, &read);
    } else {
      if (!value->IsArray()) return (void)call_.FailValue(CL_INVALID_ARG_VALUE, "an array for " + type, value);
      auto elements = call_.Elements(value, CL_INVALID_ARG_VALUE);
      if (call_.ok() && elements.size() != width) {
        return (void)call_.FailExpected(CL_INVALID_ARG_SIZE, std::to_string(width) + " numbers for " + type,
                                        std::to_string(elements.size()));
      }
      for (auto element : elements) scalar->append(call_, element, &read);
    }
    if (call_.ok()) Store(read.data(), read.size(), bytes);
  }

  Call& call_;
  /** Dangles if a getter of the value releases the kernel: check `call_.ok()` after `Elements`. */
  const KernelArgument& argument_;
  ArgumentValue read_;
};

bool Set(Call& call, Object& kernel, ArgumentValue value) {
  if (value.object) return SetObject(call, kernel, value.index, std::move(value.object));
  switch (value.kind) {
    case Takes::kLocal: return SetLocal(call, kernel, value.index, value.local);
    case Takes::kBuffer: return SetPointer(call, kernel, value.index, value.pointer);
    default: return SetBytes(call, kernel, value.index, value.bytes.size(), value.bytes.data());
  }
}

}  // namespace

size_t BytesOfType(const std::string& type) {
  size_t width = 1;
  const Scalar* scalar = ParseType(type, &width);
  return scalar ? scalar->bytes * Slots(width) : 0;
}

ArgumentValue ReadArgument(Call& call, Object& kernel, size_t index, const std::string& type,
                           v8::Local<v8::Value> value) {
  const KernelArgument* found = ArgumentOf(call, kernel, index);
  if (!found) return {};
  const KernelArgument& argument = *found;
  call.SetSubject("kernel argument", index + 1);
  Reader reader(call, argument, index);
  if (!type.empty()) {
    reader.Typed(TakesOf(type), type, value);
  } else if (argument.takes == Takes::kGuessed || (argument.takes == Takes::kValue && argument.type.empty())) {
    reader.Untyped(value);
  } else {
    reader.Typed(argument.takes, argument.type, value);
  }
  call.SetSubject();
  return reader.Take();
}

bool SetArgument(Call& call, Object& kernel, ArgumentValue value) {
  call.SetSubject("kernel argument", value.index + 1);
  bool set = Set(call, kernel, std::move(value));
  call.SetSubject();
  return set;
}

}  // namespace clsort
