#include "image.h"

#include <cstring>

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

cl_image_format ReadFormat(Call& call, int i) {
  cl_image_format format{};
  if (!call.ok()) return format;
  if (!call[i]->IsObject()) {
    call.Fail(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "expected { channel_order, channel_data_type }");
    return format;
  }
  auto object = call[i].As<v8::Object>();
  auto read = [&](const char* name) {
    return static_cast<cl_uint>(
        call.Unsigned(call.Property(object, name), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, UINT32_MAX));
  };
  format.image_channel_order = read("channel_order");
  format.image_channel_data_type = read("channel_data_type");
  return format;
}

/** Channels of an order; those that only exist in extensions count as four, which is safe. */
size_t Channels(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
      return 1;
    case CL_RG:
    case CL_RA:
    case CL_Rx:
      return 2;
    case CL_RGB:
    case CL_RGx:
    case CL_sRGB:
      return 3;
    default:
      return 4;
  }
}

/** Bytes of a pixel by its format, before there is an image to ask. */
size_t FormatBytes(const cl_image_format& format) {
  switch (format.image_channel_data_type) {
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
      return 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT_101010_2:
      return 4;
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return Channels(format.image_channel_order);
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
      return 2 * Channels(format.image_channel_order);
    default:
      return 4 * Channels(format.image_channel_order);
  }
}

size_t AtLeast1(size_t n) { return n ? n : 1; }

/** Bytes of host memory that an image of this description is read from. */
size_t ImageBytes(const cl_image_format& format, const cl_image_desc& shape) {
  bool array = shape.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || shape.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  bool flat = shape.image_type == CL_MEM_OBJECT_IMAGE1D || shape.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
              shape.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  size_t rows = flat ? 1 : AtLeast1(shape.image_height);
  size_t slices = array                                           ? AtLeast1(shape.image_array_size)
                  : shape.image_type == CL_MEM_OBJECT_IMAGE3D ? AtLeast1(shape.image_depth)
                                                                  : 1;
  // Sizes beyond any memory wrap around in integers; as a double they stay beyond it.
  double row = shape.image_row_pitch ? static_cast<double>(shape.image_row_pitch)
                                     : static_cast<double>(shape.image_width) * FormatBytes(format);
  double slice = shape.image_slice_pitch ? static_cast<double>(shape.image_slice_pitch) : row * rows;
  double bytes = slice * slices;
  return bytes > 9e15 ? SIZE_MAX : static_cast<size_t>(bytes);
}

cl_image_desc ReadShape(Call& call, int i) {
  cl_image_desc shape{};
  if (!call.ok()) return shape;
  if (!call[i]->IsObject()) {
    call.Fail(CL_INVALID_IMAGE_DESCRIPTOR, "expected { type, width, height, … }");
    return shape;
  }
  auto object = call[i].As<v8::Object>();
  auto read = [&](const char* name) -> size_t {
    auto value = call.Property(object, name);
    return value->IsUndefined() || value->IsNull() ? 0
                                                   : call.Unsigned(value, CL_INVALID_IMAGE_DESCRIPTOR, SIZE_MAX);
  };
  shape.image_type = static_cast<cl_mem_object_type>(read("type"));
  shape.image_width = read("width");
  shape.image_height = read("height");
  shape.image_depth = read("depth");
  shape.image_array_size = read("array_size");
  shape.image_row_pitch = read("row_pitch");
  shape.image_slice_pitch = read("slice_pitch");
  shape.num_mip_levels = static_cast<cl_uint>(read("num_mip_levels"));
  shape.num_samples = static_cast<cl_uint>(read("num_samples"));
  auto buffer = call.Property(object, "buffer");
  if (call.ok() && !buffer->IsUndefined() && !buffer->IsNull()) {
    auto source = call.Handle(buffer, Kind::kMemObject, CL_INVALID_MEM_OBJECT);
    if (source) shape.buffer = source->As<cl_mem>();
  }
  return shape;
}

NAN_METHOD(CreateImage) {
  Call call(info, "clCreateImage");
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_image_format format = ReadFormat(call, 2);
  cl_image_desc shape = ReadShape(call, 3);
  HostMemory host = ReadHostPointer(call, 4, flags, ImageBytes(format, shape));
  if (!call.ok() || !call.Supported(api.clCreateImage, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image = api.clCreateImage(context->As<cl_context>(), flags, &format, &shape, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

NAN_METHOD(CreateImageWithProperties) {
  Call call(info, "clCreateImageWithProperties");
  auto context = call.Handle(0, Kind::kContext);
  auto properties = call.Properties<cl_mem_properties>(1, CL_INVALID_PROPERTY);
  cl_mem_flags flags = call.Bits(2);
  cl_image_format format = ReadFormat(call, 3);
  cl_image_desc shape = ReadShape(call, 4);
  HostMemory host = ReadHostPointer(call, 5, flags, ImageBytes(format, shape));
  if (!call.ok() || !call.Supported(api.clCreateImageWithProperties, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image = api.clCreateImageWithProperties(context->As<cl_context>(),
                                                 properties.empty() ? nullptr : properties.data(), flags,
                                                 &format, &shape, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

NAN_METHOD(CreateImage2D) {
  Call call(info, "clCreateImage2D");
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_image_format format = ReadFormat(call, 2);
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = call.Size(3);
  shape.image_height = call.Size(4);
  shape.image_row_pitch = call.SizeOr0(5);
  HostMemory host = ReadHostPointer(call, 6, flags, ImageBytes(format, shape));
  if (!call.Loaded(api.clCreateImage2D)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image = api.clCreateImage2D(context->As<cl_context>(), flags, &format, shape.image_width,
                                     shape.image_height, shape.image_row_pitch, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

NAN_METHOD(CreateImage3D) {
  Call call(info, "clCreateImage3D");
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_image_format format = ReadFormat(call, 2);
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE3D;
  shape.image_width = call.Size(3);
  shape.image_height = call.Size(4);
  shape.image_depth = call.Size(5);
  shape.image_row_pitch = call.SizeOr0(6);
  shape.image_slice_pitch = call.SizeOr0(7);
  HostMemory host = ReadHostPointer(call, 8, flags, ImageBytes(format, shape));
  if (!call.Loaded(api.clCreateImage3D)) return;
  cl_int status = CL_SUCCESS;
  cl_mem image = api.clCreateImage3D(context->As<cl_context>(), flags, &format, shape.image_width,
                                     shape.image_height, shape.image_depth, shape.image_row_pitch,
                                     shape.image_slice_pitch, host.data, &status);
  ReturnMemObject(call, status, image, context->platform, flags, host);
}

NAN_METHOD(GetSupportedImageFormats) {
  Call call(info, "clGetSupportedImageFormats");
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

NAN_METHOD(GetImageInfo) {
  Call call(info, "clGetImageInfo");
  auto image = call.Handle(0, Kind::kMemObject);
  cl_uint name = call.Uint(1);
  ReturnInfo(call, name, kImageInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetImageInfo(image->As<cl_mem>(), name, bytes, value, needed);
             },
             image ? image->platform : nullptr);
}

}  // namespace

size_t PixelBytes(cl_mem image) {
  size_t bytes = 0;
  api.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, nullptr);
  return bytes;
}

std::array<char, 16> ReadFillColor(Call& call, int i, const std::shared_ptr<Object>& image) {
  std::array<char, 16> color{};
  if (!call.ok()) return color;
  if (!call[i]->IsArray()) {
    HostMemory memory = call.Memory(i, color.size());
    if (call.ok()) std::memcpy(color.data(), memory.data, color.size());
    return color;
  }
  auto array = call.Array(i);
  if (array->Length() != 4) {
    call.Fail(CL_INVALID_VALUE, "expected four numbers");
    return color;
  }
  cl_image_format format{};
  api.clGetImageInfo(image->As<cl_mem>(), CL_IMAGE_FORMAT, sizeof format, &format, nullptr);
  cl_channel_type type = format.image_channel_data_type;
  for (uint32_t k = 0; k < 4 && call.ok(); k++) {
    auto element = Nan::Get(array, k).ToLocalChecked();
    char* slot = color.data() + 4 * k;
    auto store = [slot](auto value) { std::memcpy(slot, &value, sizeof value); };
    if (type == CL_SIGNED_INT8 || type == CL_SIGNED_INT16 || type == CL_SIGNED_INT32) {
      store(static_cast<cl_int>(call.Signed(element, CL_INVALID_VALUE)));
    } else if (type == CL_UNSIGNED_INT8 || type == CL_UNSIGNED_INT16 || type == CL_UNSIGNED_INT32) {
      store(static_cast<cl_uint>(call.Unsigned(element, CL_INVALID_VALUE, UINT32_MAX)));
    } else if (element->IsNumber()) {
      store(static_cast<cl_float>(element.As<v8::Number>()->Value()));
    } else {
      call.Fail(CL_INVALID_VALUE, "expected four numbers");
    }
  }
  return color;
}

void ExportImage(Exports& exports) {
  exports.Set<CreateImage>("createImage");
  exports.Set<CreateImageWithProperties>("createImageWithProperties");
  exports.Set<CreateImage2D>("createImage2D");
  exports.Set<CreateImage3D>("createImage3D");
  exports.Set<GetSupportedImageFormats>("getSupportedImageFormats");
  exports.Set<GetImageInfo>("getImageInfo");
}

}  // namespace clsort
