#include "host_memory.h"

#include <algorithm>
#include <iterator>

namespace clsort {

namespace {

/** Memory of a driver is not V8's to free. */
void KeepMemory(void*, size_t, void*) {}

void CL_CALLBACK OnSurrenderedComplete(cl_event, cl_int, void* store) {
  delete static_cast<std::shared_ptr<v8::BackingStore>*>(store);
}

/** Where the driver does not tell, the command may still be running: its memory stays. */
bool Completed(cl_event event) {
  cl_int status = CL_QUEUED;
  api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status <= CL_COMPLETE;  // below it: the command ended with an error
}

}  // namespace

bool HostMemory::Of(v8::Local<v8::Value> value, HostMemory* memory) {
  size_t offset = 0;
  v8::Local<v8::Value> buffer = value;
  if (value->IsArrayBufferView()) {
    auto view = value.As<v8::ArrayBufferView>();
    buffer = view->Buffer();
    offset = view->ByteOffset();
    memory->bytes = view->ByteLength();
  }
  if (buffer->IsArrayBuffer()) {
    memory->buffer = buffer.As<v8::ArrayBuffer>();
    memory->store = memory->buffer->GetBackingStore();
  } else if (buffer->IsSharedArrayBuffer()) {
    memory->store = buffer.As<v8::SharedArrayBuffer>()->GetBackingStore();
  } else {
    return false;
  }
  if (!value->IsArrayBufferView()) memory->bytes = memory->store->ByteLength();
  // Growing leaves the memory where it is, shrinking gives pages back: only ArrayBuffers shrink.
  memory->resizable = !memory->buffer.IsEmpty() && memory->store->IsResizableByUserJavaScript();
  memory->data = memory->bytes ? static_cast<char*>(memory->store->Data()) + offset : nullptr;
  return true;
}

v8::Local<v8::ArrayBuffer> ForeignMemory::Wrap(void* pointer, size_t bytes) {
  auto store = v8::ArrayBuffer::NewBackingStore(pointer, bytes, KeepMemory, nullptr);
  auto buffer = v8::ArrayBuffer::New(v8::Isolate::GetCurrent(), std::move(store));
  if (!protect_.IsEmpty()) {
    v8::Local<v8::Value> arguments[] = {buffer};
    Nan::Call(Nan::New(protect_), Nan::New<v8::Object>(), 1, arguments);
  }
  return buffer;
}

void ForeignMemory::Detach(v8::Local<v8::ArrayBuffer> buffer) {
  if (!buffer->IsDetachable() || buffer->WasDetached()) return;
  buffer->SetDetachKey(Nan::Undefined());  // Node 24's mark is a key, which nobody knows
  buffer->Detach(Nan::Undefined()).Check();
}

void InFlight::Add(const HostMemory& memory, cl_event event) {
  Entry entry{event, memory.store, {}};
  if (!memory.buffer.IsEmpty()) entry.buffer.Reset(memory.buffer);
  entries_.push_back(std::move(entry));
}

void InFlight::Share(const HostMemory& memory, cl_event event) {
  if (api.clRetainEvent(event) == CL_SUCCESS) {
    Add(memory, event);
  } else {
    api.clWaitForEvents(1, &event);
  }
}

void InFlight::Sweep() {
  if (entries_.empty()) return;
  Nan::HandleScope scope;
  auto done = std::stable_partition(entries_.begin(), entries_.end(),
                                    [](const Entry& entry) { return !Completed(entry.event); });
  for (auto entry = done; entry != entries_.end(); ++entry) {
    if (!entry->buffer.IsEmpty() && Nan::New(entry->buffer)->WasDetached()) detached_ = true;
    api.clReleaseEvent(entry->event);
  }
  entries_.erase(done, entries_.end());
}

bool InFlight::SweepAndTellDetached() {
  Sweep();
  return std::exchange(detached_, false);
}

void InFlight::Surrender() {
  for (Entry& entry : entries_) {
    entry.buffer.Reset();
    auto* store = new std::shared_ptr<v8::BackingStore>(std::move(entry.store));
    // Should this fail, the memory stays for good: better than a device that writes to freed memory.
    api.clSetEventCallback(entry.event, CL_COMPLETE, OnSurrenderedComplete, store);
    api.clReleaseEvent(entry.event);
  }
  entries_.clear();
}

bool Mappings::Take(const Object* object, v8::Local<v8::ArrayBuffer> buffer, Mapping* taken) {
  auto match = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    return mapping.object.get() == object && mapping.buffer == buffer;
  });
  if (match == mappings_.end()) return false;
  *taken = std::move(*match);
  mappings_.erase(match);
  return true;
}

void Mappings::Drop(const Object* object, ForeignMemory& foreign) {
  auto first = std::stable_partition(mappings_.begin(), mappings_.end(), [object](const Mapping& mapping) {
    return mapping.object.get() != object;
  });
  if (first == mappings_.end()) return;
  // Out of the list before they die: a mapping may be the last to hold its object, which comes back here.
  std::vector<Mapping> dropped(std::make_move_iterator(first), std::make_move_iterator(mappings_.end()));
  mappings_.erase(first, mappings_.end());
  Nan::HandleScope scope;
  for (Mapping& mapping : dropped) {
    if (!mapping.copied) foreign.Detach(Nan::New(mapping.buffer));
  }
}

void SvmMemory::Free() const { api.clSVMFree(context->As<cl_context>(), pointer); }

void SvmRegistry::Add(SvmMemory memory, v8::Local<v8::ArrayBuffer> buffer) {
  entries_.push_back(Entry{std::move(memory), {}});
  entries_.back().buffer.Reset(buffer);
}

bool SvmRegistry::Contains(const void* data) const {
  const char* byte = static_cast<const char*>(data);
  return std::any_of(entries_.begin(), entries_.end(), [byte](const Entry& entry) {
    const char* start = static_cast<const char*>(entry.memory.pointer);
    return byte >= start && byte < start + entry.memory.bytes;
  });
}

bool SvmRegistry::Take(const void* data, ForeignMemory& foreign, SvmMemory* taken) {
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [data](const Entry& entry) { return entry.memory.pointer == data; });
  if (found == entries_.end()) return false;
  foreign.Detach(Nan::New(found->buffer));
  *taken = std::move(found->memory);
  entries_.erase(found);
  return true;
}

std::vector<SvmMemory> SvmRegistry::TakeAll(ForeignMemory& foreign) {
  std::vector<SvmMemory> all;
  Nan::HandleScope scope;
  for (Entry& entry : entries_) {
    foreign.Detach(Nan::New(entry.buffer));
    all.push_back(std::move(entry.memory));
  }
  entries_.clear();
  return all;
}

}  // namespace clsort
