#ifndef CLSORT_NATIVE_USER_EVENT_TRACKER_H_
#define CLSORT_NATIVE_USER_EVENT_TRACKER_H_

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "opencl.h"

namespace clsort {

/**
 * The open user events of the process, and the commands that may fail with one of them.
 *
 * When a user event fails, drivers fail the commands that wait for it, the commands behind those, and so on. PoCL
 * goes on with a command's event after it has given up its own reference, and what the command waited for besides has
 * a bare pointer to it until it ends: without another reference the process ends. So every command that is enqueued
 * while a user event is open has its event held here: until it has been executed, or, once it has failed, until all
 * that was enqueued before it has ended.
 */
class UserEventTracker {
 public:
  bool open() const { return open_.load(std::memory_order_relaxed) > 0; }
  /**
   * A user event was made, of this context.
   *
   * @param alone it will be settled alone, see `Settle`
   * @return whether the context has no other one that is open
   */
  bool Open(cl_event user_event, cl_context context, bool alone);
  /** Whether commands are to be enqueued in a `LockEnqueue`. */
  bool needs_enqueue_lock() const { return exclusive_count_.load(std::memory_order_relaxed) > 0; }
  /** Keeps user events from failing while a command is enqueued, which must not block: PoCL fails it half enqueued. */
  std::shared_lock<std::shared_mutex> LockEnqueue() {
    return needs_enqueue_lock() ? std::shared_lock<std::shared_mutex>(enqueue_mutex_)
                                : std::shared_lock<std::shared_mutex>();
  }
  /**
   * Whether a user event can be made to fail: not while a command buffer may wait for it, since nobody can hold the
   * events of its commands.
   */
  bool MayFail(cl_event user_event);
  /**
   * Completes or fails a user event, for good; lets go of what need not be held any more.
   *
   * @param alone nothing else may end or be enqueued while it fails: PoCL starts a command whose other event ends at that
   *     moment, and gives it up as well, which ends the process
   */
  cl_int Settle(cl_event user_event, cl_int status, bool alone);
  /** Holds the event of a command: by its only reference, or where that is the caller's by another one. */
  void Hold(cl_event event, bool shared) { Hold(Held{event, nullptr, false}, shared); }
  /** As `Hold`, for the event of a command buffer's execution, which the caller goes on holding. */
  void HoldExecution(cl_event event) { Hold(Held{event, nullptr, true}, true); }
  /** Says of a command that is held that no user event keeps it from ending. */
  void MarkIndependent(cl_event event);
  /** Lets go of what need not be held any more. */
  void Sweep();

 private:
  struct Held {
    cl_event event;
    /** Of a user event that is open, which is its program's to hold; null for a command. */
    cl_context context;
    bool is_execution;
    bool is_independent = false;
  };
  void Hold(Held held, bool shared);
  /** Whether a command is about to run, or runs. */
  bool AnyRunning();
  /** Waits until no command has been under way for a moment, but not for long. */
  void WaitUntilIdle();
  /** Takes out what need not be held any more; with `guard_` held, and only while no user event is being settled. */
  std::vector<cl_event> TakeEnded();

  std::atomic<size_t> open_{0};
  std::mutex guard_;
  /** Held where user events are settled one at a time; shared while commands are enqueued. */
  std::shared_mutex enqueue_mutex_;
  /** Open user events that are settled alone. */
  std::atomic<size_t> exclusive_count_{0};
  size_t settling_ = 0;
  /** In the order in which they were enqueued, and user events made. */
  std::vector<Held> held_;
  /** Number of held events at which it is worth asking which have ended. */
  size_t sweep_threshold_ = 0;
};

extern UserEventTracker& user_events;

}  // namespace clsort

#endif
