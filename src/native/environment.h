#pragma once

#include <nan.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "host_memory.h"
#include "object.h"
#include "waits.h"

namespace clsort {

/** Work for a pool thread. `Run` must not touch JavaScript; `Finish` runs on the JavaScript thread afterwards. */
class Job {
 public:
  virtual ~Job() = default;
  virtual void Run() = 0;
  /** Called with an open HandleScope and callback scope; not called if the environment ends first. */
  virtual void Finish(Environment&) {}
  /** Whether the job runs even while the environment is ending. */
  virtual bool Essential() const { return false; }
  /** Whether the event loop stays alive until `Finish`. */
  virtual bool Awaited() const { return true; }
};

using Message = std::function<void(Environment&)>;

/**
 * Sends messages from driver threads to the event loop. Outlives the environment; messages after its end are dropped.
 */
class Mailbox {
 public:
  explicit Mailbox(uv_async_t* async) : async_(async) {}
  void Post(Message message);
  std::vector<Message> Take();
  void Close();

 private:
  std::mutex guard_;
  std::vector<Message> messages_;
  uv_async_t* async_;
};

/** JavaScript function that is called because of a driver event. */
struct Callback {
  Nan::Global<v8::Function> function;
  Nan::Global<v8::Value> data;
  /** Handle that is passed to the callback, if any. */
  Nan::Global<v8::Object> subject;
  /** Whether the event loop stays alive for the callback. */
  bool awaited = true;
};

/** Argument value that a call has read: an object, or memory of an ArrayBuffer up to byte `end`. */
struct HandedOut {
  const Object* object;
  v8::Local<v8::ArrayBuffer> buffer;
  size_t end;
  /** Code of the error that is thrown if the value no longer exists. */
  cl_int status;
};

/**
 * State of the addon for one Node environment (the main thread or a worker).
 *
 * Everything except the mailbox, the waits and the job queue belongs to the JavaScript thread. At the end of the
 * environment running jobs are awaited, because a driver must not be inside a call while its library is unloaded;
 * queued jobs are dropped.
 */
class Environment : public std::enable_shared_from_this<Environment> {
 public:
  static std::shared_ptr<Environment> Create(v8::Local<v8::Object> exports);
  ~Environment();

  v8::Isolate* isolate() const { return isolate_; }
  std::shared_ptr<Mailbox> mailbox() const { return mailbox_; }

  /** Runs a job on a pool thread, or on this thread if the platform is single-threaded. */
  void Start(std::unique_ptr<Job> job, const Platform* platform);
  /** Waits without using a pool thread, or on this thread if the platform is single-threaded. */
  void Start(std::shared_ptr<Wait> wait, const Platform* platform);

  /** Stores a JavaScript callback until `TakeCallback`; keeps the event loop alive if it is awaited. */
  uint64_t AddCallback(std::unique_ptr<Callback> callback);
  std::unique_ptr<Callback> TakeCallback(uint64_t id);
  /** Returns the callback without removing it, for callbacks that may run more than once. */
  Callback* PeekCallback(uint64_t id);

  /** Returns whether JavaScript has ended: nothing may be called any more. */
  bool closed() const { return closed_; }

  /**
   * If the worker is being terminated, postpones that until the current call returns. @return whether it is being
   * terminated
   */
  bool PostponeTermination(const v8::TryCatch& caught);

  void CountOpenUserEvents(int change) { open_user_events_ += change; }
  /**
   * Blocks until commands have ended, like clWaitForEvents.
   *
   * Only this thread can complete an open user event of this environment, so a worker that waits for one would never
   * end. The wait therefore polls the commands and ends when the worker is being terminated.
   *
   * @param terminated set if the wait ended that way: the commands may still be running
   */
  cl_int Await(const Platform& platform, const std::vector<cl_event>& events, bool* terminated);
  /** Returns whether a blocking call must enqueue without blocking and `Await` its event. */
  bool AwaitsItself(const Platform& platform) const { return open_user_events_ > 0 && !platform.single_threaded; }

  /** Schedules the deletion of collected handles. Safe during garbage collection. */
  void Wake() {
    if (!closed_) uv_async_send(async_);
  }

  ObjectRegistry& objects() { return objects_; }
  Waits& waits() { return *waits_; }
  InFlight& in_flight() { return in_flight_; }
  ExternalArrayBuffers& external_array_buffers() { return external_array_buffers_; }
  Mappings& mappings() { return mappings_; }
  SvmRegistry& svm() { return svm_; }
  /** Values of all calls in progress, the innermost last: the getter of an argument may make another call. */
  std::vector<HandedOut>& handed_out() { return handed_out_; }

  Nan::Persistent<v8::FunctionTemplate> templates[kKinds];
  /** Makes error objects: (status, call, reason, log) => Error. */
  Nan::Persistent<v8::Function> make_error;
  /** Binds a callback to the asynchronous context of its call: (function) => function. */
  Nan::Persistent<v8::Function> bind_callback;
  /** Returns at once; fails in a worker that is being terminated. */
  Nan::Persistent<v8::Function> do_nothing;
  /** Whether mapped memory is copied, because V8 forbids ArrayBuffers over external memory. */
  bool copy_mappings = false;

  /** Called before a queue loses its handle: memory that its commands may use is freed only after they have ended. */
  void Retire(const Object& queue);

  /** Releases every object of this environment now; contexts and sub-devices only if `contexts` is true. May block. */
  void ReleaseAll(bool contexts);

 private:
  explicit Environment(v8::Isolate* isolate) : isolate_(isolate) {}

  /** Waits for the last commands of queues without a handle. */
  using LastCommands = std::unordered_map<const Wait*, std::shared_ptr<Wait>>;

  /** Resources taken out of objects. */
  struct Holdings {
    std::vector<OwnedReference> references;
    std::vector<std::shared_ptr<SvmMemory>> svm;
    LastCommands last_commands;
    /** Flushes all queues. */
    void Flush();
    /** Waits until no command can use the resources or a driver that is being unloaded, then releases them. */
    void Give();
  };
  /** Takes all references out of all objects; contexts and sub-devices only if `contexts` is true. */
  Holdings TakeAll(bool contexts);

  static void OnCleanup(void* self, void (*done)(void*), void* done_data);
  static void OnExit(void* self);
  /** Registers `OnExit` for the exit of the process. */
  void AwaitExit();
  /**
   * Returns whether the process really exits: Node also runs its exit callbacks when a program sends itself a signal.
   */
  bool Exits() const;
  static void OnWake(uv_async_t* async);
  static void OnAsyncClosed(uv_handle_t* async);
  void Deliver();
  void Hold();
  void Unhold();
  /** Returns whether the worker is being terminated, which then continues when the current call returns. */
  bool IsTerminating();
  /** Stops accepting work and drops everything that belongs to JavaScript. Runs on the JavaScript thread. */
  void BeginClose();
  /** Waits for running jobs, finishes queues and releases the remaining objects. Runs on any thread. */
  void Drain();
  void Work();
  void JobDone(std::unique_ptr<Job> job);

  v8::Isolate* isolate_;
  Nan::Global<v8::Context> context_;
  node::AsyncCleanupHookHandle cleanup_hook_;
  std::shared_ptr<Mailbox> mailbox_;
  uv_async_t* async_ = nullptr;
  size_t awaited_ = 0;

  std::mutex guard_;
  std::condition_variable work_;
  std::deque<std::unique_ptr<Job>> queue_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::unique_ptr<Job>> dropped_;

  /** Set on the JavaScript thread when JavaScript has ended. */
  bool closed_ = false;
  std::thread drainer_;
  std::atomic<bool> drained_{false};
  std::shared_ptr<Environment> self_;
  void (*done_)(void*) = nullptr;
  void* done_data_ = nullptr;

  int open_user_events_ = 0;
  uint64_t next_callback_ = 1;
  std::unordered_map<uint64_t, std::unique_ptr<Callback>> callbacks_;
  ObjectRegistry objects_;
  InFlight in_flight_;
  ExternalArrayBuffers external_array_buffers_{*this};
  Mappings mappings_;
  SvmRegistry svm_{*this};
  std::vector<HandedOut> handed_out_;
  std::shared_ptr<Waits> waits_;
  LastCommands last_commands_;
  Holdings leftovers_;
};

}  // namespace clsort
