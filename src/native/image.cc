#include "image.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bounds.h"
#include "info.h"
#include "memory.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kImageInfo = {
    {CL_IMAGE_FORMAT, Info::kFormat},
    {CL_IMAGE_ELEMENT_SIZE, Info::kSize},
    {CL_IMAGE_ROW_PITCH, Info::kSize},
    {CL_IMAGE_SLICE_PITCH, Info::kSize},
    {CL_IMAGE_WIDTH, Info::kSize},
    {CL_IMAGE_HEIGHT, Info::kSize},
    {CL_IMAGE_DEPTH, Info::kSize},
    {CL_IMAGE_ARRAY_SIZE, Info::kSize},
    {CL_IMAGE_BUFFER, Info::kHandle, Kind::kMemObject},
    {CL_IMAGE_NUM_MIP_LEVELS, Info::kUint},
    {CL_IMAGE_NUM_SAMPLES, Info::kUint},
};

/** Returns a property of an image format or description; throws if the object has it under its C name instead. */
v8::Local<v8::Value> ReadKey(Call& call, v8::Local<v8::Object> object, const char* name, const std::string& in_c,
                             cl_int status) {
  auto value = call.Property(object, name);
  if (!call.ok() || !value->IsUndefined() || call.Property(object, in_c.c_str())->IsUndefined()) return value;
  call.Fail(status, "expected " + std::string(name) + " but got " + in_c + ", its name in C");
  return value;
}

cl_image_format ReadFormat(Call& call, int i) {
  cl_image_format format{};
  if (!call.ok()) return format;
  if (!call[i]->IsObject()) {
    call.FailArgument(i, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "{ channel_order, channel_data_type }");
    return format;
  }
  auto object = call[i].As<v8::Object>();
  auto read = [&](const char* name) {
    constexpr cl_int status = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    call.SetSubject();
    auto value = ReadKey(call, object, name, std::string("image_") + name, status);
    call.SetSubject(name);
    return static_cast<cl_uint>(call.Unsigned(value, status, UINT32_MAX));
  };
  format.image_channel_order = read("channel_order");
  format.image_channel_data_type = read("channel_data_type");
  call.SetSubject();
  return format;
}

/** Returns the number of channels of an order; 4, which is safe, for orders of extensions. */
size_t Channels(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH: return 1;
    case CL_RG:
    case CL_RA:
    case CL_Rx: return 2;
    case CL_RGB:
    case CL_RGx:
    case CL_sRGB: return 3;
    default: return 4;
  }
}

/** Returns the bytes of a pixel of a format, before an image exists that could be queried. */
size_t FormatBytes(const cl_image_format& format) {
  switch (format.image_channel_data_type) {
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555: return 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT_101010_2: return 4;
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8: return Channels(format.image_channel_order);
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT: return 2 * Channels(format.image_channel_order);
    default: return 4 * Channels(format.image_channel_order);
  }
}

size_t AtLeast1(size_t n) { return n ? n : 1; }

/** Description of an image to be created, and its source. */
struct Shape {
  cl_image_desc desc{};
  /** The object in `desc.buffer`. */
  std::shared_ptr<Object> source;
};

/** Bytes that the image takes in linear memory. They are doubles, which do not overflow. */
struct Footprint {
  double pixel, row, rows, slice, bytes;

  Footprint(const cl_image_format& format, const cl_image_desc& shape) {
    bool array = shape.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || shape.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    bool flat = shape.image_type == CL_MEM_OBJECT_IMAGE1D || shape.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
                shape.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    size_t slices = array                                       ? AtLeast1(shape.image_array_size)
                    : shape.image_type == CL_MEM_OBJECT_IMAGE3D ? AtLeast1(shape.image_depth)
                                                                : 1;
    auto real = [](size_t n) { return static_cast<double>(n); };
    pixel = real(FormatBytes(format));
    row = shape.image_row_pitch ? real(shape.image_row_pitch) : real(shape.image_width) * pixel;
    rows = flat ? 1 : real(AtLeast1(shape.image_height));
    slice = shape.image_slice_pitch ? real(shape.image_slice_pitch) : row * rows;
    bytes = slice * real(slices);
  }

  size_t Bytes() const { return bytes > 9e15 ? SIZE_MAX : static_cast<size_t>(bytes); }
};

/** A device loads a pixel of four floats at once. */
constexpr size_t kMaxPixelAlignment = 16;

/** Throws if an image over host memory would begin inside a pixel: PoCL's kernels crash on it. */
bool CheckAlignment(Call& call, const Footprint& footprint, cl_mem_flags flags, const HostMemory& host) {
  if (!(flags & CL_MEM_USE_HOST_PTR) || !host.data) return true;
  auto pixel = static_cast<size_t>(footprint.pixel);
  size_t alignment = std::min(pixel & -pixel, kMaxPixelAlignment);
  return alignment == 0 || reinterpret_cast<uintptr_t>(host.data) % alignment == 0 ||
         call.Fail(CL_INVALID_HOST_PTR, "expected host memory that begins at a multiple of " +
                                            std::to_string(alignment) + " bytes, as an ArrayBuffer does");
}

/**
 * Throws for descriptions with which drivers read beyond the host memory or the buffer, or end the process (PoCL, for
 * levels and samples). `status` is OpenCL's code for invalid pitches.
 */
bool CheckShape(Call& call, const cl_image_format& format, const Shape& shape, cl_mem_flags flags,
                const HostMemory& host, cl_int status) {
  if (!call.ok()) return false;
  const cl_image_desc& desc = shape.desc;
  if (desc.num_mip_levels || desc.num_samples) {
    return call.Fail(CL_INVALID_IMAGE_DESCRIPTOR,
                     "expected an image without mip levels and samples but got one with them");
  }
  Footprint footprint(format, desc);
  if (!CheckAlignment(call, footprint, flags, host)) return false;
  if (desc.image_row_pitch || desc.image_slice_pitch) {
    if (!host.data && !shape.source)
      return call.Fail(status, "expected pitches of 0 without host memory but got others");
    double width = static_cast<double>(desc.image_width) * footprint.pixel;
    if (footprint.row < width || std::fmod(footprint.row, footprint.pixel) != 0) {
      return call.Fail(status, "row_pitch: expected whole pixels and at least the width of the image");
    }
    if (footprint.slice < footprint.row * footprint.rows || std::fmod(footprint.slice, footprint.row) != 0) {
      return call.Fail(status, "slice_pitch: expected whole rows and at least the height of the image");
    }
  }
  if (!shape.source) return true;
  const Extent* source = ExtentOf(call, *shape.source);
  if (!source) return false;
  return source->type != CL_MEM_OBJECT_BUFFER || footprint.bytes <= static_cast<double>(source->bytes) ||
         call.Fail(status,
                   "expected a buffer that holds the image but got " + std::to_string(source->bytes) + " bytes");
}

Shape ReadShape(Call& call, int i) {
  Shape made;
  cl_image_desc& shape = made.desc;
  if (!call.ok()) return made;
  if (!call[i]->IsObject()) {
    call.FailArgument(i, CL_INVALID_IMAGE_DESCRIPTOR, "{ type, width, height, … }");
    return made;
  }
  auto object = call[i].As<v8::Object>();
  auto read = [&](const char* name, size_t max = SIZE_MAX) -> size_t {
    constexpr cl_int status = CL_INVALID_IMAGE_DESCRIPTOR;
    call.SetSubject();
    // Programs for node-opencl also pass pitches under their C names, which node-opencl ignores as well.
    bool checks_c_name = std::strstr(name, "_pitch") == nullptr && std::strncmp(name, "num_", 4) != 0;
    auto value =
        checks_c_name ? ReadKey(call, object, name, std::string("image_") + name, status) : call.Property(object, name);
    call.SetSubject(name);
    return value->IsUndefined() || value->IsNull() ? 0 : call.Unsigned(value, status, max);
  };
  shape.image_type = static_cast<cl_mem_object_type>(read("type", UINT32_MAX));
  shape.image_width = read("width");
  shape.image_height = read("height");
  shape.image_depth = read("depth");
  shape.image_array_size = read("array_size");
  shape.image_row_pitch = read("row_pitch");
  shape.image_slice_pitch = read("slice_pitch");
  shape.num_mip_levels = static_cast<cl_uint>(read("num_mip_levels", UINT32_MAX));
  shape.num_samples = static_cast<cl_uint>(read("num_samples", UINT32_MAX));
  call.SetSubject();
  auto buffer = ReadKey(call, object, "buffer", "mem_object", CL_INVALID_IMAGE_DESCRIPTOR);
  if (call.ok() && !buffer->IsUndefined() && !buffer->IsNull()) {
    made.source = call.Handle(buffer, Kind::kMemObject, CL_INVALID_MEM_OBJECT);
    if (made.source) shape.buffer = made.source->As<cl_mem>();
  }
  return made;
}

CLSORT_EXPORT(createImage, "clCreateImage") {
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_image_format format = ReadFormat(call, 2);
  Shape shape = ReadShape(call, 3);
  HostMemory host = ReadHostPointer(call, 4, flags, Footprint(format, shape.desc).Bytes());
  if (!call.ok() || !call.Supported(api.clCreateImage, context->platform)) return;
  if (!CheckShape(call, format, shape, flags, host, CL_INVALID_IMAGE_DESCRIPTOR)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image = api.clCreateImage(context->As<cl_context>(), flags, &format, &shape.desc, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

CLSORT_EXPORT(createImageWithProperties, "clCreateImageWithProperties") {
  auto context = call.Handle(0, Kind::kContext);
  auto properties = call.Properties<cl_mem_properties>(1, CL_INVALID_PROPERTY);
  cl_mem_flags flags = call.Bits(2);
  cl_image_format format = ReadFormat(call, 3);
  Shape shape = ReadShape(call, 4);
  HostMemory host = ReadHostPointer(call, 5, flags, Footprint(format, shape.desc).Bytes());
  if (!call.ok() || !call.Supported(api.clCreateImageWithProperties, context->platform)) return;
  if (!CheckShape(call, format, shape, flags, host, CL_INVALID_IMAGE_DESCRIPTOR)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image =
      api.clCreateImageWithProperties(context->As<cl_context>(), properties.empty() ? nullptr : properties.data(),
                                      flags, &format, &shape.desc, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

CLSORT_EXPORT(createImage2D, "clCreateImage2D") {
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_image_format format = ReadFormat(call, 2);
  Shape made;
  cl_image_desc& shape = made.desc;
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = call.Size(3);
  shape.image_height = call.Size(4);
  shape.image_row_pitch = call.SizeOr0(5);
  HostMemory host = ReadHostPointer(call, 6, flags, Footprint(format, shape).Bytes());
  if (!call.Loaded(api.clCreateImage2D) || !CheckShape(call, format, made, flags, host, CL_INVALID_IMAGE_SIZE)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image = api.clCreateImage2D(context->As<cl_context>(), flags, &format, shape.image_width, shape.image_height,
                                     shape.image_row_pitch, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

CLSORT_EXPORT(createImage3D, "clCreateImage3D") {
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_image_format format = ReadFormat(call, 2);
  Shape made;
  cl_image_desc& shape = made.desc;
  shape.image_type = CL_MEM_OBJECT_IMAGE3D;
  shape.image_width = call.Size(3);
  shape.image_height = call.Size(4);
  shape.image_depth = call.Size(5);
  shape.image_row_pitch = call.SizeOr0(6);
  shape.image_slice_pitch = call.SizeOr0(7);
  HostMemory host = ReadHostPointer(call, 8, flags, Footprint(format, shape).Bytes());
  if (!call.Loaded(api.clCreateImage3D) || !CheckShape(call, format, made, flags, host, CL_INVALID_IMAGE_SIZE)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image =
      api.clCreateImage3D(context->As<cl_context>(), flags, &format, shape.image_width, shape.image_height,
                          shape.image_depth, shape.image_row_pitch, shape.image_slice_pitch, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

CLSORT_EXPORT(getSupportedImageFormats, "clGetSupportedImageFormats") {
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_mem_object_type type = call.Uint(2);
  if (!call.ok()) return;
  cl_uint count = 0;
  auto raw = context->As<cl_context>();
  if (!call.Check(api.clGetSupportedImageFormats(raw, flags, type, 0, nullptr, &count))) return;
  std::vector<cl_image_format> formats(count);
  if (count && !call.Check(api.clGetSupportedImageFormats(raw, flags, type, count, formats.data(), nullptr))) {
    return;
  }
  auto array = Nan::New<v8::Array>();
  for (cl_uint i = 0; i < count; i++) {
    auto object = Nan::New<v8::Object>();
    SetFormat(object, formats[i]);
    Nan::Set(array, i, object);
  }
  call.Return(array);
}

CLSORT_EXPORT(getImageInfo, "clGetImageInfo") {
  ReturnInfoOf<cl_mem>(call, Kind::kMemObject, kImageInfo, api.clGetImageInfo);
}

}  // namespace

std::array<char, 16> ReadFillColor(Call& call, int i, const std::shared_ptr<Object>& image) {
  std::array<char, 16> color{};
  if (!call.ok()) return color;
  if (!call[i]->IsArray()) {
    HostMemory memory = call.Memory(i, color.size());
    if (call.ok()) std::memcpy(color.data(), memory.data, color.size());
    return color;
  }
  auto elements = call.Elements(i);
  if (call.ok() && elements.size() != 4) call.FailArgument(i, CL_INVALID_VALUE, "four numbers");
  if (!call.ok()) return color;
  cl_image_format format{};
  api.clGetImageInfo(image->As<cl_mem>(), CL_IMAGE_FORMAT, sizeof format, &format, nullptr);
  cl_channel_type type = format.image_channel_data_type;
  for (size_t k = 0; k < 4; k++) {
    auto element = elements[k];
    char* slot = color.data() + 4 * k;
    auto store = [slot](auto value) { std::memcpy(slot, &value, sizeof value); };
    if (type == CL_SIGNED_INT8 || type == CL_SIGNED_INT16 || type == CL_SIGNED_INT32) {
      store(call.Int(element, CL_INVALID_VALUE));
    } else if (type == CL_UNSIGNED_INT8 || type == CL_UNSIGNED_INT16 || type == CL_UNSIGNED_INT32) {
      store(static_cast<cl_uint>(call.Unsigned(element, CL_INVALID_VALUE, UINT32_MAX)));
    } else if (element->IsNumber()) {
      store(static_cast<cl_float>(element.As<v8::Number>()->Value()));
    } else {
      call.FailValue(CL_INVALID_VALUE, "four numbers", element);
    }
  }
  return color;
}

}  // namespace clsort
