#ifndef CLSORT_NATIVE_INFO_H_
#define CLSORT_NATIVE_INFO_H_

#include <functional>
#include <vector>

#include "call.h"

namespace clsort {

/** How the bytes of an info value become a JavaScript value. */
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
  kHandle,      // an object that is retained for the new handle
  kHandles,     // several
  kVersion,     // cl_version → number
  kVersions,    // cl_name_version[] → { name, version }[]
  kFormat,      // cl_image_format → [order, type] with both as properties, too
  kPointer,     // a host pointer, which means nothing to JavaScript → boolean: is there one
};

/** One row of an info table: a name, how to read it, and the kind of handle where it is one. */
struct InfoRow {
  cl_uint name;
  Info type;
  Kind kind = Kind::kPlatform;
};

/** clGet…Info without its object. */
using InfoQuery = std::function<cl_int(size_t bytes, void* value, size_t* bytes_needed)>;

/**
 * Asks for the value called `name` and returns it as its row says. A name that the table lacks goes to
 * the driver all the same: an extension's value comes back by its length, as number, [hi, lo] or Buffer.
 */
void ReturnInfo(Call& call, cl_uint name, const std::vector<InfoRow>& table, const InfoQuery& query,
                Platform* platform);

/** Asks for the devices of a context. @return what clGetContextInfo returned */
cl_int DevicesOf(cl_context context, std::vector<cl_device_id>* devices);

/** A 64-bit value as [hi, lo]. */
v8::Local<v8::Array> HighLow(cl_ulong value);
/** { channel_order, channel_data_type }. */
void SetFormat(v8::Local<v8::Object> target, const cl_image_format& format);

}  // namespace clsort

#endif
