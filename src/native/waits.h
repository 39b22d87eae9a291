#ifndef CLSORT_NATIVE_WAITS_H_
#define CLSORT_NATIVE_WAITS_H_

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

/** An event to wait for, and the queue of its command where that has to be flushed. */
struct HeldEvent {
  Retained event;
  Retained queue;
};

/** Somebody waits until all of some events have come to a state. Holds nothing of JavaScript's, so any thread may drop it. */
struct Wait {
  std::vector<HeldEvent> events;
  /** CL_COMPLETE, or a state before it. */
  cl_int until = CL_COMPLETE;
  /** The driver was asked to call, and took it. */
  bool called = false;
  /** Called once, on the loop's thread, with a status as `Ask` gives it at the end. */
  std::function<void(Environment&, const Wait&, cl_int status)> ended;

  /** Has devices start on what the events stand for. May block. */
  void Flush() const;
  /** Flushes, and blocks until the end. @return what clWaitForEvents returned */
  cl_int Block() const;
  /**
   * Asks the driver. @return a positive number before the end; then CL_SUCCESS, or
   * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST when a command failed; or why the driver does not tell
   */
  cl_int Ask() const;
};

/**
 * The waits of an environment.
 *
 * The first few block in the driver, each on a thread: on a GPU nothing tells sooner of a command's end. All others
 * are left to the driver's callbacks, and cost no thread. A watcher asks for these now and then as well, since
 * several drivers call nobody when a command fails.
 */
class Waits : public std::enable_shared_from_this<Waits> {
 public:
  explicit Waits(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  /** On the loop's thread, as the next two. */
  void Add(std::shared_ptr<Wait> wait);
  /** A wait that nobody is in a hurry for: it never blocks a thread. */
  void AddQuiet(std::shared_ptr<Wait> wait);
  /**
   * A wait for one event that is left to the driver's callback likewise. The driver is asked on this thread, so that
   * the caller learns what it has against it. @return what clSetEventCallback returned
   * @param watched the event's queue is flushed, and the event asked for, on another thread
   */
  cl_int AddCallback(std::shared_ptr<Wait> wait, bool watched);
  /** A user event was settled: commands may have failed without a word. */
  void AskSoon();
  /** Asks for all pending waits, on this thread. */
  void AskNow();

  /** Drops all waits. On the loop's thread. */
  void Close();
  /** Waits for the threads, after `Close`: for what blocks in the driver. */
  void Join();

 private:
  using Clock = std::chrono::steady_clock;
  /** A wait that is left to callbacks; its key is the number that these bring. */
  struct Pending {
    std::shared_ptr<Wait> wait;
    /** Events whose callback has not come yet. */
    size_t left;
  };

  static void CL_CALLBACK OnEvent(cl_event event, cl_int status, void* number);

  /** With `guard_` held. */
  void* AddPending(const std::shared_ptr<Wait>& wait);
  /** With `guard_` held: hands a wait to the watcher. */
  void EnqueueForWatcher(void* number, std::unique_lock<std::mutex>& lock);
  /** Takes a wait out; empty when it has ended already. */
  std::shared_ptr<Wait> Take(void* number);
  void CountDown(void* number);
  void Post(std::shared_ptr<Wait> wait, std::function<cl_int(const Wait&)> status);

  void Block();
  void Watch();
  /** Flushes the queues of these waits, each once, and asks the driver to call for their events. */
  void Listen(const std::vector<void*>& numbers);

  const std::shared_ptr<Mailbox> mailbox_;
  std::mutex guard_;
  bool closed_ = false;

  std::condition_variable to_block_;
  std::deque<std::shared_ptr<Wait>> blocking_;
  std::vector<std::thread> blockers_;
  /** Blockers that have nothing to do. */
  size_t idle_ = 0;

  std::condition_variable to_watch_;
  std::unordered_map<void*, Pending> pending_;
  /** Pending ones that the watcher has not seen. */
  std::vector<void*> fresh_;
  std::thread watcher_;
  /** When the watcher asks next, and when it may at the earliest: asking for many takes its time. */
  Clock::time_point next_ = Clock::time_point::max(), earliest_;
  /** From then to the time after it. */
  Clock::duration pause_{};
};

}  // namespace clsort

#endif
