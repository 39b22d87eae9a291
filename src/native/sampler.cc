#include "info.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kSamplerInfo = {
    {CL_SAMPLER_REFERENCE_COUNT, Info::kUint},   {CL_SAMPLER_CONTEXT, Info::kHandle, Kind::kContext},
    {CL_SAMPLER_NORMALIZED_COORDS, Info::kBool}, {CL_SAMPLER_ADDRESSING_MODE, Info::kUint},
    {CL_SAMPLER_FILTER_MODE, Info::kUint},       {CL_SAMPLER_PROPERTIES, Info::kProperties},
};

CLSORT_EXPORT(createSampler, "clCreateSampler") {
  auto context = call.Handle(0, Kind::kContext);
  bool normalized = call.Bool(1);
  cl_addressing_mode addressing = call.Uint(2);
  cl_filter_mode filter = call.Uint(3);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  cl_sampler sampler =
      api.clCreateSampler(context->As<cl_context>(), normalized ? CL_TRUE : CL_FALSE, addressing, filter, &status);
  call.ReturnHandle(status, Kind::kSampler, sampler, context->platform);
}

CLSORT_EXPORT(createSamplerWithProperties, "clCreateSamplerWithProperties") {
  auto context = call.Handle(0, Kind::kContext);
  auto properties = call.Properties<cl_sampler_properties>(1, CL_INVALID_VALUE);
  if (!call.ok() || !call.Supported(api.clCreateSamplerWithProperties, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_sampler sampler = api.clCreateSamplerWithProperties(context->As<cl_context>(),
                                                         properties.empty() ? nullptr : properties.data(), &status);
  call.ReturnHandle(status, Kind::kSampler, sampler, context->platform);
}

CLSORT_EXPORT(getSamplerInfo, "clGetSamplerInfo") {
  ReturnInfoOf<cl_sampler>(call, Kind::kSampler, kSamplerInfo, api.clGetSamplerInfo);
}

const Export kRetainSampler("retainSampler", Export::Invoke<RetainObject<Kind::kSampler>>);
const Export kReleaseSampler("releaseSampler", Export::Invoke<ReleaseObject<Kind::kSampler>>);

}  // namespace

}  // namespace clsort
