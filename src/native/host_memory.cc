#include "host_memory.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>

#include "environment.h"

namespace clsort {

namespace {

/** Object that is kept alive for a backing store or a command, which may end on any thread. */
struct Lease {
  std::shared_ptr<void> owner;
  std::shared_ptr<Mailbox> mailbox;
  /** Thread on which the owner may be released at once. */
  std::thread::id loop;
};

/** Owners on their way to the event loops on which they may be released. */
class DeferredReleases {
 public:
  using Owner = std::shared_ptr<std::shared_ptr<void>>;

  void Add(std::thread::id loop, const Owner& owner) {
    std::lock_guard<std::mutex> lock(guard_);
    owners_.emplace_back(loop, owner);
  }
  /** Releases the owners of this thread: a program that never returns to its event loop receives no messages. */
  void Give() {
    for (const Owner& owner : Take()) owner->reset();
  }

 private:
  std::vector<Owner> Take() {
    std::vector<Owner> own;
    std::lock_guard<std::mutex> lock(guard_);
    auto taken = [&](const auto& entry) {
      Owner owner = entry.second.lock();
      bool mine = owner && entry.first == std::this_thread::get_id();
      if (mine) own.push_back(std::move(owner));
      return mine || entry.second.expired();
    };
    owners_.erase(std::remove_if(owners_.begin(), owners_.end(), taken), owners_.end());
    return own;
  }

  std::mutex guard_;
  std::vector<std::pair<std::thread::id, std::weak_ptr<std::shared_ptr<void>>>> owners_;
};

/** Never destroyed: garbage collectors may outlive everything else. */
DeferredReleases& deferred_releases = *new DeferredReleases;

void EndLease(void*, size_t, void* data) {
  std::unique_ptr<Lease> lease(static_cast<Lease*>(data));
  auto owner = std::make_shared<std::shared_ptr<void>>(std::move(lease->owner));
  if (std::this_thread::get_id() == lease->loop) owner->reset();
  if (*owner) deferred_releases.Add(lease->loop, owner);
  // A garbage collection thread or a driver callback must not call a driver: the message moves the owner to the event
  // loop. If the event loop has ended, the owner is released here.
  lease->mailbox->Post([owner = std::move(owner)](Environment& environment) { environment.mappings().Sweep(); });
}

void CL_CALLBACK OnOrphanComplete(cl_event, cl_int, void* data) {
  std::unique_ptr<std::shared_ptr<OrphanedMemory>> what(static_cast<std::shared_ptr<OrphanedMemory>*>(data));
  if (!(*what)->taken.exchange(true)) EndLease(nullptr, 0, new Lease{std::move((*what)->memory), (*what)->mailbox, {}});
}

void CL_CALLBACK OnInFlightComplete(cl_event, cl_int, void* data) {
  std::unique_ptr<std::shared_ptr<Mailbox>> mailbox(static_cast<std::shared_ptr<Mailbox>*>(data));
  (*mailbox)->Post([](Environment& environment) { environment.in_flight().Sweep(); });
}

/** Schedules a sweep of an environment when a command ends. Without driver callbacks the regular sweeps do it. */
void SweepWhenEnded(cl_event event, const std::shared_ptr<Mailbox>& to) {
  auto* mailbox = new std::shared_ptr<Mailbox>(to);
  if (api.clSetEventCallback(event, CL_COMPLETE, OnInFlightComplete, mailbox) != CL_SUCCESS) delete mailbox;
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
  // Growing leaves the memory in place, shrinking frees pages, and only ArrayBuffers shrink.
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

v8::Local<v8::ArrayBuffer> ExternalArrayBuffers::Wrap(void* pointer, size_t bytes, std::shared_ptr<void> owner) {
  auto* lease = new Lease{std::move(owner), environment_.mailbox(), std::this_thread::get_id()};
  auto store = v8::ArrayBuffer::NewBackingStore(pointer, bytes, EndLease, lease);
  auto buffer = v8::ArrayBuffer::New(v8::Isolate::GetCurrent(), std::move(store));
  if (!protect_.IsEmpty()) {
    v8::Local<v8::Value> arguments[] = {buffer};
    v8::TryCatch caught(environment_.isolate());
    Nan::Call(Nan::New(protect_), Nan::New<v8::Object>(), 1, arguments);
    // V8 creates no objects while it terminates a worker, but results of the driver still need their handles.
    environment_.PostponeTermination(caught);
  }
  return buffer;
}

void ExternalArrayBuffers::Detach(v8::Local<v8::ArrayBuffer> buffer) {
  if (!buffer->IsDetachable() || buffer->WasDetached()) return;
  environment_.in_flight().ExpectDetached(buffer);
  buffer->SetDetachKey(Nan::Undefined());  // Node 24 marks it with a secret detach key
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

void InFlight::KeepUntilQueueEnds(const Object& queue, std::shared_ptr<void> memory) {
  auto raw = queue.As<cl_command_queue>();
  cl_event event = nullptr;
  if (api.clEnqueueMarkerWithWaitList(raw, 0, nullptr, &event) != CL_SUCCESS) {
    api.clFinish(raw);
    return;
  }
  // A program that only waits for something else must not keep the memory alive.
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

void InFlight::SweepIfMany() {
  if (entries_.size() > sweep_threshold_) Sweep();
}

void InFlight::Sweep() {
  if (!entries_.empty()) SweepEnded();
  sweep_threshold_ = std::max(kMinSweepSize, 2 * entries_.size());
}

void InFlight::SweepEnded() {
  Nan::HandleScope scope;
  auto first =
      std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) { return !Ended(entry.event); });
  if (first == entries_.end()) return;
  // Remove the entries before destroying them: the memory may own the last reference to an object, whose destructor
  // calls this class.
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

bool InFlight::SweepAndCheckDetached() {
  Sweep();
  return std::exchange(detached_, false);
}

void InFlight::OrphanAll(const std::shared_ptr<Mailbox>& mailbox) {
  Sweep();
  std::vector<Entry> left;
  left.swap(entries_);
  for (Entry& entry : left) {
    entry.buffer.Reset();
    auto what = std::make_shared<OrphanedMemory>(entry.event, std::move(entry.memory), mailbox);
    auto* data = new std::shared_ptr<OrphanedMemory>(what);
    // If this fails and the command has not ended when the queues have, the memory leaks: a device must not write to
    // freed memory.
    api.clSetEventCallback(entry.event, CL_COMPLETE, OnOrphanComplete, data);
    orphaned_.push_back(std::move(what));
  }
}

void InFlight::ReleaseOrphaned() {
  for (const std::shared_ptr<OrphanedMemory>& what : orphaned_) {
    if (Ended(what->event) && !what->taken.exchange(true)) what->memory.reset();
    api.clReleaseEvent(what->event);
  }
  orphaned_.clear();
}

void Mappings::Add(Mapping mapping) {
  Sweep();  // a program that never returns to its event loop receives no messages
  mappings_.push_back(std::move(mapping));
}

void Mappings::Claim(HostMemory* memory) const {
  for (const Mapping& mapping : mappings_) {
    if (!memory->store || mapping.store.lock() != memory->store) continue;
    v8::BackingStore* raw = memory->store.get();
    memory->store = std::shared_ptr<v8::BackingStore>(
        raw, [store = memory->store, use = mapping.region->use](v8::BackingStore*) {});
    return;
  }
}

const Mapping* Mappings::Find(const Object* object, const HostMemory& host) const {
  auto match = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    auto store = mapping.store.lock();
    return mapping.object.get() == object &&
           ((store && store.get() == host.store.get()) || mapping.buffer == host.buffer);
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
  // Remove the mapping before destroying it: it may own the last reference to its object, whose destructor calls this
  // class.
  Mapping removed = std::move(*place);
  mappings_.erase(place);
}

template <typename Ends>
std::vector<Mapping> Mappings::Take(Ends ends) {
  auto first =
      std::stable_partition(mappings_.begin(), mappings_.end(), [&](const Mapping& one) { return !ends(one); });
  std::vector<Mapping> taken(std::make_move_iterator(first), std::make_move_iterator(mappings_.end()));
  mappings_.erase(first, mappings_.end());
  // PoCL would unmap another mapping of the same memory instead.
  for (Mapping& one : taken) one.region->unmapped = one.region->unmapped || !At(one).empty();
  return taken;
}

void Mappings::Sweep() {
  deferred_releases.Give();
  if (!mappings_.empty()) Take([](const Mapping& mapping) { return mapping.Ended(); });
}

void Mappings::Drop(const Object* object, ExternalArrayBuffers& buffers) {
  if (mappings_.empty()) return;
  auto dropped = Take([object](const Mapping& mapping) { return mapping.object.get() == object; });
  Nan::HandleScope scope;
  for (Mapping& mapping : dropped) {
    if (!mapping.copy && !mapping.buffer.IsEmpty()) buffers.Detach(Nan::New(mapping.buffer));
  }
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
  environment_.external_array_buffers().Detach(Nan::New(taken.buffer));
  if (!host.buffer.IsEmpty()) environment_.external_array_buffers().Detach(host.buffer);
  for (const auto& queue : environment_.objects().OfKind(Kind::kCommandQueue)) {
    if (taken.memory->context() == queue->Context()) environment_.in_flight().KeepUntilQueueEnds(*queue, taken.memory);
  }
  environment_.in_flight().Sweep();
  return std::move(taken.memory);
}

std::vector<std::shared_ptr<SvmMemory>> SvmRegistry::TakeAll() {
  std::vector<std::shared_ptr<SvmMemory>> all;
  Nan::HandleScope scope;
  for (Entry& entry : entries_) {
    environment_.external_array_buffers().Detach(Nan::New(entry.buffer));
    all.push_back(std::move(entry.memory));
  }
  entries_.clear();
  return all;
}

void SvmRegistry::KeepUntilQueueEnds(Object& queue) {
  auto all = std::make_shared<std::vector<std::shared_ptr<SvmMemory>>>();
  for (const Entry& entry : entries_) {
    if (entry.memory->context() == queue.Context()) all->push_back(entry.memory);
  }
  if (!all->empty()) environment_.in_flight().KeepUntilQueueEnds(queue, std::move(all));
}

}  // namespace clsort
