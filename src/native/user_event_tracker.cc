#include "user_event_tracker.h"

#include <uv.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "object.h"
#include "policy.h"

namespace clsort {

namespace {

/** Maximum number of commands that fail recursively on an ordinary stack. */
constexpr size_t kMaxNestedFailures = 1000;
/** Stack per command beyond that: PoCL uses a quarter of it. */
constexpr size_t kStackPerCommand = 1024;

struct Settling {
  cl_event user_event;
  cl_int status;
  cl_int result;
};

void Run(void* settling) {
  auto* what = static_cast<Settling*>(settling);
  what->result = api.clSetUserEventStatus(what->user_event, what->status);
}

/**
 * Settles a user event on a stack that is deep enough for `commands` failures: PoCL fails each waiting command
 * recursively.
 */
cl_int SettleOnDeepStack(cl_event user_event, cl_int status, size_t commands) {
  Settling settling{user_event, status, CL_SUCCESS};
  uv_thread_options_t options{};
  options.flags = UV_THREAD_HAS_STACK_SIZE;
  options.stack_size = commands * kStackPerCommand;
  uv_thread_t thread;
  bool deep = status < CL_COMPLETE && commands > kMaxNestedFailures;
  if (deep && uv_thread_create_ex(&thread, &options, Run, &settling) == 0) {
    uv_thread_join(&thread);
  } else {
    Run(&settling);
  }
  return settling.result;
}

cl_context ContextOf(cl_event event) {
  cl_context context = nullptr;
  api.clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, nullptr);
  return context;
}

void Release(const std::vector<cl_event>& events) {
  for (cl_event event : events) api.clReleaseEvent(event);
}

}  // namespace

/** Never destroyed: threads of the addon and of drivers may outlive everything else. */
UserEventTracker& user_events = *new UserEventTracker;

bool UserEventTracker::Open(cl_event user_event, cl_context context, bool alone) {
  std::lock_guard<std::mutex> lock(guard_);
  bool first = std::none_of(held_.begin(), held_.end(), [&](const Held& held) { return held.context == context; });
  held_.push_back({user_event, context, false});
  open_.fetch_add(1, std::memory_order_relaxed);
  if (alone) exclusive_count_.fetch_add(1, std::memory_order_relaxed);
  return first;
}

cl_int UserEventTracker::Settle(cl_event user_event, cl_int status, bool alone) {
  std::unique_lock<std::shared_mutex> exclusive_lock(enqueue_mutex_, std::defer_lock);
  if (alone) exclusive_lock.lock();
  size_t commands;
  {
    std::lock_guard<std::mutex> lock(guard_);
    settling_++;
    commands = held_.size();
  }
  if (alone && status < CL_COMPLETE) WaitUntilIdle();
  cl_int result = SettleOnDeepStack(user_event, status, commands);
  std::vector<cl_event> ended;
  {
    std::lock_guard<std::mutex> lock(guard_);
    settling_--;
    if (result == CL_SUCCESS) {
      open_.fetch_sub(1, std::memory_order_relaxed);
      if (alone) exclusive_count_.fetch_sub(1, std::memory_order_relaxed);
      auto settled = [&](const Held& held) { return held.context && held.event == user_event; };
      held_.erase(std::remove_if(held_.begin(), held_.end(), settled), held_.end());
    }
    if (settling_ == 0) ended = TakeEnded();
  }
  Release(ended);
  return result;
}

void UserEventTracker::MarkIndependent(cl_event event) {
  std::lock_guard<std::mutex> lock(guard_);
  auto found = std::find_if(held_.rbegin(), held_.rend(), [&](const Held& held) { return held.event == event; });
  if (found != held_.rend()) found->is_independent = true;
}

bool UserEventTracker::AnyRunning() {
  std::lock_guard<std::mutex> lock(guard_);
  return std::any_of(held_.begin(), held_.end(), [](const Held& held) {
    cl_int state = CL_COMPLETE;
    if (!held.context) AskState(held.event, &state);
    return state == CL_SUBMITTED || state == CL_RUNNING || (held.is_independent && state == CL_QUEUED);
  });
}

void UserEventTracker::WaitUntilIdle() {
  int still = 0;
  for (int looks = 0; still < kIdlePolls && looks < kMaxPolls; looks++) {
    if (looks > 0) std::this_thread::sleep_for(kPollInterval);
    still = AnyRunning() ? 0 : still + 1;
  }
}

void UserEventTracker::Hold(Held held, bool shared) {
  if (shared && api.clRetainEvent(held.event) != CL_SUCCESS) return;
  std::vector<cl_event> ended;
  {
    std::lock_guard<std::mutex> lock(guard_);
    held_.push_back(held);
    // If another thread settled the last user event meanwhile, no later sweep would release this event.
    if (settling_ > 0 || (open() && held_.size() < std::max(sweep_threshold_, kMinSweepSize))) return;
    ended = TakeEnded();
  }
  Release(ended);
}

void UserEventTracker::Sweep() {
  std::vector<cl_event> ended;
  {
    std::lock_guard<std::mutex> lock(guard_);
    if (settling_ == 0) ended = TakeEnded();
  }
  Release(ended);
}

bool UserEventTracker::MayFail(cl_event user_event) {
  std::lock_guard<std::mutex> lock(guard_);
  return std::none_of(held_.begin(), held_.end(), [&](const Held& held) {
    return held.is_execution && !Ended(held.event) && ContextOf(held.event) == ContextOf(user_event);
  });
}

std::vector<cl_event> UserEventTracker::TakeEnded() {
  std::vector<cl_event> ended;
  std::vector<Held> remaining;
  bool running = false;
  size_t with_failed = 0;
  for (const Held& held : held_) {
    cl_int state = CL_QUEUED;
    if (!held.context) AskState(held.event, &state);
    if (state == CL_COMPLETE || (state < CL_COMPLETE && !running)) {
      ended.push_back(held.event);
      continue;
    }
    remaining.push_back(held);
    if (state < CL_COMPLETE) with_failed = remaining.size();
    running = running || state > CL_COMPLETE;
  }
  if (!open()) {
    // Nothing more can fail. Running commands only determine when earlier failed ones can be released.
    for (size_t i = with_failed; i < remaining.size(); i++) ended.push_back(remaining[i].event);
    remaining.resize(with_failed);
  }
  held_ = std::move(remaining);
  sweep_threshold_ = 2 * held_.size();
  return ended;
}

}  // namespace clsort
