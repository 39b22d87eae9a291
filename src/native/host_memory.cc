#include "host_memory.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "environment.h"

namespace clsort {

namespace {

/** Something kept for a backing store, or for a command, which end on any thread. */
struct Lease {
  std::shared_ptr<void> keeper;
  std::shared_ptr<Mailbox> mailbox;
  /** Where the keeper may go at once. */
  std::thread::id loop;
};

void EndLease(void*, size_t, void* data) {
  std::unique_ptr<Lease> lease(static_cast<Lease*>(data));
  if (std::this_thread::get_id() == lease->loop) return;
  // A thread that collects garbage and a driver's callback are no places to call a driver from: the letter takes the
  // keeper to the loop. Where that has ended, it goes here.
  lease->mailbox->Post([keeper = std::move(lease->keeper)](Environment&) {});
}

void CL_CALLBACK OnSurrenderedComplete(cl_event, cl_int, void* data) {
  std::unique_ptr<std::shared_ptr<Surrendered>> what(static_cast<std::shared_ptr<Surrendered>*>(data));
  if (!(*what)->taken.exchange(true)) EndLease(nullptr, 0, new Lease{std::move((*what)->memory), (*what)->mailbox, {}});
}

void CL_CALLBACK OnKeptComplete(cl_event, cl_int, void* data) {
  std::unique_ptr<std::shared_ptr<Mailbox>> mailbox(static_cast<std::shared_ptr<Mailbox>*>(data));
  (*mailbox)->Post([](Environment& environment) { environment.in_flight().Sweep(); });
}

/** Has an environment sweep when a command ends. A driver that calls nobody leaves it to the sweeps that come anyway. */
void SweepWhenEnded(cl_event event, const std::shared_ptr<Mailbox>& to) {
  auto* mailbox = new std::shared_ptr<Mailbox>(to);
  if (api.clSetEventCallback(event, CL_COMPLETE, OnKeptComplete, mailbox) != CL_SUCCESS) delete mailbox;
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

v8::MaybeLocal<v8::ArrayBuffer> NewArrayBuffer(v8::Isolate* isolate, size_t bytes) {
  auto* allocator = isolate->GetArrayBufferAllocator();
  void* probe = allocator->AllocateUninitialized(bytes);
  if (!probe && bytes > 0) return {};
  if (probe) allocator->Free(probe, bytes);
  return v8::ArrayBuffer::New(isolate, bytes);
}

v8::Local<v8::ArrayBuffer> ForeignMemory::Wrap(void* pointer, size_t bytes, std::shared_ptr<void> keeper) {
  auto* lease = new Lease{std::move(keeper), environment_.mailbox(), std::this_thread::get_id()};
  auto store = v8::ArrayBuffer::NewBackingStore(pointer, bytes, EndLease, lease);
  auto buffer = v8::ArrayBuffer::New(v8::Isolate::GetCurrent(), std::move(store));
  if (!protect_.IsEmpty()) {
    v8::Local<v8::Value> arguments[] = {buffer};
    v8::Isolate* isolate = environment_.isolate();
    v8::TryCatch caught(isolate);
    Nan::Call(Nan::New(protect_), Nan::New<v8::Object>(), 1, arguments);
    if (caught.HasTerminated()) {
      // The worker is being terminated. V8 would make no objects any more until it is; but what the driver gave needs its
      // handles first, so that comes when the call returns.
      isolate->CancelTerminateExecution();
      isolate->TerminateExecution();
    }
  }
  return buffer;
}

void ForeignMemory::Detach(v8::Local<v8::ArrayBuffer> buffer) {
  if (!buffer->IsDetachable() || buffer->WasDetached()) return;
  environment_.in_flight().ExpectDetached(buffer);
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

void InFlight::Keep(std::shared_ptr<void> memory, cl_event event, const std::shared_ptr<Mailbox>& mailbox) {
  entries_.push_back(Entry{event, std::move(memory), {}});
  if (mailbox) SweepWhenEnded(event, mailbox);
}

void InFlight::KeepBehind(const Object& queue, std::shared_ptr<void> memory) {
  auto raw = queue.As<cl_command_queue>();
  cl_event event = nullptr;
  if (api.clEnqueueMarkerWithWaitList(raw, 0, nullptr, &event) != CL_SUCCESS) {
    api.clFinish(raw);
    return;
  }
  // So that a program that only waits for something else does not keep it.
  Keep(std::move(memory), event, queue.environment->mailbox());
}

void InFlight::Await(cl_command_queue queue) const {
  for (const Entry& entry : entries_) {
    cl_command_queue of = nullptr;
    api.clGetEventInfo(entry.event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, nullptr);
    if (of == queue) BlockUntilEnded(entry.event);
  }
}

std::vector<cl_event> InFlight::UsersOf(const v8::BackingStore* store) const {
  std::vector<cl_event> events;
  for (const Entry& entry : entries_) {
    if (entry.memory.get() == store) events.push_back(entry.event);
  }
  return events;
}

void InFlight::ExpectDetached(v8::Local<v8::ArrayBuffer> buffer) {
  for (Entry& entry : entries_) {
    if (entry.buffer == buffer) entry.buffer.Reset();
  }
}

void InFlight::SweepInPassing() {
  if (entries_.size() > most_) Sweep();
}

void InFlight::Sweep() {
  if (!entries_.empty()) SweepEnded();
  most_ = std::max(kFew, 2 * entries_.size());
}

void InFlight::SweepEnded() {
  Nan::HandleScope scope;
  auto first =
      std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) { return !Ended(entry.event); });
  if (first == entries_.end()) return;
  // Out of the list before they die: memory may be the last to hold an object, whose end comes back here.
  std::vector<Entry> done(std::make_move_iterator(first), std::make_move_iterator(entries_.end()));
  entries_.erase(first, entries_.end());
  for (Entry& entry : done) {
    if (!entry.buffer.IsEmpty() && Nan::New(entry.buffer)->WasDetached()) detached_ = true;
    api.clReleaseEvent(entry.event);
  }
}

void InFlight::SweepSoon(const std::shared_ptr<Mailbox>& mailbox) {
  Sweep();
  for (const Entry& entry : entries_) SweepWhenEnded(entry.event, mailbox);
}

bool InFlight::SweepAndTellDetached() {
  Sweep();
  return std::exchange(detached_, false);
}

void InFlight::Surrender(const std::shared_ptr<Mailbox>& mailbox) {
  Sweep();
  std::vector<Entry> left;
  left.swap(entries_);
  for (Entry& entry : left) {
    entry.buffer.Reset();
    auto what = std::make_shared<Surrendered>(entry.event, std::move(entry.memory), mailbox);
    auto* data = new std::shared_ptr<Surrendered>(what);
    // Should this fail, and the command not have ended when the queues have, the memory stays for good: better than a
    // device that writes to freed memory.
    api.clSetEventCallback(entry.event, CL_COMPLETE, OnSurrenderedComplete, data);
    surrendered_.push_back(std::move(what));
  }
}

void InFlight::GiveSurrendered() {
  for (const std::shared_ptr<Surrendered>& what : surrendered_) {
    if (Ended(what->event) && !what->taken.exchange(true)) what->memory.reset();
    api.clReleaseEvent(what->event);
  }
  surrendered_.clear();
}

const Mapping* Mappings::Find(const Object* object, const HostMemory& host) const {
  auto match = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    return mapping.object.get() == object && (mapping.store == host.store || mapping.buffer == host.buffer);
  });
  return match == mappings_.end() ? nullptr : &*match;
}

std::vector<const Mapping*> Mappings::At(const Mapping& mapping) const {
  std::vector<const Mapping*> others;
  for (const Mapping& other : mappings_) {
    if (&other != &mapping && other.region->pointer == mapping.region->pointer) others.push_back(&other);
  }
  return others;
}

void Mappings::Remove(const Mapping* mapping) {
  auto place = mappings_.begin() + (mapping - mappings_.data());
  // Out of the list before it dies: it may be the last to hold its object, which comes back here.
  Mapping removed = std::move(*place);
  mappings_.erase(place);
}

void Mappings::Drop(const Object* object, ForeignMemory& foreign) {
  auto first = std::stable_partition(mappings_.begin(), mappings_.end(),
                                     [object](const Mapping& mapping) { return mapping.object.get() != object; });
  if (first == mappings_.end()) return;
  // Out of the list before they die: a mapping may be the last to hold its object, which comes back here.
  std::vector<Mapping> dropped(std::make_move_iterator(first), std::make_move_iterator(mappings_.end()));
  mappings_.erase(first, mappings_.end());
  Nan::HandleScope scope;
  for (Mapping& mapping : dropped) {
    if (!mapping.copied) foreign.Detach(Nan::New(mapping.buffer));
  }
}

bool SvmMemory::IsOf(const Object& queue) const {
  cl_context context = nullptr;
  api.clGetCommandQueueInfo(queue.As<cl_command_queue>(), CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  return context == context_.As<cl_context>();
}

void SvmRegistry::Add(std::shared_ptr<SvmMemory> memory, v8::Local<v8::ArrayBuffer> buffer) {
  entries_.push_back(Entry{std::move(memory), {}});
  entries_.back().buffer.Reset(buffer);
}

const SvmMemory* SvmRegistry::Find(const void* data) const {
  const char* byte = static_cast<const char*>(data);
  auto found = std::find_if(entries_.begin(), entries_.end(), [byte](const Entry& entry) {
    const char* start = static_cast<const char*>(entry.memory->pointer);
    return byte >= start && byte < start + entry.memory->bytes;
  });
  return found == entries_.end() ? nullptr : found->memory.get();
}

std::shared_ptr<SvmMemory> SvmRegistry::Take(const HostMemory& host) {
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&host](const Entry& entry) { return entry.memory->pointer == host.data; });
  if (found == entries_.end()) return nullptr;
  Entry taken = std::move(*found);
  entries_.erase(found);
  environment_.foreign().Detach(Nan::New(taken.buffer));
  if (!host.buffer.IsEmpty()) environment_.foreign().Detach(host.buffer);
  for (const auto& queue : environment_.objects().OfKind(Kind::kCommandQueue)) {
    if (taken.memory->IsOf(*queue)) environment_.in_flight().KeepBehind(*queue, taken.memory);
  }
  environment_.in_flight().Sweep();
  return std::move(taken.memory);
}

std::vector<std::shared_ptr<SvmMemory>> SvmRegistry::TakeAll() {
  std::vector<std::shared_ptr<SvmMemory>> all;
  Nan::HandleScope scope;
  for (Entry& entry : entries_) {
    environment_.foreign().Detach(Nan::New(entry.buffer));
    all.push_back(std::move(entry.memory));
  }
  entries_.clear();
  return all;
}

void SvmRegistry::KeepBehind(const Object& queue) {
  auto all = std::make_shared<std::vector<std::shared_ptr<SvmMemory>>>();
  for (const Entry& entry : entries_) {
    if (entry.memory->IsOf(queue)) all->push_back(entry.memory);
  }
  if (!all->empty()) environment_.in_flight().KeepBehind(queue, std::move(all));
}

}  // namespace clsort
