#pragma once

#include <functional>
#include <vector>

#include "call.h"

namespace clsort {

/** Conversions of the bytes of an info value to a JavaScript value. */
enum class Info {
  kText,        // string
  kBool,        // boolean
  kUint,        // cl_uint → number
  kInt,         // cl_int → number
  kSize,        // size_t → number
  kBits,        // cl_bitfield of 64 bits → number
  kLong,        // cl_ulong → [hi, lo]
  kSizes,       // size_t[] → number[]
  kProperties,  // (cl_properties | intptr_t)[] → number[]
  kHandle,      // retained object → handle
  kHandles,     // retained objects → handles
  kVersion,     // cl_version → number
  kVersions,    // cl_name_version[] → { name, version }[]
  kFormat,      // cl_image_format → [order, type], which are also properties
  kPointer,     // host pointer → boolean: whether it is not null
};

/** Row of an info table: name, conversion, and kind of the handle if it is one. */
struct InfoRow {
  cl_uint name;
  Info type;
  Kind kind = Kind::kPlatform;
};

/** clGet…Info bound to its object. */
using InfoQuery = std::function<cl_int(size_t bytes, void* value, size_t* bytes_needed)>;

/**
 * Queries the value `name` and returns it converted according to its row. A name that the table lacks is queried
 * anyway: the value of an extension is returned by its length as number, [hi, lo] or Buffer.
 */
void ReturnInfo(Call& call, cl_uint name, const std::vector<InfoRow>& table, const InfoQuery& query,
                Platform* platform);

/** The get…Info functions of a handle and a name; T is the OpenCL type of the handle. */
template <typename T, typename Function>
void ReturnInfoOf(Call& call, Kind kind, const std::vector<InfoRow>& table, const Function& function) {
  auto object = call.Handle(0, kind);
  cl_uint name = call.Uint(1);
  ReturnInfo(
      call, name, table,
      [&](size_t bytes, void* value, size_t* needed) { return function(object->As<T>(), name, bytes, value, needed); },
      object ? object->platform : nullptr);
}

/** Queries the devices of a context. @return the status of clGetContextInfo */
cl_int DevicesOf(cl_context context, std::vector<cl_device_id>* devices);

/** Returns a 64-bit value as [hi, lo]. */
v8::Local<v8::Array> HighLow(cl_ulong value);
/** Sets { channel_order, channel_data_type }. */
void SetFormat(v8::Local<v8::Object> target, const cl_image_format& format);

}  // namespace clsort
