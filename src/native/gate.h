#ifndef CLSORT_NATIVE_GATE_H_
#define CLSORT_NATIVE_GATE_H_

#include <atomic>
#include <mutex>
#include <vector>

#include "opencl.h"

namespace clsort {

/**
 * The open user events of the process, and the commands that may fail with one of them.
 *
 * When a user event fails, drivers fail the commands that wait for it, the commands behind those, and so on. PoCL
 * goes on with a command's event after it has given up its own reference: without another one it ends the
 * process. So every command that is enqueued while a user event is open has its event held here, until that user
 * event is settled or the command has ended.
 */
class Gate {
 public:
  bool open() const { return open_.load(std::memory_order_relaxed) > 0; }
  /** A user event was made. */
  void Open() { open_.fetch_add(1, std::memory_order_relaxed); }
  /**
   * Whether a user event can be made to fail: not while a command buffer may wait for it, since nobody can hold the
   * events of its commands.
   */
  bool MayFail(cl_event user_event);
  /** Completes or fails a user event, for good; lets go of what has ended, and of everything when no other is open. */
  cl_int Settle(cl_event user_event, cl_int status);
  /** Holds the event of a command: by its only reference, or where that is the caller's by another one. */
  void Hold(cl_event event, bool shared);
  /** As `Hold`, for the event of a command buffer's execution, whose only reference stays the caller's. */
  void HoldExecution(cl_event event);

 private:
  /** Takes out what need not be held any more; with `guard_` held, and only while no user event is being settled. */
  std::vector<cl_event> TakeEnded();

  std::atomic<size_t> open_{0};
  std::mutex guard_;
  size_t settling_ = 0;
  std::vector<cl_event> held_;
  /** Those of executions of command buffers, which `held_` has as well. */
  std::vector<cl_event> executions_;
  /** Number of held events at which it is worth asking which have ended. */
  size_t many_ = 0;
};

extern Gate& gate;

}  // namespace clsort

#endif
