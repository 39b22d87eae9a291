#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "opencl.h"

namespace clsort {

/**
 * Open user events of the process and the commands that may fail with them.
 *
 * When a user event fails, drivers fail the commands that wait for it, the commands that wait for those, and so on.
 * PoCL uses the event of a failed command after it has dropped its own reference, and other events that the command
 * waited for keep a raw pointer to it until they end. Without another reference the process ends. The tracker therefore
 * holds the event of every command that is enqueued while a user event is open: until it has completed or, after a
 * failure, until all earlier commands have ended.
 */
class UserEventTracker {
 public:
  bool open() const { return open_.load(std::memory_order_relaxed) > 0; }
  /**
   * Registers a new user event of a context.
   *
   * @param alone whether it must be settled exclusively, see `Settle`
   * @return whether the context has no other open user event
   */
  bool Open(cl_event user_event, cl_context context, bool alone);
  /** Whether commands must be enqueued under `LockEnqueue`. */
  bool needs_enqueue_lock() const { return exclusive_count_.load(std::memory_order_relaxed) > 0; }
  /**
   * Prevents user events from failing while a command is enqueued, which must not block: PoCL would fail a
   * half-enqueued command.
   */
  std::shared_lock<std::shared_mutex> LockEnqueue() {
    return needs_enqueue_lock() ? std::shared_lock<std::shared_mutex>(enqueue_mutex_)
                                : std::shared_lock<std::shared_mutex>();
  }
  /**
   * Returns whether a user event can fail: not while a command buffer may wait for it, because the events of its
   * commands cannot be held.
   */
  bool MayFail(cl_event user_event);
  /**
   * Completes or fails a user event; releases events that need not be held any more.
   *
   * @param alone whether nothing else may end or be enqueued while it fails: PoCL starts a command whose other event
   *   ends at that moment and also fails it, which ends the process
   */
  cl_int Settle(cl_event user_event, cl_int status, bool alone);
  /** Holds the event of a command; takes its only reference, or retains it if `shared` is true. */
  void Hold(cl_event event, bool shared) { Hold(Held{event, nullptr, false}, shared); }
  /** Like `Hold` for the execution of a command buffer, whose event the caller keeps. */
  void HoldExecution(cl_event event) { Hold(Held{event, nullptr, true}, true); }
  /** Marks a held command as independent of all user events. */
  void MarkIndependent(cl_event event);
  /** Releases events that need not be held any more. */
  void Sweep();

 private:
  struct Held {
    cl_event event;
    /** Context of an open user event, which the program holds; null for a command. */
    cl_context context;
    bool is_execution;
    bool is_independent = false;
  };
  void Hold(Held held, bool shared);
  /** Returns whether a command is running or about to run. */
  bool AnyRunning();
  /** Waits, for a limited time, until no command has been running for a moment. */
  void WaitUntilIdle();
  /**
   * Removes and returns events that need not be held any more. Requires `guard_` and that no user event is being
   * settled.
   */
  std::vector<cl_event> TakeEnded();

  std::atomic<size_t> open_{0};
  std::mutex guard_;
  /** Exclusive while a user event that requires it is settled; shared while commands are enqueued. */
  std::shared_mutex enqueue_mutex_;
  /** Number of open user events that must be settled exclusively. */
  std::atomic<size_t> exclusive_count_{0};
  size_t settling_ = 0;
  /** In the order of enqueueing and of creation. */
  std::vector<Held> held_;
  /** Number of held events from which a sweep is worthwhile. */
  size_t sweep_threshold_ = 0;
};

extern UserEventTracker& user_events;

}  // namespace clsort
