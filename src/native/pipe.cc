#include "info.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kPipeInfo = {
    {CL_PIPE_PACKET_SIZE, Info::kUint},
    {CL_PIPE_MAX_PACKETS, Info::kUint},
    {CL_PIPE_PROPERTIES, Info::kProperties},
};

CLSORT_EXPORT(createPipe, "clCreatePipe") {
  auto context = call.Handle(0, Kind::kContext);
  cl_mem_flags flags = call.Bits(1);
  cl_uint packet_size = call.Uint(2, CL_INVALID_PIPE_SIZE);
  cl_uint max_packets = call.Uint(3, CL_INVALID_PIPE_SIZE);
  // OpenCL defines no properties of pipes.
  if (call.ok() && call.Has(4)) call.FailArgument(4, CL_INVALID_VALUE, "null for the properties of a pipe");
  if (!call.ok() || !call.Supported(api.clCreatePipe, context->platform)) return;
  if (packet_size == 0 || max_packets == 0) {
    return (void)call.Fail(CL_INVALID_PIPE_SIZE, "expected at least one packet of at least one byte but got none");
  }
  cl_int status = CL_SUCCESS;
  cl_mem pipe = api.clCreatePipe(context->As<cl_context>(), flags, packet_size, max_packets, nullptr, &status);
  call.ReturnHandle(status, Kind::kMemObject, pipe, context->platform);
}

CLSORT_EXPORT(getPipeInfo, "clGetPipeInfo") {
  auto pipe = call.Handle(0, Kind::kMemObject);
  cl_uint name = call.Uint(1);
  if (!call.ok() || !call.Supported(api.clGetPipeInfo, pipe->platform)) return;
  ReturnInfo(
      call, name, kPipeInfo,
      [&](size_t bytes, void* value, size_t* needed) {
        return api.clGetPipeInfo(pipe->As<cl_mem>(), name, bytes, value, needed);
      },
      pipe->platform);
}

}  // namespace

}  // namespace clsort
