#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "object.h"

namespace clsort {

class Mailbox;

/** Event to wait for, and the queue of its command if that must be flushed. */
struct HeldEvent {
  Retained event;
  Retained queue;
};

/** Wait until all of some events have reached a state. Holds nothing of JavaScript, so any thread may destroy it. */
struct Wait {
  std::vector<HeldEvent> events;
  /** CL_COMPLETE, or an earlier state. */
  cl_int until = CL_COMPLETE;
  /** Whether the driver has accepted a callback. */
  bool called = false;
  /** Called once, on the JavaScript thread, with the final status of `Ask`. */
  std::function<void(Environment&, const Wait&, cl_int status)> ended;

  /** Flushes the queues of the events. May block. */
  void Flush() const;
  /** Flushes, and blocks until the end. @return the result of clWaitForEvents */
  cl_int Block() const;
  /**
   * Queries the driver. @return a positive number before the end; then CL_SUCCESS,
   * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if a command failed, or the error of the query
   */
  cl_int Ask() const;
};

/**
 * Waits of an environment.
 *
 * The first few waits block in the driver, each on a thread, because that reports the end of a command soonest on a
 * GPU. All others use driver callbacks and no thread. A watcher also polls these, because several drivers do not call
 * back when a command fails.
 */
class Waits : public std::enable_shared_from_this<Waits> {
 public:
  explicit Waits(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  /** On the JavaScript thread, like the next two. */
  void Add(std::shared_ptr<Wait> wait);
  /** Adds a wait without urgency, which never blocks a thread. */
  void AddQuiet(std::shared_ptr<Wait> wait);
  /**
   * Adds a wait for one event by a driver callback. The driver is called on this thread, so that the caller gets its
   * error. @return the result of clSetEventCallback
   *
   * @param watched whether another thread flushes the queue of the event and polls the event
   */
  cl_int AddCallback(std::shared_ptr<Wait> wait, bool watched);
  /** Called after a user event was settled: commands may have failed without a callback. */
  void AskSoon();
  /** Polls all pending waits on this thread. */
  void AskNow();

  /** Drops all waits. On the JavaScript thread. */
  void Close();
  /** Joins the threads after `Close`; waits for calls that block in the driver. */
  void Join();

 private:
  using Clock = std::chrono::steady_clock;
  /** Wait that uses callbacks; its key is the number that these pass. */
  struct Pending {
    std::shared_ptr<Wait> wait;
    /** Events without a callback so far. */
    size_t left;
  };

  static void CL_CALLBACK OnEvent(cl_event event, cl_int status, void* number);

  /** Requires `guard_`. */
  void* AddPending(const std::shared_ptr<Wait>& wait);
  /** Passes a wait to the watcher. Requires `guard_`. */
  void EnqueueForWatcher(void* number, std::unique_lock<std::mutex>& lock);
  /** Removes and returns a wait; empty if it has already ended. */
  std::shared_ptr<Wait> Take(void* number);
  void CountDown(void* number);
  void Post(std::shared_ptr<Wait> wait, std::function<cl_int(const Wait&)> status);

  void Block();
  void Watch();
  /** Flushes the queues of these waits, each once, and registers driver callbacks for their events. */
  void Listen(const std::vector<void*>& numbers);

  const std::shared_ptr<Mailbox> mailbox_;
  std::mutex guard_;
  bool closed_ = false;

  std::condition_variable to_block_;
  std::deque<std::shared_ptr<Wait>> blocking_;
  std::vector<std::thread> blockers_;
  /** Number of idle blocking threads. */
  size_t idle_ = 0;

  std::condition_variable to_watch_;
  std::unordered_map<void*, Pending> pending_;
  /** Pending waits that the watcher has not seen. */
  std::vector<void*> fresh_;
  std::thread watcher_;
  /** Time of the next poll, and its earliest time: polling many waits takes long. */
  Clock::time_point next_ = Clock::time_point::max(), earliest_;
  /** Pause between the next poll and the one after it. */
  Clock::duration pause_{};
};

}  // namespace clsort
