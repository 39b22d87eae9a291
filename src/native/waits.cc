#include "waits.h"

#include <algorithm>
#include <unordered_set>

#include "environment.h"
#include "id_table.h"
#include "policy.h"

namespace clsort {

namespace {

/** Waits by the number that driver callbacks pass. Never destroyed: callbacks come at any time. */
IdTable<std::weak_ptr<Waits>>& numbers = *new IdTable<std::weak_ptr<Waits>>;

}  // namespace

void Wait::Flush() const {
  for (const HeldEvent& held : events) {
    if (held.queue) api.clFlush(held.queue.As<cl_command_queue>());
  }
}

cl_int Wait::Block() const {
  Flush();
  std::vector<cl_event> list;
  for (const HeldEvent& held : events) list.push_back(held.event.As<cl_event>());
  return api.clWaitForEvents(static_cast<cl_uint>(list.size()), list.data());
}

cl_int Wait::Ask() const {
  cl_int result = CL_SUCCESS;
  for (const HeldEvent& held : events) {
    cl_int state = CL_QUEUED;
    cl_int status = AskState(held.event.As<cl_event>(), &state);
    if (status != CL_SUCCESS) return status;
    if (state > until) return state;
    if (state < CL_COMPLETE) result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return result;
}

void Waits::Add(std::shared_ptr<Wait> wait) {
  std::unique_lock<std::mutex> lock(guard_);
  if (closed_) return;
  if (blocking_.size() >= idle_ && blockers_.size() == kBlockers) return EnqueueForWatcher(AddPending(wait), lock);
  blocking_.push_back(std::move(wait));
  if (blocking_.size() > idle_) blockers_.emplace_back([this] { Block(); });
  lock.unlock();
  to_block_.notify_one();
}

void Waits::AddQuiet(std::shared_ptr<Wait> wait) {
  std::unique_lock<std::mutex> lock(guard_);
  if (!closed_) EnqueueForWatcher(AddPending(wait), lock);
}

cl_int Waits::AddCallback(std::shared_ptr<Wait> wait, bool watched) {
  void* number;
  {
    std::lock_guard<std::mutex> lock(guard_);
    if (closed_) return CL_SUCCESS;
    number = AddPending(wait);
  }
  wait->called = true;
  cl_int status = api.clSetEventCallback(wait->events[0].event.As<cl_event>(), wait->until, OnEvent, number);
  if (status != CL_SUCCESS) {
    Take(number);
  } else if (watched) {
    std::unique_lock<std::mutex> lock(guard_);
    EnqueueForWatcher(number, lock);
  }
  return status;
}

void* Waits::AddPending(const std::shared_ptr<Wait>& wait) {
  void* number = numbers.Add(weak_from_this());
  pending_.emplace(number, Pending{wait, wait->events.size()});
  return number;
}

void Waits::EnqueueForWatcher(void* number, std::unique_lock<std::mutex>& lock) {
  fresh_.push_back(number);
  if (!watcher_.joinable()) watcher_ = std::thread([this] { Watch(); });
  lock.unlock();
  to_watch_.notify_one();
}

std::shared_ptr<Wait> Waits::Take(void* number) {
  std::lock_guard<std::mutex> lock(guard_);
  auto found = pending_.find(number);
  if (found == pending_.end()) return nullptr;
  auto wait = std::move(found->second.wait);
  pending_.erase(found);
  numbers.Remove(number);
  return wait;
}

void Waits::Post(std::shared_ptr<Wait> wait, std::function<cl_int(const Wait&)> status) {
  mailbox_->Post([wait = std::move(wait), status = std::move(status)](Environment& environment) {
    wait->ended(environment, *wait, status(*wait));
  });
}

void CL_CALLBACK Waits::OnEvent(cl_event, cl_int, void* number) {
  if (auto waits = numbers.Find(number).lock()) waits->CountDown(number);
}

void Waits::CountDown(void* number) {
  {
    std::lock_guard<std::mutex> lock(guard_);
    auto found = pending_.find(number);
    if (found == pending_.end() || --found->second.left > 0) return;
  }
  // The event loop queries the result: drivers may hold locks here, and some report success for failures.
  if (auto wait = Take(number)) {
    Post(std::move(wait), [](const Wait& ended) { return std::min(ended.Ask(), CL_SUCCESS); });
  }
}

void Waits::Block() {
  std::unique_lock<std::mutex> lock(guard_);
  for (;;) {
    idle_++;
    to_block_.wait(lock, [this] { return closed_ || !blocking_.empty(); });
    idle_--;
    if (blocking_.empty()) return;
    auto wait = std::move(blocking_.front());
    blocking_.pop_front();
    lock.unlock();
    cl_int status = wait->Block();
    Post(std::move(wait), [status](const Wait&) { return status; });
    lock.lock();
  }
}

void Waits::AskSoon() {
  {
    std::lock_guard<std::mutex> lock(guard_);
    if (pending_.empty()) return;
    next_ = earliest_;
    pause_ = kMinWatchPause;
  }
  to_watch_.notify_one();
}

void Waits::Watch() {
  std::unique_lock<std::mutex> lock(guard_);
  while (!closed_) {
    if (!fresh_.empty()) {
      std::vector<void*> fresh;
      fresh.swap(fresh_);
      lock.unlock();
      Listen(fresh);
      lock.lock();
      pause_ = kMinWatchPause;
      next_ = std::max(earliest_, std::min(next_, Clock::now() + pause_));
    } else if (pending_.empty()) {
      next_ = Clock::time_point::max();
      to_watch_.wait(lock);
    } else if (Clock::now() < next_) {
      to_watch_.wait_until(lock, next_);
    } else {
      lock.unlock();
      auto start = Clock::now();
      AskNow();
      auto end = Clock::now();
      lock.lock();
      earliest_ = end + kWatchPauseFactor * (end - start);
      next_ = std::max(earliest_, end + pause_);
      pause_ = std::min<Clock::duration>(2 * pause_, kMaxWatchPause);
    }
  }
}

void Waits::Listen(const std::vector<void*>& fresh) {
  std::vector<std::pair<void*, std::shared_ptr<Wait>>> waits;
  {
    std::lock_guard<std::mutex> lock(guard_);
    for (void* number : fresh) {
      auto found = pending_.find(number);
      if (found != pending_.end()) waits.emplace_back(number, found->second.wait);
    }
  }
  std::unordered_set<cl_command_queue> flushed;
  for (auto& [number, wait] : waits) {
    for (const HeldEvent& held : wait->events) {
      auto queue = held.queue.As<cl_command_queue>();
      if (queue && flushed.insert(queue).second) api.clFlush(queue);
    }
  }
  for (auto& [number, wait] : waits) {
    if (wait->called) continue;
    wait->called = true;
    for (const HeldEvent& held : wait->events) {
      if (!Has(*held.event.platform(), api.clSetEventCallback) ||
          api.clSetEventCallback(held.event.As<cl_event>(), CL_COMPLETE, OnEvent, number) != CL_SUCCESS) {
        wait->called = false;
      }
    }
  }
}

void Waits::AskNow() {
  std::vector<std::pair<void*, std::shared_ptr<Wait>>> waits;
  {
    std::lock_guard<std::mutex> lock(guard_);
    for (auto& [number, pending] : pending_) waits.emplace_back(number, pending.wait);
  }
  for (auto& [number, wait] : waits) {
    cl_int status = wait->Ask();
    bool failed = status < CL_SUCCESS && status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (status > CL_SUCCESS || (failed && wait->called)) continue;  // the driver's callback will follow
    if (auto taken = Take(number)) Post(std::move(taken), [status](const Wait&) { return status; });
  }
}

void Waits::Close() {
  std::deque<std::shared_ptr<Wait>> blocking;
  std::unordered_map<void*, Pending> pending;
  {
    std::lock_guard<std::mutex> lock(guard_);
    closed_ = true;
    for (auto& [number, wait] : pending_) numbers.Remove(number);
    blocking.swap(blocking_);
    pending.swap(pending_);
    fresh_.clear();
  }
  to_block_.notify_all();
  to_watch_.notify_all();
}

void Waits::Join() {
  for (std::thread& blocker : blockers_) blocker.join();
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace clsort
