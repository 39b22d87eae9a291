#include <cmath>
#include <cstring>

#include "image.h"
#include "wait.h"

namespace clsort {

namespace {

/** What every enqueue… call of this file ends with: a wait list and whether an event is wanted. */
struct Command {
  std::shared_ptr<Object> queue;
  WaitList waits;
  bool wanted = false;
  cl_event event = nullptr;

  cl_command_queue raw() const { return queue->As<cl_command_queue>(); }
};

Command ReadCommand(Call& call) {
  Command command;
  command.queue = call.Handle(0, Kind::kCommandQueue);
  return command;
}

void ReadTail(Call& call, Command* command, int wait_list) {
  command->waits = call.Events(wait_list);
  command->wanted = call.Bool(wait_list + 1);
}

/** Ends a command that does not touch host memory. */
void Finish(Call& call, Command& command, cl_int status) {
  call.ReturnEvent(status, command.wanted, command.event, *command.queue);
}

/** Ends a command that reads or writes host memory: without blocking, the memory has to stay. */
void FinishHost(Call& call, Command& command, cl_int status, bool blocking, const HostMemory& memory) {
  InFlight& in_flight = call.environment().in_flight();
  if (status == CL_SUCCESS && !blocking) {
    if (command.wanted) {
      in_flight.Share(memory, command.event);
    } else {
      in_flight.Add(memory, command.event);
    }
  }
  // In passing, so that a program that never waits does not keep everything.
  if (blocking || in_flight.size() > 64) in_flight.Sweep();
  Finish(call, command, status);
}

/** Where the driver puts the event: needed for host memory in flight even if JavaScript wants none. */
cl_event* EventSlot(Command& command, bool needed) {
  return command.wanted || needed ? &command.event : nullptr;
}

HostMemory ReadHost(Call& call, int i, bool blocking, size_t bytes) {
  return blocking ? call.Memory(i, bytes) : call.LastingMemory(i, bytes);
}

bool AddOverflows(size_t a, size_t b, size_t* sum) {
  *sum = a + b;
  return *sum < a;
}

bool MultiplyOverflows(size_t a, size_t b, size_t* product) {
  *product = a * b;
  return b != 0 && *product / b != a;
}

/** Bytes of host memory from its start up to the end of a box; throws where that is beyond any memory. */
size_t BoxEnd(Call& call, const std::vector<size_t>& origin, const std::vector<size_t>& region,
              size_t row_pitch, size_t slice_pitch) {
  if (row_pitch == 0) row_pitch = region[0];
  if (slice_pitch == 0 && MultiplyOverflows(row_pitch, region[1], &slice_pitch)) slice_pitch = SIZE_MAX;
  size_t z = 0, y = 0, last_z, last_y, end = 0;
  bool overflow = region[0] == 0 || region[1] == 0 || region[2] == 0;
  if (overflow) return 0;  // the driver refuses empty regions
  overflow = AddOverflows(origin[2], region[2] - 1, &last_z) || MultiplyOverflows(last_z, slice_pitch, &z) ||
             AddOverflows(origin[1], region[1] - 1, &last_y) || MultiplyOverflows(last_y, row_pitch, &y) ||
             AddOverflows(z, y, &end) || AddOverflows(end, origin[0], &end) ||
             AddOverflows(end, region[0], &end);
  if (overflow) call.Fail(CL_INVALID_VALUE, "the region lies beyond any memory");
  return end;
}

template <typename Enqueue>
void ReadOrWriteBuffer(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  bool blocking = call.Bool(2);
  size_t offset = call.Size(3);
  size_t size = call.Size(4);
  HostMemory host = ReadHost(call, 5, blocking, size);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  cl_int status = enqueue(command.raw(), buffer->As<cl_mem>(), blocking ? CL_TRUE : CL_FALSE, offset, size,
                          host.data, command.waits.count(), command.waits.data(),
                          EventSlot(command, !blocking));
  FinishHost(call, command, status, blocking, host);
}

NAN_METHOD(EnqueueReadBuffer) {
  Call call(info, "clEnqueueReadBuffer");
  ReadOrWriteBuffer(call, api.clEnqueueReadBuffer);
}

NAN_METHOD(EnqueueWriteBuffer) {
  Call call(info, "clEnqueueWriteBuffer");
  ReadOrWriteBuffer(call, api.clEnqueueWriteBuffer);
}

template <typename Enqueue>
void ReadOrWriteRect(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  bool blocking = call.Bool(2);
  auto buffer_origin = call.Origin(3), host_origin = call.Origin(4), region = call.Origin(5);
  size_t buffer_row = call.SizeOr0(6), buffer_slice = call.SizeOr0(7);
  size_t host_row = call.SizeOr0(8), host_slice = call.SizeOr0(9);
  size_t bytes = call.ok() ? BoxEnd(call, host_origin, region, host_row, host_slice) : 0;
  HostMemory host = ReadHost(call, 10, blocking, bytes);
  ReadTail(call, &command, 11);
  if (!call.ok() || !call.Supported(enqueue, command.queue->platform)) return;
  cl_int status = enqueue(command.raw(), buffer->As<cl_mem>(), blocking ? CL_TRUE : CL_FALSE,
                          buffer_origin.data(), host_origin.data(), region.data(), buffer_row, buffer_slice,
                          host_row, host_slice, host.data, command.waits.count(), command.waits.data(),
                          EventSlot(command, !blocking));
  FinishHost(call, command, status, blocking, host);
}

NAN_METHOD(EnqueueReadBufferRect) {
  Call call(info, "clEnqueueReadBufferRect");
  ReadOrWriteRect(call, api.clEnqueueReadBufferRect);
}

NAN_METHOD(EnqueueWriteBufferRect) {
  Call call(info, "clEnqueueWriteBufferRect");
  ReadOrWriteRect(call, api.clEnqueueWriteBufferRect);
}

NAN_METHOD(EnqueueCopyBuffer) {
  Call call(info, "clEnqueueCopyBuffer");
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  size_t from_offset = call.Size(3), to_offset = call.Size(4), size = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  Finish(call, command,
         api.clEnqueueCopyBuffer(command.raw(), from->As<cl_mem>(), to->As<cl_mem>(), from_offset, to_offset,
                                 size, command.waits.count(), command.waits.data(),
                                 EventSlot(command, false)));
}

NAN_METHOD(EnqueueCopyBufferRect) {
  Call call(info, "clEnqueueCopyBufferRect");
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  auto from_origin = call.Origin(3), to_origin = call.Origin(4), region = call.Origin(5);
  size_t from_row = call.SizeOr0(6), from_slice = call.SizeOr0(7);
  size_t to_row = call.SizeOr0(8), to_slice = call.SizeOr0(9);
  ReadTail(call, &command, 10);
  if (!call.ok() || !call.Supported(api.clEnqueueCopyBufferRect, command.queue->platform)) return;
  Finish(call, command,
         api.clEnqueueCopyBufferRect(command.raw(), from->As<cl_mem>(), to->As<cl_mem>(), from_origin.data(),
                                     to_origin.data(), region.data(), from_row, from_slice, to_row, to_slice,
                                     command.waits.count(), command.waits.data(), EventSlot(command, false)));
}

/** An integer is 4 bytes, a fraction 8, memory what it is. */
std::vector<char> ReadPattern(Call& call, int i) {
  std::vector<char> pattern;
  if (!call.ok()) return pattern;
  auto store = [&pattern](auto value) {
    pattern.resize(sizeof value);
    std::memcpy(pattern.data(), &value, sizeof value);
  };
  if (call[i]->IsNumber()) {
    double number = call[i].As<v8::Number>()->Value();
    if (call[i]->IsInt32()) {
      store(static_cast<cl_int>(number));
    } else if (call[i]->IsUint32()) {
      store(static_cast<cl_uint>(number));
    } else {
      store(number);
    }
  } else {
    HostMemory memory = call.Memory(i, 1);
    if (call.ok()) {
      const char* bytes = static_cast<const char*>(memory.data);
      pattern.assign(bytes, bytes + memory.bytes);
    }
  }
  return pattern;
}

NAN_METHOD(EnqueueFillBuffer) {
  Call call(info, "clEnqueueFillBuffer");
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  auto pattern = ReadPattern(call, 2);
  size_t offset = call.Size(3), size = call.Size(4);
  ReadTail(call, &command, 5);
  if (!call.ok() || !call.Supported(api.clEnqueueFillBuffer, command.queue->platform)) return;
  Finish(call, command,
         api.clEnqueueFillBuffer(command.raw(), buffer->As<cl_mem>(), pattern.data(), pattern.size(), offset,
                                 size, command.waits.count(), command.waits.data(),
                                 EventSlot(command, false)));
}

template <typename Enqueue>
void ReadOrWriteImage(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  bool blocking = call.Bool(2);
  auto origin = call.Origin(3), region = call.Origin(4);
  size_t row = call.SizeOr0(5), slice = call.SizeOr0(6);
  size_t bytes = 0;
  if (call.ok()) {
    // Host memory is counted in bytes, images in pixels.
    std::vector<size_t> box = region;
    if (MultiplyOverflows(region[0], PixelBytes(image->As<cl_mem>()), &box[0])) {
      call.Fail(CL_INVALID_VALUE, "the region lies beyond any memory");
    }
    if (call.ok()) bytes = BoxEnd(call, {0, 0, 0}, box, row, slice);
  }
  HostMemory host = ReadHost(call, 7, blocking, bytes);
  ReadTail(call, &command, 8);
  if (!call.ok()) return;
  cl_int status = enqueue(command.raw(), image->As<cl_mem>(), blocking ? CL_TRUE : CL_FALSE, origin.data(),
                          region.data(), row, slice, host.data, command.waits.count(), command.waits.data(),
                          EventSlot(command, !blocking));
  FinishHost(call, command, status, blocking, host);
}

NAN_METHOD(EnqueueReadImage) {
  Call call(info, "clEnqueueReadImage");
  ReadOrWriteImage(call, api.clEnqueueReadImage);
}

NAN_METHOD(EnqueueWriteImage) {
  Call call(info, "clEnqueueWriteImage");
  ReadOrWriteImage(call, api.clEnqueueWriteImage);
}

NAN_METHOD(EnqueueFillImage) {
  Call call(info, "clEnqueueFillImage");
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  auto color = ReadFillColor(call, 2, image);
  auto origin = call.Origin(3), region = call.Origin(4);
  ReadTail(call, &command, 5);
  if (!call.ok() || !call.Supported(api.clEnqueueFillImage, command.queue->platform)) return;
  Finish(call, command,
         api.clEnqueueFillImage(command.raw(), image->As<cl_mem>(), color.data(), origin.data(),
                                region.data(), command.waits.count(), command.waits.data(),
                                EventSlot(command, false)));
}

NAN_METHOD(EnqueueCopyImage) {
  Call call(info, "clEnqueueCopyImage");
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  auto from_origin = call.Origin(3), to_origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  Finish(call, command,
         api.clEnqueueCopyImage(command.raw(), from->As<cl_mem>(), to->As<cl_mem>(), from_origin.data(),
                                to_origin.data(), region.data(), command.waits.count(), command.waits.data(),
                                EventSlot(command, false)));
}

NAN_METHOD(EnqueueCopyImageToBuffer) {
  Call call(info, "clEnqueueCopyImageToBuffer");
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  auto buffer = call.Handle(2, Kind::kMemObject);
  auto origin = call.Origin(3), region = call.Origin(4);
  size_t offset = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  Finish(call, command,
         api.clEnqueueCopyImageToBuffer(command.raw(), image->As<cl_mem>(), buffer->As<cl_mem>(),
                                        origin.data(), region.data(), offset, command.waits.count(),
                                        command.waits.data(), EventSlot(command, false)));
}

NAN_METHOD(EnqueueCopyBufferToImage) {
  Call call(info, "clEnqueueCopyBufferToImage");
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  auto image = call.Handle(2, Kind::kMemObject);
  size_t offset = call.Size(3);
  auto origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  Finish(call, command,
         api.clEnqueueCopyBufferToImage(command.raw(), buffer->As<cl_mem>(), image->As<cl_mem>(), offset,
                                        origin.data(), region.data(), command.waits.count(),
                                        command.waits.data(), EventSlot(command, false)));
}

/** Returns mapped memory as an ArrayBuffer, with the event where one was asked for. */
v8::Local<v8::ArrayBuffer> ReturnMapping(Call& call, Command& command, std::shared_ptr<Object> object, void* pointer, size_t bytes,
                   cl_map_flags flags, bool copied) {
  Environment& environment = call.environment();
  v8::Local<v8::ArrayBuffer> buffer;
  if (copied) {
    buffer = v8::ArrayBuffer::New(environment.isolate(), bytes);
    if (bytes) std::memcpy(buffer->GetBackingStore()->Data(), pointer, bytes);
    Nan::Set(buffer, Nan::New("copied").ToLocalChecked(), Nan::True());
  } else {
    buffer = environment.foreign().Wrap(pointer, bytes);
  }
  Mapping mapping{std::move(object), pointer, bytes, flags, copied, {}};
  mapping.buffer.Reset(buffer);
  environment.mappings().Add(std::move(mapping));
  if (command.event) {
    auto event = call.WrapEvent(command.event, *command.queue);
    Nan::Set(buffer, Nan::New("event").ToLocalChecked(), event);
  }
  call.Return(buffer);
  return buffer;
}

NAN_METHOD(EnqueueMapBuffer) {
  Call call(info, "clEnqueueMapBuffer");
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  bool copied = call.environment().copy_mappings;
  bool blocking = call.Bool(2) || copied;  // there is nothing to copy before the command has run
  cl_map_flags flags = call.Bits(3);
  size_t offset = call.Size(4), size = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  void* pointer = api.clEnqueueMapBuffer(command.raw(), buffer->As<cl_mem>(), blocking ? CL_TRUE : CL_FALSE,
                                         flags, offset, size, command.waits.count(), command.waits.data(),
                                         EventSlot(command, false), &status);
  if (call.Check(status)) ReturnMapping(call, command, buffer, pointer, size, flags, copied);
}

NAN_METHOD(EnqueueMapImage) {
  Call call(info, "clEnqueueMapImage");
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  bool copied = call.environment().copy_mappings;
  bool blocking = call.Bool(2) || copied;
  cl_map_flags flags = call.Bits(3);
  auto origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok()) return;
  size_t row = 0, slice = 0;
  cl_int status = CL_SUCCESS;
  void* pointer =
      api.clEnqueueMapImage(command.raw(), image->As<cl_mem>(), blocking ? CL_TRUE : CL_FALSE, flags,
                            origin.data(), region.data(), &row, &slice, command.waits.count(),
                            command.waits.data(), EventSlot(command, false), &status);
  if (!call.Check(status)) return;
  std::vector<size_t> box = region;
  box[0] *= PixelBytes(image->As<cl_mem>());
  // An array of rows has its slices one row apart: OpenCL counts them in the second dimension.
  if (region[2] > 1 && slice == 0) slice = row * region[1];
  size_t bytes = BoxEnd(call, {0, 0, 0}, box, slice && row == 0 ? slice : row, slice);
  auto mapped = ReturnMapping(call, command, image, pointer, bytes, flags, copied);
  Nan::Set(mapped, Nan::New("row_pitch").ToLocalChecked(), Nan::New(static_cast<double>(row)));
  Nan::Set(mapped, Nan::New("slice_pitch").ToLocalChecked(), Nan::New(static_cast<double>(slice)));
}

NAN_METHOD(EnqueueUnmapMemObject) {
  Call call(info, "clEnqueueUnmapMemObject");
  Command command = ReadCommand(call);
  auto object = call.Handle(1, Kind::kMemObject);
  HostMemory host = call.Memory(2, 0);
  ReadTail(call, &command, 3);
  if (!call.ok()) return;
  Environment& environment = call.environment();
  Mapping mapping;
  if (host.buffer.IsEmpty() || !environment.mappings().Take(object.get(), host.buffer, &mapping)) {
    return (void)call.Fail(CL_INVALID_VALUE, "argument 3: expected what a map call returned for this object");
  }
  if (mapping.copied && mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) {
    std::memcpy(mapping.pointer, host.store->Data(), mapping.bytes);
  }
  cl_int status = api.clEnqueueUnmapMemObject(command.raw(), object->As<cl_mem>(), mapping.pointer,
                                              command.waits.count(), command.waits.data(),
                                              EventSlot(command, false));
  if (status != CL_SUCCESS) {
    environment.mappings().Add(std::move(mapping));
  } else if (mapping.copied) {
    host.buffer->Detach(Nan::Undefined()).Check();
  } else {
    environment.foreign().Detach(host.buffer);
  }
  Finish(call, command, status);
}

NAN_METHOD(EnqueueMigrateMemObjects) {
  Call call(info, "clEnqueueMigrateMemObjects");
  Command command = ReadCommand(call);
  if (call.ok() && !call.Has(1)) call.Fail(CL_INVALID_VALUE, "argument 2: expected memory objects");
  auto objects = call.Handles(1, Kind::kMemObject, CL_INVALID_VALUE);
  cl_mem_migration_flags flags = call.Bits(2);
  ReadTail(call, &command, 3);
  if (!call.ok() || !call.Supported(api.clEnqueueMigrateMemObjects, command.queue->platform)) return;
  std::vector<cl_mem> list;
  for (auto& object : objects) list.push_back(object->As<cl_mem>());
  Finish(call, command,
         api.clEnqueueMigrateMemObjects(command.raw(), static_cast<cl_uint>(list.size()),
                                        list.empty() ? nullptr : list.data(), flags, command.waits.count(),
                                        command.waits.data(), EventSlot(command, false)));
}

template <typename Enqueue>
void MarkerOrBarrier(Call& call, const Enqueue& enqueue) {
  Command command = ReadCommand(call);
  ReadTail(call, &command, 1);
  if (!call.ok() || !call.Supported(enqueue, command.queue->platform)) return;
  Finish(call, command,
         enqueue(command.raw(), command.waits.count(), command.waits.data(), EventSlot(command, false)));
}

NAN_METHOD(EnqueueMarkerWithWaitList) {
  Call call(info, "clEnqueueMarkerWithWaitList");
  MarkerOrBarrier(call, api.clEnqueueMarkerWithWaitList);
}

NAN_METHOD(EnqueueBarrierWithWaitList) {
  Call call(info, "clEnqueueBarrierWithWaitList");
  MarkerOrBarrier(call, api.clEnqueueBarrierWithWaitList);
}

NAN_METHOD(EnqueueMarker) {
  Call call(info, "clEnqueueMarker");
  Command command = ReadCommand(call);
  command.wanted = call.Bool(1);
  if (!call.Loaded(api.clEnqueueMarker)) return;
  // The C function insists on an event.
  cl_int status = api.clEnqueueMarker(command.raw(), &command.event);
  if (status == CL_SUCCESS && !command.wanted) api.clReleaseEvent(command.event);
  Finish(call, command, status);
}

NAN_METHOD(EnqueueBarrier) {
  Call call(info, "clEnqueueBarrier");
  Command command = ReadCommand(call);
  if (call.Loaded(api.clEnqueueBarrier)) Finish(call, command, api.clEnqueueBarrier(command.raw()));
}

NAN_METHOD(EnqueueWaitForEvents) {
  Call call(info, "clEnqueueWaitForEvents");
  Command command = ReadCommand(call);
  WaitList waits = call.Events(1);
  if (!call.Loaded(api.clEnqueueWaitForEvents)) return;
  if (waits.count() == 0) return (void)call.Fail(CL_INVALID_VALUE, "argument 2: expected at least one event");
  // Where its replacement exists the old call may not: PoCL ends the process in it.
  bool replaced = command.queue->platform->version >= api.clEnqueueBarrierWithWaitList.since;
  Finish(call, command,
         replaced
             ? api.clEnqueueBarrierWithWaitList(command.raw(), waits.count(), waits.data(), nullptr)
             : api.clEnqueueWaitForEvents(command.raw(), waits.count(), waits.data()));
}

}  // namespace

void ExportTransfer(Exports& exports) {
  exports.Set<EnqueueReadBuffer>("enqueueReadBuffer");
  exports.Set<EnqueueWriteBuffer>("enqueueWriteBuffer");
  exports.Set<EnqueueReadBufferRect>("enqueueReadBufferRect");
  exports.Set<EnqueueWriteBufferRect>("enqueueWriteBufferRect");
  exports.Set<EnqueueCopyBuffer>("enqueueCopyBuffer");
  exports.Set<EnqueueCopyBufferRect>("enqueueCopyBufferRect");
  exports.Set<EnqueueFillBuffer>("enqueueFillBuffer");
  exports.Set<EnqueueReadImage>("enqueueReadImage");
  exports.Set<EnqueueWriteImage>("enqueueWriteImage");
  exports.Set<EnqueueFillImage>("enqueueFillImage");
  exports.Set<EnqueueCopyImage>("enqueueCopyImage");
  exports.Set<EnqueueCopyImageToBuffer>("enqueueCopyImageToBuffer");
  exports.Set<EnqueueCopyBufferToImage>("enqueueCopyBufferToImage");
  exports.Set<EnqueueMapBuffer>("enqueueMapBuffer");
  exports.Set<EnqueueMapImage>("enqueueMapImage");
  exports.Set<EnqueueUnmapMemObject>("enqueueUnmapMemObject");
  exports.Set<EnqueueMigrateMemObjects>("enqueueMigrateMemObjects");
  exports.Set<EnqueueMarkerWithWaitList>("enqueueMarkerWithWaitList");
  exports.Set<EnqueueBarrierWithWaitList>("enqueueBarrierWithWaitList");
  exports.Set<EnqueueMarker>("enqueueMarker");
  exports.Set<EnqueueBarrier>("enqueueBarrier");
  exports.Set<EnqueueWaitForEvents>("enqueueWaitForEvents");
}

}  // namespace clsort
