#include <cstring>
#include <utility>

#include "command.h"
#include "image.h"
#include "info.h"

namespace clsort {

namespace {

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

CLSORT_EXPORT(enqueueMapBuffer, "clEnqueueMapBuffer") {
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

CLSORT_EXPORT(enqueueMapImage, "clEnqueueMapImage") {
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

CLSORT_EXPORT(enqueueUnmapMemObject, "clEnqueueUnmapMemObject") {
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

}  // namespace

}  // namespace clsort
