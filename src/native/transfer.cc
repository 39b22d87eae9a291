#include <algorithm>
#include <cstring>

#include "bounds.h"
#include "image.h"
#include "info.h"
#include "pattern.h"
#include "wait.h"

namespace clsort {

namespace {

/**
 * Common end of all enqueue… calls of this file: a wait list and whether an event is wanted.
 *
 * Host memory that a command uses after the driver's call has returned must live until the event of the command. The
 * flag `lasting` therefore both requests the event and keeps the memory alive.
 */
struct Command {
  std::shared_ptr<Object> queue;
  WaitList waits;
  bool wanted = false;
  /** The driver's call does not block. */
  bool lasting = false;
  /** The call was to block: this thread waits for the event instead. */
  bool awaited = false;
  cl_event event = nullptr;

  cl_command_queue raw() const { return queue->As<cl_command_queue>(); }
  cl_bool blocking_flag() const { return lasting ? CL_FALSE : CL_TRUE; }
  cl_event* slot() { return wanted || lasting ? &event : nullptr; }

  template <typename Function, typename... Arguments>
  cl_int Enqueue(const Function& function, Arguments... arguments) {
    return function(raw(), arguments..., waits.count(), waits.data(), slot());
  }
  template <typename Function, typename... Arguments>
  void* Map(const Function& function, cl_int* status, Arguments... arguments) {
    return function(raw(), arguments..., waits.count(), waits.data(), slot(), status);
  }
};

Command ReadCommand(Call& call) {
  Command command;
  command.queue = call.Handle(0, Kind::kCommandQueue);
  return command;
}

/** Reads whether a command blocks. */
void ReadBlocking(Call& call, int i, Command* command, bool always = false) {
  bool blocks = always || call.Bool(i);
  command->awaited = blocks && command->queue && call.environment().AwaitsItself(*command->queue->platform);
  command->lasting = !blocks || command->awaited;
}

void ReadTail(Call& call, Command* command, int wait_list) {
  command->waits = call.Events(wait_list);
  command->wanted = call.Bool(wait_list + 1);
}

/** Completes the call of a command that does not use host memory. */
void Finish(Call& call, Command& command, cl_int status) {
  call.ReturnEvent(status, command.wanted, command.event, *command.queue);
}

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
  if (!call.ok() || !CheckRange(call, *from, from_offset, size) || !CheckRange(call, *to, to_offset, size) ||
      !CheckOverlap(call, *from, from_offset, *to, to_offset, size)) {
    return;
  }
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyBuffer, from->As<cl_mem>(), to->As<cl_mem>(), from_offset, to_offset, size));
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
  Box from_box{from_origin, region, from_row, from_slice}, to_box{to_origin, region, to_row, to_slice};
  if (!CheckBox(call, *from, from_box) || !CheckBox(call, *to, to_box) ||
      !CheckOverlap(call, *from, from_box, *to, to_box)) {
    return;
  }
  const Extent &source = *ExtentOf(call, *from), &target = *ExtentOf(call, *to);
  Finish(
      call, command,
      command.Enqueue(api.clEnqueueCopyBufferRect, source.whole, target.whole, OriginInWhole(source, from_box).data(),
                      OriginInWhole(target, to_box).data(), region.data(), from_row, from_slice, to_row, to_slice));
}

NAN_METHOD(EnqueueFillBuffer) {
  Call call(info, "clEnqueueFillBuffer");
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

/**
 * Checks an image and a region in it; throws for a queue that cannot use images. PoCL ends the process if the queue's
 * device is a sub-device of the one that the context lists.
 */
bool CheckImage(Call& call, const Command& command, Object& image, const Triple& origin, const Triple& region) {
  if (!CheckPixels(call, image, origin, region)) return false;
  std::vector<cl_device_id> devices;
  cl_device_id device = nullptr;
  api.clGetCommandQueueInfo(command.raw(), CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  bool listed = DevicesOf(command.queue->Context(), &devices) != CL_SUCCESS ||
                std::find(devices.begin(), devices.end(), device) != devices.end();
  return listed || call.Fail(kUnsupported, "the driver supports no images for queues of sub-devices");
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
  if (!CheckImage(call, command, *image, origin, region)) return;
  Finish(call, command,
         command.Enqueue(api.clEnqueueFillImage, image->As<cl_mem>(), color.data(), origin.data(), region.data()));
}

NAN_METHOD(EnqueueCopyImage) {
  Call call(info, "clEnqueueCopyImage");
  Command command = ReadCommand(call);
  auto from = call.Handle(1, Kind::kMemObject);
  auto to = call.Handle(2, Kind::kMemObject);
  auto from_origin = call.Origin(3), to_origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *from, from_origin, region) ||
      !CheckPixels(call, *to, to_origin, region) || !CheckOverlap(call, *from, from_origin, *to, to_origin, region)) {
    return;
  }
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyImage, from->As<cl_mem>(), to->As<cl_mem>(), from_origin.data(),
                         to_origin.data(), region.data()));
}

NAN_METHOD(EnqueueCopyImageToBuffer) {
  Call call(info, "clEnqueueCopyImageToBuffer");
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  auto buffer = call.Handle(2, Kind::kMemObject);
  auto origin = call.Origin(3), region = call.Origin(4);
  size_t offset = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *image, origin, region) ||
      !CheckRange(call, *buffer, offset, PackedBytes(*ExtentOf(call, *image), region))) {
    return;
  }
  const Extent& to = *ExtentOf(call, *buffer);
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyImageToBuffer, image->As<cl_mem>(), to.whole, origin.data(), region.data(),
                         to.begin + offset));
}

NAN_METHOD(EnqueueCopyBufferToImage) {
  Call call(info, "clEnqueueCopyBufferToImage");
  Command command = ReadCommand(call);
  auto buffer = call.Handle(1, Kind::kMemObject);
  auto image = call.Handle(2, Kind::kMemObject);
  size_t offset = call.Size(3);
  auto origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *image, origin, region) ||
      !CheckRange(call, *buffer, offset, PackedBytes(*ExtentOf(call, *image), region))) {
    return;
  }
  const Extent& from = *ExtentOf(call, *buffer);
  Finish(call, command,
         command.Enqueue(api.clEnqueueCopyBufferToImage, from.whole, image->As<cl_mem>(), from.begin + offset,
                         origin.data(), region.data()));
}

/** Driver objects that a mapping holds, retained before the memory is mapped. */
struct HeldObjects {
  Retained object;
  Retained queue;
};

HeldObjects HoldForMapping(Call& call, const Command& command, const Object& object) {
  HeldObjects held{call.Hold(object), {}};
  bool unmaps = object.platform->single_threaded || object.platform->mixes_mappings;
  if (call.ok() && unmaps) held.queue = call.Hold(*command.queue);
  return held;
}

/** Waits for a map command that was to block. @return false, after throwing, if it has failed */
bool AwaitMapping(Call& call, Command* command) {
  if (!command->awaited) return true;
  command->lasting = false;
  bool mapped = call.Check(call.Await(*command->queue->platform, {command->event}));
  if (!mapped || !command->wanted) api.clReleaseEvent(std::exchange(command->event, nullptr));
  return mapped;
}

/**
 * Returns mapped memory as an ArrayBuffer, with the event if requested. A map command that has not run yet counts as a
 * user of the memory: an unmap on any queue waits for it.
 */
v8::MaybeLocal<v8::ArrayBuffer> ReturnMapping(Call& call, Command& command, std::shared_ptr<Object> object,
                                              HeldObjects held, void* pointer, size_t bytes, cl_map_flags flags,
                                              bool copied) {
  Environment& environment = call.environment();
  auto region = std::make_shared<MappedRegion>(std::move(held.object), std::move(held.queue), pointer);
  v8::Local<v8::ArrayBuffer> buffer;
  if (!copied) {
    buffer = environment.external_array_buffers().Wrap(pointer, bytes, region);
  } else if (NewArrayBuffer(environment.isolate(), bytes).ToLocal(&buffer)) {
    if (bytes) std::memcpy(buffer->GetBackingStore()->Data(), pointer, bytes);
    Nan::Set(buffer, Nan::New("copied").ToLocalChecked(), Nan::True());
  } else {
    api.clEnqueueUnmapMemObject(command.raw(), object->As<cl_mem>(), pointer, 0, nullptr, nullptr);
    region->unmapped = true;
    if (command.event) api.clReleaseEvent(command.event);
    call.Fail(CL_OUT_OF_HOST_MEMORY,
              "cannot allocate " + std::to_string(bytes) + " bytes for a copy of the mapped memory");
    return {};
  }
  auto store = buffer->GetBackingStore();
  auto copy = copied ? store : nullptr;
  Mapping mapping{std::move(object), std::move(region), bytes, flags, std::move(copy), store, {}};
  mapping.buffer.Reset(buffer);
  v8::Global<v8::ArrayBuffer>& weak = mapping.buffer;
  weak.SetWeak();
  environment.mappings().Add(std::move(mapping));
  if (command.lasting) {
    HostMemory host;
    HostMemory::Of(buffer, &host);
    environment.mappings().Claim(&host);
    environment.in_flight().Share(host, command.event);
    if (!command.wanted) api.clReleaseEvent(command.event);
  }
  if (command.wanted) {
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
  ReadBlocking(call, 2, &command, copied);  // a copy needs the command to have run
  cl_map_flags flags = call.Bits(3);
  size_t offset = call.Size(4), size = call.Size(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckRange(call, *buffer, offset, size)) return;
  HeldObjects held = HoldForMapping(call, command, *buffer);
  if (!call.ok()) return;
  cl_int status = CL_SUCCESS;
  void* pointer =
      command.Map(api.clEnqueueMapBuffer, &status, buffer->As<cl_mem>(), command.blocking_flag(), flags, offset, size);
  if (call.Check(status) && AwaitMapping(call, &command)) {
    ReturnMapping(call, command, buffer, std::move(held), pointer, size, flags, copied);
  }
}

void SetNumber(v8::Local<v8::Object> object, const char* name, size_t number) {
  Nan::Set(object, Nan::New(name).ToLocalChecked(), Nan::New(static_cast<double>(number)));
}

NAN_METHOD(EnqueueMapImage) {
  Call call(info, "clEnqueueMapImage");
  Command command = ReadCommand(call);
  auto image = call.Handle(1, Kind::kMemObject);
  bool copied = call.environment().copy_mappings;
  ReadBlocking(call, 2, &command, copied);
  cl_map_flags flags = call.Bits(3);
  auto origin = call.Origin(4), region = call.Origin(5);
  ReadTail(call, &command, 6);
  if (!call.ok() || !CheckImage(call, command, *image, origin, region)) return;
  HeldObjects held = HoldForMapping(call, command, *image);
  if (!call.ok()) return;
  size_t row = 0, slice = 0;
  cl_int status = CL_SUCCESS;
  void* pointer = command.Map(api.clEnqueueMapImage, &status, image->As<cl_mem>(), command.blocking_flag(), flags,
                              origin.data(), region.data(), &row, &slice);
  if (!call.Check(status) || !AwaitMapping(call, &command)) return;
  size_t bytes = HostBytes(call, *ExtentOf(call, *image), region, row, slice);
  v8::Local<v8::ArrayBuffer> mapped;
  if (!ReturnMapping(call, command, image, std::move(held), pointer, bytes, flags, copied).ToLocal(&mapped)) {
    return;
  }
  // Under our names and under those of node-opencl.
  for (const char* name : {"row_pitch", "image_row_pitch"}) SetNumber(mapped, name, row);
  for (const char* name : {"slice_pitch", "image_slice_pitch"}) SetNumber(mapped, name, slice);
}

/**
 * Throws unless only `host` and the commands `users` use the memory of a mapping.
 *
 * The device can wait for commands, but not for a pool thread, a memory object over the memory, or another ArrayBuffer
 * to which the program has transferred it.
 */
bool CheckUnmappable(Call& call, const Mapping& mapping, const HostMemory& host, const std::vector<cl_event>& users) {
  if (mapping.Uses() > users.size()) {
    return call.Fail(CL_INVALID_OPERATION,
                     "argument 3: the memory is in use by a transfer or checksum, or by a memory object that lives in "
                     "it: wait for the promise, and release the object");
  }
  if (host.buffer->WasDetached() && mapping.HeldByProgram()) {
    return call.Fail(CL_INVALID_OPERATION,
                     "argument 3: the ArrayBuffer was transferred: unmap the one that has the memory now");
  }
  if (mapping.copy && !users.empty()) {
    return call.Fail(CL_INVALID_OPERATION,
                     "argument 3: a command still uses the copy of the mapped memory: wait for it");
  }
  return true;
}

/** Adds events to the wait list of a command; throws if they belong to another context. */
bool WaitAlso(Call& call, Command* command, const std::vector<cl_event>& events) {
  auto contextOf = [](cl_event event) {
    cl_context context = nullptr;
    api.clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, nullptr);
    return context;
  };
  cl_context context = nullptr;
  api.clGetCommandQueueInfo(command->raw(), CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  for (cl_event event : events) {
    if (contextOf(event) != context) {
      return call.Fail(CL_INVALID_OPERATION,
                       "argument 3: a command of another context still uses the memory: wait for it");
    }
    command->waits.events.push_back(event);
  }
  return true;
}

/**
 * Throws if another mapping of the same memory is not established yet and the driver mixes up mappings: it would end
 * that one, whose map command would then end the process.
 *
 * Commands of the same in-order queue run before the unmap.
 */
bool CheckMapsMade(Call& call, const Command& command, const Mapping& mapping) {
  if (!command.queue->platform->mixes_mappings) return true;
  Environment& environment = call.environment();
  cl_command_queue_properties properties = 0;
  api.clGetCommandQueueInfo(command.raw(), CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  for (const Mapping* other : environment.mappings().At(mapping)) {
    for (cl_event user : environment.in_flight().UsersOf(other->store.lock().get())) {
      cl_command_queue queue = nullptr;
      api.clGetEventInfo(user, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr);
      if (queue == command.raw() && !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) continue;
      return call.Fail(
          CL_INVALID_OPERATION,
          "argument 3: a command of another mapping of this memory has not ended, and this driver does not "
          "distinguish the mappings: wait for it");
    }
  }
  return true;
}

NAN_METHOD(EnqueueUnmapMemObject) {
  Call call(info, "clEnqueueUnmapMemObject");
  Command command = ReadCommand(call);
  auto object = call.Handle(1, Kind::kMemObject);
  HostMemory host = call.Memory(2, 0);
  ReadTail(call, &command, 3);
  if (!call.ok()) return;
  Environment& environment = call.environment();
  environment.in_flight().Sweep();
  const Mapping* mapping = host.buffer.IsEmpty() ? nullptr : environment.mappings().Find(object.get(), host);
  if (!mapping) {
    return (void)call.FailArgument(2, CL_INVALID_VALUE, "the result of a map call for this object", "other memory");
  }
  host.store.reset();  // it would count as a user of the memory
  std::vector<cl_event> users = environment.in_flight().UsersOf(mapping->store.lock().get());
  if (!CheckUnmappable(call, *mapping, host, users) || !CheckMapsMade(call, command, *mapping) ||
      !WaitAlso(call, &command, users)) {
    return;
  }
  if (mapping->copy && mapping->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) {
    std::memcpy(mapping->region->pointer, mapping->copy->Data(), mapping->bytes);
  }
  cl_int status = command.Enqueue(api.clEnqueueUnmapMemObject, object->As<cl_mem>(), mapping->region->pointer);
  if (status == CL_SUCCESS) {
    mapping->region->unmapped = true;
    environment.external_array_buffers().Detach(host.buffer);
    environment.mappings().Remove(mapping);
  }
  Finish(call, command, status);
}

NAN_METHOD(EnqueueMigrateMemObjects) {
  Call call(info, "clEnqueueMigrateMemObjects");
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
  // The C function requires an event.
  cl_int status = api.clEnqueueMarker(command.raw(), &command.event);
  if (status == CL_SUCCESS && !command.wanted) api.clReleaseEvent(command.event);
  Finish(call, command, status);
}

NAN_METHOD(EnqueueBarrier) {
  Call call(info, "clEnqueueBarrier");
  Command command = ReadCommand(call);
  if (!call.Loaded(api.clEnqueueBarrier)) return;
  bool replaced = command.queue->platform->version >= api.clEnqueueBarrierWithWaitList.since;
  Finish(call, command,
         replaced ? api.clEnqueueBarrierWithWaitList(command.raw(), 0, nullptr, nullptr)
                  : api.clEnqueueBarrier(command.raw()));
}

NAN_METHOD(EnqueueWaitForEvents) {
  Call call(info, "clEnqueueWaitForEvents");
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
