#ifndef CLSORT_NATIVE_ENVIRONMENT_H_
#define CLSORT_NATIVE_ENVIRONMENT_H_

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

/** Work for a thread of ours. `Run` must not touch JavaScript; `Finish` runs on the loop afterwards. */
class Job {
 public:
  virtual ~Job() = default;
  virtual void Run() = 0;
  /** With a HandleScope and a callback scope open; not called when the environment ends first. */
  virtual void Finish(Environment&) {}
  /** Whether the job is to run even when the environment is ending. */
  virtual bool Essential() const { return false; }
  /** Whether somebody waits for `Finish`, so that the loop has to stay alive for it. */
  virtual bool Awaited() const { return true; }
};

using Message = std::function<void(Environment&)>;

/** How driver threads reach the loop. Outlives the environment: messages that come too late are dropped. */
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

/** A JavaScript function that a driver will cause to be called. */
struct Callback {
  Nan::Global<v8::Function> function;
  Nan::Global<v8::Value> data;
  /** The handle that the callback is about, if it is passed along. */
  Nan::Global<v8::Object> subject;
  /** The loop stays alive for it. */
  bool awaited = true;
};

/** What a call has read of its arguments: an object, or memory of an ArrayBuffer up to some byte. */
struct HandedOut {
  const Object* object;
  v8::Local<v8::ArrayBuffer> buffer;
  size_t end;
  /** What is thrown when it is gone. */
  cl_int status;
};

/**
 * What the addon keeps for one Node environment (the main one, or a worker's).
 *
 * Everything but the mailbox, the waits and the job queue belongs to the environment's loop thread. When the
 * environment ends, running jobs are waited for, since a driver must not be left inside a call while
 * its library is torn down; queued ones are dropped.
 */
class Environment : public std::enable_shared_from_this<Environment> {
 public:
  static std::shared_ptr<Environment> Create(v8::Local<v8::Object> exports);
  ~Environment();

  v8::Isolate* isolate() const { return isolate_; }
  std::shared_ptr<Mailbox> mailbox() const { return mailbox_; }

  /** Runs a job on a thread of ours, or here and now when the platform wants a single thread. */
  void Start(std::unique_ptr<Job> job, const Platform* platform);
  /** Waits without taking a thread from the jobs, or here and now likewise. */
  void Start(std::shared_ptr<Wait> wait, const Platform* platform);

  /** Keeps a JavaScript callback until `TakeCallback`, and the loop alive if it is awaited. */
  uint64_t AddCallback(std::unique_ptr<Callback> callback);
  std::unique_ptr<Callback> TakeCallback(uint64_t id);
  /** The callback without taking it, for those that may come more than once. */
  Callback* PeekCallback(uint64_t id);

  /** Whether JavaScript is over: nothing may be called any more. */
  bool closed() const { return closed_; }

  /** Where the worker is being terminated: has that go on when the current call returns. @return whether it is */
  bool PostponeTermination(const v8::TryCatch& caught);

  void CountOpenUserEvents(int change) { open_user_events_ += change; }
  /**
   * Blocks until commands have ended, as clWaitForEvents does.
   *
   * A user event of this environment that is open can be completed by nobody but this thread. A worker that waits for one
   * would never end, so the wait ends when the worker is being terminated. Until then the commands are asked for.
   *
   * @param terminated set where the wait has ended that way: the commands may still be running
   */
  cl_int Await(const Platform& platform, const std::vector<cl_event>& events, bool* terminated);
  /** Whether a blocking call is to enqueue without blocking and to `Await` its event. */
  bool AwaitsItself(const Platform& platform) const { return open_user_events_ > 0 && !platform.single_threaded; }

  /** Has the loop look after collected handles soon. Safe during garbage collection. */
  void Wake() {
    if (!closed_) uv_async_send(async_);
  }

  ObjectRegistry& objects() { return objects_; }
  Waits& waits() { return *waits_; }
  InFlight& in_flight() { return in_flight_; }
  ForeignMemory& foreign() { return foreign_; }
  Mappings& mappings() { return mappings_; }
  SvmRegistry& svm() { return svm_; }
  /** Of all calls in progress, the innermost last: there is more than one when an argument's getter calls. */
  std::vector<HandedOut>& handed_out() { return handed_out_; }

  Nan::Persistent<v8::FunctionTemplate> templates[kKinds];
  /** Makes the error objects: (status, call, reason, log) => Error. */
  Nan::Persistent<v8::Function> make_error;
  /** Binds a callback to the asynchronous context of its call: (function) => function. */
  Nan::Persistent<v8::Function> bind_callback;
  /** Returns at once, unless the worker is being terminated. */
  Nan::Persistent<v8::Function> do_nothing;
  /** Where V8 forbids ArrayBuffers over foreign memory, mapped memory is copied. */
  bool copy_mappings = false;

  /** A queue is about to lose its handle: its commands are to be waited for before memory goes that they may use. */
  void Retire(const Object& queue);

  /** Releases every object of this environment now; contexts and sub-devices only if told. May block. */
  void ReleaseAll(bool contexts);

 private:
  explicit Environment(v8::Isolate* isolate) : isolate_(isolate) {}

  /** Waits for the last commands of queues that have no handle any more. */
  using LastCommands = std::unordered_map<const Wait*, std::shared_ptr<Wait>>;

  /** What objects hold. */
  struct Holdings {
    std::vector<OwnedReference> references;
    std::vector<std::shared_ptr<SvmMemory>> svm;
    LastCommands last_commands;
    /** Has all queues start on what they were given. */
    void Flush();
    /** Waits until no command can use any of it, nor see a driver that is torn down, and gives it back. */
    void Give();
  };
  /** Takes all references out of all objects; out of contexts and sub-devices too if `contexts` is set. */
  Holdings TakeAll(bool contexts);

  static void OnCleanup(void* self, void (*done)(void*), void* done_data);
  static void OnExit(void* self);
  /** Has Node call `OnExit` when the process exits. */
  void AwaitExit();
  /** Whether the process really exits: Node takes any signal that a program sends to itself for its end. */
  bool Exits() const;
  static void OnWake(uv_async_t* async);
  static void OnAsyncClosed(uv_handle_t* async);
  void Deliver();
  void Hold();
  void Unhold();
  /** Whether the worker is being terminated, which then goes on when the current call returns. */
  bool IsTerminating();
  /** Stops taking work and gives up everything of JavaScript's. On the loop thread. */
  void BeginClose();
  /** Waits for running jobs, finishes queues, releases what is left. On any thread. */
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

  /** Set on the loop's thread once JavaScript is over. */
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
  ForeignMemory foreign_{*this};
  Mappings mappings_;
  SvmRegistry svm_{*this};
  std::vector<HandedOut> handed_out_;
  std::shared_ptr<Waits> waits_;
  LastCommands last_commands_;
  Holdings leftovers_;
};

}  // namespace clsort

#endif
