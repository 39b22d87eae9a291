#include <algorithm>
#include <cstring>

#include "command.h"
#include "image.h"
#include "info.h"
#include "pattern.h"

namespace clsort {

Command ReadCommand(Call& call) {
  Command command;
  command.queue = call.Handle(0, Kind::kCommandQueue);
  return command;
}

void ReadBlocking(Call& call, int i, Command* command, bool always) {
  bool blocks = always || call.Bool(i);
  command->awaited = blocks && command->queue && call.environment().AwaitsItself(*command->queue->platform);
  command->lasting = !blocks || command->awaited;
}

void ReadTail(Call& call, Command* command, int wait_list) {
  command->waits = call.Events(wait_list);
  command->wanted = call.Bool(wait_list + 1);
}

void Finish(Call& call, Command& command, cl_int status) {
  call.ReturnEvent(status, command.wanted, command.event, *command.queue);
}

bool CheckImage(Call& call, const Command& command, Object& image, const Triple& origin, const Triple& region) {
  if (!CheckPixels(call, image, origin, region)) return false;
  std::vector<cl_device_id> devices;
  cl_device_id device = nullptr;
  api.clGetCommandQueueInfo(command.raw(), CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  bool listed = DevicesOf(command.queue->Context(), &devices) != CL_SUCCESS ||
                std::find(devices.begin(), devices.end(), device) != devices.end();
  return listed || call.Fail(kUnsupported, "the driver supports no images for queues of sub-devices");
}

namespace {

/** Completes the call of a command that reads or writes host memory, which is kept alive for a non-blocking command. */
void FinishHost(Call& call, Command& command, cl_int status, const HostMemory& memory) {
  InFlight& in_flight = call.environment().in_flight();
  bool awaited = status == CL_SUCCESS && command.awaited;
  if (awaited) status = call.Await(*command.queue->platform, {command.event});
  bool wanted = command.wanted && status == CL_SUCCESS && call.ok();
  // In a worker that is being terminated, the wait ends before the command.
  bool in_use = awaited ? !call.ok() : status == CL_SUCCESS && command.lasting;
  if (in_use && wanted) {
    in_flight.Share(memory, command.event);
  } else if (in_use) {
    in_flight.Add(memory, command.event);
  } else if (awaited && !wanted) {
    api.clReleaseEvent(command.event);
  }
  if (command.lasting && !awaited) {
    in_flight.SweepIfMany();
  } else {
    in_flight.Sweep();
  }
  Finish(call, command, status);
}

HostMemory ReadHost(Call& call, int i, const Command& command, size_t bytes) {
  return command.lasting && !command.awaited ? call.LastingMemory(i, bytes) : call.Memory(i, bytes);
}

template <typename Enqueue>
void ReadOrWriteBuffer(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  ReadBlocking(call, 2, &command);
  size_t offset = call.Size(3);
  size_t size = call.Size(4);
  HostMemory host = ReadHost(call, 5, command, size);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckRange(call, *buffer, offset, size)) return;
  cl_int status = command.Enqueue(enqueue, buffer->As<cl_mem>(), command.blocking_flag(), offset, size, host.data);
  FinishHost(call, command, status, host);
}

CLSORT_EXPORT(enqueueReadBuffer, "clEnqueueReadBuffer") { ReadOrWriteBuffer(call, api.clEnqueueReadBuffer); }

CLSORT_EXPORT(enqueueWriteBuffer, "clEnqueueWriteBuffer") { ReadOrWriteBuffer(call, api.clEnqueueWriteBuffer); }

template <typename Enqueue>
void ReadOrWriteRect(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  ReadBlocking(call, 2, &command);
  auto buffer_origin = call.Origin(3), host_origin = call.Origin(4), region = call.Origin(5);
  size_t buffer_row = call.SizeOr0(6), buffer_slice = call.SizeOr0(7);
  size_t host_row = call.SizeOr0(8), host_slice = call.SizeOr0(9);
  size_t bytes = call.ok() ? BoxEnd(call, {host_origin, region, host_row, host_slice}) : 0;
  HostMemory host = ReadHost(call, 10, command, bytes);
  ReadTail(call, &command, 11);
  if (!call.ok() || !call.Supported(enqueue, command.queue->platform)) return;
  if (!CheckBox(call, *buffer, {buffer_origin, region, buffer_row, buffer_slice})) return;
  cl_int status =
      command.Enqueue(enqueue, buffer->As<cl_mem>(), command.blocking_flag(), buffer_origin.data(), host_origin.data(),
                      region.data(), buffer_row, buffer_slice, host_row, host_slice, host.data);
  FinishHost(call, command, status, host);
}

CLSORT_EXPORT(enqueueReadBufferRect, "clEnqueueReadBufferRect") { ReadOrWriteRect(call, api.clEnqueueReadBufferRect); }

CLSORT_EXPORT(enqueueWriteBufferRect, "clEnqueueWriteBufferRect") {
  ReadOrWriteRect(call, api.clEnqueueWriteBufferRect);
}

CLSORT_EXPORT(enqueueCopyBuffer, "clEnqueueCopyBuffer") {
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  size_t from_offset = call.Size(3), to_offset = call.Size(4), size = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckCopy(call, *from, from_offset, *to, to_offset, size)) return;
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyBuffer, from->As<cl_mem>(), to->As<cl_mem>(), from_offset, to_offset, size));
}

CLSORT_EXPORT(enqueueCopyBufferRect, "clEnqueueCopyBufferRect") {
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  auto from_origin = call.Origin(3), to_origin = call.Origin(4), region = call.Origin(5);
  size_t from_row = call.SizeOr0(6), from_slice = call.SizeOr0(7);
  size_t to_row = call.SizeOr0(8), to_slice = call.SizeOr0(9);
  ReadTail(call, &command, 10);
  if (!call.ok() || !call.Supported(api.clEnqueueCopyBufferRect, command.queue->platform)) return;
  Box from_box{from_origin, region, from_row, from_slice}, to_box{to_origin, region, to_row, to_slice};
  if (!CheckCopy(call, *from, from_box, *to, to_box)) return;
  const Extent &source = *ExtentOf(call, *from), &target = *ExtentOf(call, *to);
  Finish(
      call, command,
      command.Enqueue(api.clEnqueueCopyBufferRect, source.whole, target.whole, OriginInWhole(source, from_box).data(),
                      OriginInWhole(target, to_box).data(), region.data(), from_row, from_slice, to_row, to_slice));
}

CLSORT_EXPORT(enqueueFillBuffer, "clEnqueueFillBuffer") {
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  auto pattern = ReadPattern(call, 2);
  size_t offset = call.Size(3), size = call.Size(4);
  ReadTail(call, &command, 5);
  if (!call.ok() || !call.Supported(api.clEnqueueFillBuffer, command.queue->platform)) return;
  if (!CheckRange(call, *buffer, offset, size) || !CheckPattern(call, pattern.size(), offset, size)) return;
  Finish(call, command,
         command.Enqueue(api.clEnqueueFillBuffer, buffer->As<cl_mem>(), pattern.data(), pattern.size(), offset, size));
}

template <typename Enqueue>
void ReadOrWriteImage(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  ReadBlocking(call, 2, &command);
  auto origin = call.Origin(3), region = call.Origin(4);
  size_t row = call.SizeOr0(5), slice = call.SizeOr0(6);
  size_t bytes = 0;
  if (call.ok() && CheckImage(call, command, *image, origin, region)) {
    bytes = HostBytes(call, *ExtentOf(call, *image), region, row, slice);
  }
  HostMemory host = ReadHost(call, 7, command, bytes);
  ReadTail(call, &command, 8);
  if (!call.ok()) return;
  cl_int status = command.Enqueue(enqueue, image->As<cl_mem>(), command.blocking_flag(), origin.data(), region.data(),
                                  row, slice, host.data);
  FinishHost(call, command, status, host);
}

CLSORT_EXPORT(enqueueReadImage, "clEnqueueReadImage") { ReadOrWriteImage(call, api.clEnqueueReadImage); }

CLSORT_EXPORT(enqueueWriteImage, "clEnqueueWriteImage") { ReadOrWriteImage(call, api.clEnqueueWriteImage); }

CLSORT_EXPORT(enqueueFillImage, "clEnqueueFillImage") {
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  auto color = ReadFillColor(call, 2, image);
  auto origin = call.Origin(3), region = call.Origin(4);
  ReadTail(call, &command, 5);
  if (!call.ok() || !call.Supported(api.clEnqueueFillImage, command.queue->platform)) return;
  if (!CheckImage(call, command, *image, origin, region)) return;
  Finish(call, command,
         command.Enqueue(api.clEnqueueFillImage, image->As<cl_mem>(), color.data(), origin.data(), region.data()));
}

CLSORT_EXPORT(enqueueCopyImage, "clEnqueueCopyImage") {
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  auto from_origin = call.Origin(3), to_origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *from, from_origin, region)) return;
  if (!CheckCopy(call, *from, from_origin, *to, to_origin, region)) return;
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyImage, from->As<cl_mem>(), to->As<cl_mem>(), from_origin.data(),
                         to_origin.data(), region.data()));
}

CLSORT_EXPORT(enqueueCopyImageToBuffer, "clEnqueueCopyImageToBuffer") {
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  auto buffer = call.Handle(2, Kind::kMemObject);
  auto origin = call.Origin(3), region = call.Origin(4);
  size_t offset = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *image, origin, region)) return;
  if (!CheckPacked(call, *buffer, offset, *image, region)) return;
  const Extent& to = *ExtentOf(call, *buffer);
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyImageToBuffer, image->As<cl_mem>(), to.whole, origin.data(), region.data(),
                         to.begin + offset));
}

CLSORT_EXPORT(enqueueCopyBufferToImage, "clEnqueueCopyBufferToImage") {
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  auto image = call.Handle(2, Kind::kMemObject);
  size_t offset = call.Size(3);
  auto origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *image, origin, region)) return;
  if (!CheckPacked(call, *buffer, offset, *image, region)) return;
  const Extent& from = *ExtentOf(call, *buffer);
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyBufferToImage, from.whole, image->As<cl_mem>(), from.begin + offset,
                         origin.data(), region.data()));
}

CLSORT_EXPORT(enqueueMigrateMemObjects, "clEnqueueMigrateMemObjects") {
  Command command = ReadCommand(call);
  if (call.ok() && !call.Has(1)) call.FailArgument(1, CL_INVALID_VALUE, "memory objects");
  auto objects = call.Handles(1, Kind::kMemObject, CL_INVALID_VALUE);
  cl_mem_migration_flags flags = call.Bits(2);
  ReadTail(call, &command, 3);
  if (!call.ok() || !call.Supported(api.clEnqueueMigrateMemObjects, command.queue->platform)) return;
  std::vector<cl_mem> list;
  for (auto& object : objects) list.push_back(object->As<cl_mem>());
  // The destination is a hint, and the event remains that of a migration.
  if (command.queue->platform->migrates_by_hidden_command)
    flags &= ~static_cast<cl_mem_migration_flags>(CL_MIGRATE_MEM_OBJECT_HOST);
  Finish(call, command,
         command.Enqueue(api.clEnqueueMigrateMemObjects, static_cast<cl_uint>(list.size()),
                         list.empty() ? nullptr : list.data(), flags));
}

template <typename Enqueue>
void MarkerOrBarrier(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  ReadTail(call, &command, 1);
  if (!call.ok() || !call.Supported(enqueue, command.queue->platform)) return;
  Finish(call, command, command.Enqueue(enqueue));
}

CLSORT_EXPORT(enqueueMarkerWithWaitList, "clEnqueueMarkerWithWaitList") {
  MarkerOrBarrier(call, api.clEnqueueMarkerWithWaitList);
}

CLSORT_EXPORT(enqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList") {
  MarkerOrBarrier(call, api.clEnqueueBarrierWithWaitList);
}

CLSORT_EXPORT(enqueueMarker, "clEnqueueMarker") {
  Command command = ReadCommand(call);
  command.wanted = call.Bool(1);
  if (!call.Loaded(api.clEnqueueMarker)) return;
  // The C function requires an event.
  cl_int status = api.clEnqueueMarker(command.raw(), &command.event);
  if (status == CL_SUCCESS && !command.wanted) api.clReleaseEvent(command.event);
  Finish(call, command, status);
}

CLSORT_EXPORT(enqueueBarrier, "clEnqueueBarrier") {
  Command command = ReadCommand(call);
  if (!call.Loaded(api.clEnqueueBarrier)) return;
  bool replaced = command.queue->platform->version >= api.clEnqueueBarrierWithWaitList.since;
  Finish(call, command,
         replaced ? api.clEnqueueBarrierWithWaitList(command.raw(), 0, nullptr, nullptr)
                  : api.clEnqueueBarrier(command.raw()));
}

CLSORT_EXPORT(enqueueWaitForEvents, "clEnqueueWaitForEvents") {
  Command command = ReadCommand(call);
  WaitList waits = call.Events(1);
  if (!call.Loaded(api.clEnqueueWaitForEvents)) return;
  if (waits.count() == 0) return (void)call.FailArgument(1, CL_INVALID_VALUE, "at least one event");
  // Where the replacement exists the old call may not work: PoCL ends the process in it.
  bool replaced = command.queue->platform->version >= api.clEnqueueBarrierWithWaitList.since;
  Finish(call, command,
         replaced ? api.clEnqueueBarrierWithWaitList(command.raw(), waits.count(), waits.data(), nullptr)
                  : api.clEnqueueWaitForEvents(command.raw(), waits.count(), waits.data()));
}

}  // namespace

}  // namespace clsort
