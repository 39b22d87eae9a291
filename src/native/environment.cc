#include "environment.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>

#include "policy.h"
#include "queue.h"

namespace clsort {

void Mailbox::Post(Message message) {
  std::lock_guard<std::mutex> lock(guard_);
  if (!async_) return;
  messages_.push_back(std::move(message));
  uv_async_send(async_);
}

std::vector<Message> Mailbox::Take() {
  std::lock_guard<std::mutex> lock(guard_);
  return std::exchange(messages_, {});
}

void Mailbox::Close() {
  std::vector<Message> late;  // destroying them may post a message, which needs the lock
  std::lock_guard<std::mutex> lock(guard_);
  async_ = nullptr;
  late.swap(messages_);
}

std::shared_ptr<Environment> Environment::Create(v8::Local<v8::Object> exports) {
  auto context = Nan::GetCurrentContext();
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  std::shared_ptr<Environment> self(new Environment(isolate));
#ifdef V8_ENABLE_SANDBOX
  self->copy_mappings = true;
#endif
  self->async_ = new uv_async_t;
  uv_async_init(node::GetCurrentEventLoop(isolate), self->async_, OnWake);
  uv_unref(reinterpret_cast<uv_handle_t*>(self->async_));
  self->async_->data = self.get();
  self->mailbox_ = std::make_shared<Mailbox>(self->async_);
  self->waits_ = std::make_shared<Waits>(self->mailbox_);
  self->context_.Reset(context);

  // The environment owns itself until it ends. The asynchronous hook covers workers and a main script that runs to its
  // end; process.exit() of the main thread runs only the AtExit callbacks.
  self->cleanup_hook_ = node::AddEnvironmentCleanupHook(isolate, OnCleanup, new std::shared_ptr<Environment>(self));
  self->AwaitExit();

  InitializeClasses(*self, exports);
  return self;
}

Environment::~Environment() = default;

void Environment::OnCleanup(void* data, void (*done)(void*), void* done_data) {
  auto* owner = static_cast<std::shared_ptr<Environment>*>(data);
  std::shared_ptr<Environment> self = std::move(*owner);
  delete owner;
  self->done_ = done;
  self->done_data_ = done_data;
  self->self_ = self;
  // process.exit() of a worker has already called OnExit.
  if (!self->closed_) self->BeginClose();
  uv_ref(reinterpret_cast<uv_handle_t*>(self->async_));
  self->drainer_ = std::thread([raw = self.get()] {
    if (!raw->drained_) raw->Drain();
    uv_async_send(raw->async_);
  });
}

void Environment::AwaitExit() {
  auto* weak = new std::weak_ptr<Environment>(weak_from_this());
  node::AtExit(node::GetCurrentEnvironment(Nan::New(context_)), OnExit, weak);
}

void Environment::OnExit(void* data) {
  auto* weak = static_cast<std::weak_ptr<Environment>*>(data);
  auto self = weak->lock();
  delete weak;
  if (!self || self->closed_) return;
  if (self->Exits()) {
    self->BeginClose();
    self->Drain();
    return;
  }
  // Node forgets all AtExit callbacks after the last one returns, so register this one again afterwards.
  self->mailbox_->Post([](Environment& survivor) { survivor.AwaitExit(); });
}

bool Environment::Exits() const {
  Nan::HandleScope scope;
  auto context = Nan::New(context_);
  v8::Context::Scope context_scope(context);
  Nan::TryCatch caught;
  auto property = [&](v8::Local<v8::Object> object, const char* name) {
    v8::Local<v8::Value> value = Nan::Undefined();
    return object->GetRealNamedProperty(context, Nan::New(name).ToLocalChecked()).FromMaybe(value);
  };
  auto process = property(context->Global(), "process");
  return !process->IsObject() || !property(process.As<v8::Object>(), "_exiting")->IsFalse();
}

void Environment::OnWake(uv_async_t* async) {
  auto* self = static_cast<Environment*>(async->data);
  if (!self->closed_) {
    self->Deliver();
  } else if (self->drained_ && self->drainer_.joinable()) {  // not if OnExit drained and OnCleanup is still to come
    self->drainer_.join();
    self->mailbox_->Close();
    self->dropped_.clear();
    uv_close(reinterpret_cast<uv_handle_t*>(async), OnAsyncClosed);
  }
}

void Environment::OnAsyncClosed(uv_handle_t* handle) {
  auto* async = reinterpret_cast<uv_async_t*>(handle);
  auto self = std::move(static_cast<Environment*>(async->data)->self_);
  delete async;
  self->done_(self->done_data_);
}

void Environment::Deliver() {
  Nan::HandleScope scope;
  v8::Context::Scope context_scope(Nan::New(context_));
  objects_.DeleteCollected();
  mappings_.Sweep();
  for (Message& message : mailbox_->Take()) {
    if (closed_) return;
    Nan::HandleScope each;
    node::CallbackScope callback_scope(isolate_, Nan::New<v8::Object>(), node::async_context{0, 0});
    message(*this);
  }
}

bool Environment::IsTerminating() {
  Nan::HandleScope scope;
  v8::TryCatch caught(isolate_);
  Nan::Call(Nan::New(do_nothing), Nan::New<v8::Object>(), 0, nullptr);
  return PostponeTermination(caught);
}

bool Environment::PostponeTermination(const v8::TryCatch& caught) {
  if (!caught.HasTerminated()) return false;
  isolate_->CancelTerminateExecution();
  isolate_->TerminateExecution();
  return true;
}

cl_int Environment::Await(const Platform& platform, const std::vector<cl_event>& events, bool* terminated) {
  auto wait = [&] { return api.clWaitForEvents(static_cast<cl_uint>(events.size()), events.data()); };
  if (!AwaitsItself(platform)) return wait();
  for (cl_event event : events) {
    cl_command_queue queue = nullptr;
    api.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr);
    if (queue) api.clFlush(queue);
  }
  auto pause = kMinPollPause;
  while (!std::all_of(events.begin(), events.end(), Ended)) {
    if (pause == kMaxPollPause && IsTerminating()) {
      *terminated = true;
      return CL_SUCCESS;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kMaxPollPause);
  }
  return wait();
}

void Environment::Hold() {
  if (awaited_++ == 0) uv_ref(reinterpret_cast<uv_handle_t*>(async_));
}

void Environment::Unhold() {
  if (--awaited_ == 0) uv_unref(reinterpret_cast<uv_handle_t*>(async_));
}

void Environment::Start(std::unique_ptr<Job> job, const Platform* platform) {
  if (platform && platform->single_threaded && !closed_) {
    job->Run();
    if (!job->Awaited()) return;
    Hold();
    JobDone(std::move(job));
    return;
  }
  bool awaited = job->Awaited();
  {
    std::lock_guard<std::mutex> lock(guard_);
    if (closing_) {
      dropped_.push_back(std::move(job));
      return;
    }
    queue_.push_back(std::move(job));
    if (queue_.size() > idle_ && threads_.size() < kMaxJobThreads) {
      threads_.emplace_back([this] { Work(); });
    }
  }
  work_.notify_one();
  if (awaited) Hold();
}

void Environment::Start(std::shared_ptr<Wait> wait, const Platform* platform) {
  if (!platform->single_threaded || closed_) return waits_->Add(std::move(wait));
  cl_int status = wait->Block();
  mailbox_->Post([wait = std::move(wait), status](Environment& self) { wait->ended(self, *wait, status); });
}

/** Asks for long slices of time for this thread, if the system knows them. */
static void AskForLongSlice() {
#if defined(__linux__)
  if (kThreadSliceNs == 0) return;
  struct {  // sched_attr, which old headers lack
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != SCHED_OTHER) return;
  attributes.runtime = kThreadSliceNs;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

void Environment::Work() {
  AskForLongSlice();
  std::unique_lock<std::mutex> lock(guard_);
  for (;;) {
    idle_++;
    work_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    idle_--;
    if (queue_.empty()) return;
    auto job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job->Run();
    if (job->Awaited()) {
      JobDone(std::move(job));
    } else {
      job.reset();
    }
    lock.lock();
  }
}

void Environment::JobDone(std::unique_ptr<Job> job) {
  // A job holds JavaScript handles, so it must be destroyed on the JavaScript thread.
  std::shared_ptr<Job> shared(std::move(job));
  mailbox_->Post([shared = std::move(shared)](Environment& environment) mutable {
    std::shared_ptr<Job> finished = std::move(shared);  // destroyed before awaiters of its promise continue
    environment.Unhold();
    finished->Finish(environment);
  });
}

uint64_t Environment::AddCallback(std::unique_ptr<Callback> callback) {
  if (callback->awaited) Hold();
  uint64_t id = next_callback_++;
  callbacks_.emplace(id, std::move(callback));
  return id;
}

std::unique_ptr<Callback> Environment::TakeCallback(uint64_t id) {
  auto found = callbacks_.find(id);
  if (found == callbacks_.end()) return nullptr;
  auto callback = std::move(found->second);
  callbacks_.erase(found);
  if (callback->awaited) Unhold();
  return callback;
}

Callback* Environment::PeekCallback(uint64_t id) {
  auto found = callbacks_.find(id);
  return found == callbacks_.end() ? nullptr : found->second.get();
}

void Environment::Retire(const Object& queue) {
  if (queue.platform->single_threaded) return;  // commands only run while this thread waits
  auto wait = std::make_shared<Wait>();
  wait->events.push_back({MakeMarker(queue), {}});
  if (!wait->events[0].event) return;
  wait->ended = [](Environment& self, const Wait& ended, cl_int) { self.last_commands_.erase(&ended); };
  last_commands_.emplace(wait.get(), wait);
  // ReleaseAll waits for these itself.
  if (!queue.released_with_all) waits_->AddQuiet(std::move(wait));
}

void Environment::Holdings::Flush() {
  // A command of one queue may wait for a command of another queue that is not flushed yet.
  for (const OwnedReference& reference : references) {
    if (reference.kind == Kind::kCommandQueue) api.clFlush(static_cast<cl_command_queue>(reference.raw));
  }
}

void Environment::Holdings::Give() {
  // A driver that still runs commands would use freed objects and may crash at unload. clFinish of rusticl may return
  // before the last commands have ended if another thread enqueued them.
  std::vector<cl_command_queue> queues;
  for (const OwnedReference& reference : references) {
    if (reference.kind == Kind::kCommandQueue) queues.push_back(static_cast<cl_command_queue>(reference.raw));
  }
  Flush();
  for (cl_command_queue queue : queues) api.clFinish(queue);
  for (auto& [key, wait] : last_commands) wait->Block();
  last_commands.clear();
  svm.clear();
  for (const OwnedReference& reference : references) reference.Give();
  references.clear();
  user_events.Sweep();
}

Environment::Holdings Environment::TakeAll(bool contexts) {
  Holdings taken;
  objects_.DeleteCollected();
  taken.svm = svm_.TakeAll();
  // Children before parents: some drivers require it.
  std::vector<Kind> order = {Kind::kCommandBuffer, Kind::kEvent,     Kind::kKernel,      Kind::kProgram,
                             Kind::kSampler,       Kind::kMemObject, Kind::kCommandQueue};
  if (contexts) order.insert(order.end(), {Kind::kContext, Kind::kDevice});
  for (Kind kind : order) {
    for (const std::shared_ptr<Object>& object : objects_.OfKind(kind)) {
      if (object->Permanent()) continue;
      object->released_with_all = true;
      OwnedReference reference = object->TakeReferences();
      if (reference.count > 0) taken.references.push_back(reference);
    }
  }
  taken.last_commands = std::exchange(last_commands_, {});
  return taken;
}

void Environment::ReleaseAll(bool contexts) {
  TakeAll(contexts).Give();
  // clFinish may return early, for example on rusticl.
  in_flight_.SweepSoon(mailbox_);
}

void Environment::BeginClose() {
  Nan::HandleScope scope;
  closed_ = true;
  leftovers_ = TakeAll(true);
  objects_.DropHandles();
  in_flight_.OrphanAll(mailbox_);
  callbacks_.clear();
  for (auto& constructor : templates) constructor.Reset();
  make_error.Reset();
  bind_callback.Reset();
  do_nothing.Reset();
  external_array_buffers_.Reset();
  context_.Reset();
  waits_->Close();
  std::lock_guard<std::mutex> lock(guard_);
  closing_ = true;
  for (auto& job : queue_) dropped_.push_back(std::move(job));
  queue_.clear();
  work_.notify_all();
}

void Environment::Drain() {
  leftovers_.Flush();  // threads may wait for commands that are not flushed yet
  waits_->Join();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (auto& job : dropped_) {
    if (job->Essential()) job->Run();
  }
  leftovers_.Give();
  in_flight_.ReleaseOrphaned();
  drained_ = true;
}

}  // namespace clsort
