#include "environment.h"

namespace clsort {

namespace {

/** Threads only wait. So many waits at once are beyond use, but not beyond programs. */
constexpr size_t kMaxThreads = 64;

}  // namespace

void Mailbox::Post(Letter letter) {
  std::lock_guard<std::mutex> lock(guard_);
  if (!bell_) return;
  letters_.push_back(std::move(letter));
  uv_async_send(bell_);
}

std::vector<Letter> Mailbox::Take() {
  std::lock_guard<std::mutex> lock(guard_);
  return std::exchange(letters_, {});
}

void Mailbox::Close() {
  std::lock_guard<std::mutex> lock(guard_);
  bell_ = nullptr;
  letters_.clear();
}

std::shared_ptr<Environment> Environment::Create(v8::Local<v8::Object> exports) {
  auto context = Nan::GetCurrentContext();
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  std::shared_ptr<Environment> self(new Environment(isolate));
#ifdef V8_ENABLE_SANDBOX
  self->copy_mappings = true;
#endif
  self->bell_ = new uv_async_t;
  uv_async_init(node::GetCurrentEventLoop(isolate), self->bell_, OnBell);
  uv_unref(reinterpret_cast<uv_handle_t*>(self->bell_));
  self->bell_->data = self.get();
  self->mailbox_ = std::make_shared<Mailbox>(self->bell_);

  // An environment owns itself until it ends. The asynchronous hook covers workers and a main script that
  // runs to its end; process.exit() of the main thread skips it and runs the AtExit callbacks only.
  self->cleanup_hook_ =
      node::AddEnvironmentCleanupHook(isolate, OnCleanup, new std::shared_ptr<Environment>(self));
  node::AtExit(node::GetCurrentEnvironment(context), OnExit, new std::weak_ptr<Environment>(self));

  self->context_.Reset(context);
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
  // process.exit() of a worker has called OnExit before.
  if (!self->closed_) self->BeginClose();
  uv_ref(reinterpret_cast<uv_handle_t*>(self->bell_));
  self->drainer_ = std::thread([raw = self.get()] {
    if (!raw->drained_) raw->Drain();
    uv_async_send(raw->bell_);
  });
}

void Environment::OnExit(void* data) {
  auto* weak = static_cast<std::weak_ptr<Environment>*>(data);
  auto self = weak->lock();
  delete weak;
  if (!self || self->closed_) return;
  self->BeginClose();
  self->Drain();
}

void Environment::OnBell(uv_async_t* bell) {
  auto* self = static_cast<Environment*>(bell->data);
  if (!self->closed_) {
    self->Deliver();
  } else if (self->drained_ && self->drainer_.joinable()) {  // and not OnExit's doing, with OnCleanup to come
    self->drainer_.join();
    self->mailbox_->Close();
    self->dropped_.clear();
    uv_close(reinterpret_cast<uv_handle_t*>(bell), OnBellClosed);
  }
}

void Environment::OnBellClosed(uv_handle_t* handle) {
  auto* bell = reinterpret_cast<uv_async_t*>(handle);
  auto self = std::move(static_cast<Environment*>(bell->data)->self_);
  delete bell;
  self->done_(self->done_data_);
}

void Environment::Deliver() {
  Nan::HandleScope scope;
  v8::Context::Scope context_scope(Nan::New(context_));
  objects_.Bury();
  for (Letter& letter : mailbox_->Take()) {
    if (closed_) return;
    Nan::HandleScope each;
    node::CallbackScope callback_scope(isolate_, Nan::New<v8::Object>(), node::async_context{0, 0});
    letter(*this);
  }
}

void Environment::Hold() {
  if (awaited_++ == 0) uv_ref(reinterpret_cast<uv_handle_t*>(bell_));
}

void Environment::Unhold() {
  if (--awaited_ == 0) uv_unref(reinterpret_cast<uv_handle_t*>(bell_));
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
    if (queue_.size() > idle_ && threads_.size() < kMaxThreads) {
      threads_.emplace_back([this] { Work(); });
    }
  }
  work_.notify_one();
  if (awaited) Hold();
}

void Environment::Work() {
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
  // A job holds JavaScript handles, so whatever happens it has to die on the loop's thread.
  std::shared_ptr<Job> shared(std::move(job));
  mailbox_->Post([shared](Environment& environment) {
    environment.Unhold();
    shared->Finish(environment);
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

void Environment::Holdings::Give() const {
  for (const SvmMemory& memory : svm) memory.Free();
  for (const OwnedReference& reference : references) reference.Give();
}

Environment::Holdings Environment::TakeAll(bool contexts) {
  Holdings taken;
  objects_.Bury();
  taken.svm = svm_.TakeAll(foreign_);
  // What is made from something goes before it: some drivers insist.
  std::vector<Kind> order = {Kind::kEvent,   Kind::kKernel,    Kind::kProgram,
                             Kind::kSampler, Kind::kMemObject, Kind::kCommandQueue};
  if (contexts) order.insert(order.end(), {Kind::kContext, Kind::kDevice});
  for (Kind kind : order) {
    for (const std::shared_ptr<Object>& object : objects_.OfKind(kind)) {
      object->released_with_all = true;
      OwnedReference reference = object->TakeReferences();
      if (reference.count > 0) taken.references.push_back(reference);
    }
  }
  return taken;
}

void Environment::ReleaseAll(bool contexts) { TakeAll(contexts).Give(); }

void Environment::BeginClose() {
  Nan::HandleScope scope;
  closed_ = true;
  leftovers_ = TakeAll(true);
  objects_.DropHandles();
  in_flight_.Surrender();
  callbacks_.clear();
  for (auto& constructor : templates) constructor.Reset();
  make_error.Reset();
  foreign_.Reset();
  context_.Reset();
  std::lock_guard<std::mutex> lock(guard_);
  closing_ = true;
  for (auto& job : queue_) dropped_.push_back(std::move(job));
  queue_.clear();
  work_.notify_all();
}

void Environment::Drain() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (auto& job : dropped_) {
    if (job->Essential()) job->Run();
  }
  // A driver that still runs commands while the process tears its library down may crash.
  for (const OwnedReference& reference : leftovers_.references) {
    if (reference.kind == Kind::kCommandQueue) api.clFinish(static_cast<cl_command_queue>(reference.raw));
  }
  leftovers_.Give();
  leftovers_ = {};
  drained_ = true;
}

}  // namespace clsort
