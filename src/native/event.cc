#include "info.h"
#include "wait.h"

namespace clsort {

namespace {

const std::vector<InfoRow> kEventInfo = {
    {CL_EVENT_COMMAND_QUEUE, Info::kHandle, Kind::kCommandQueue},
    {CL_EVENT_CONTEXT, Info::kHandle, Kind::kContext},
    {CL_EVENT_COMMAND_TYPE, Info::kUint},
    {CL_EVENT_COMMAND_EXECUTION_STATUS, Info::kInt},
    {CL_EVENT_REFERENCE_COUNT, Info::kUint},
};

const std::vector<InfoRow> kProfilingInfo = {
    {CL_PROFILING_COMMAND_QUEUED, Info::kLong},   {CL_PROFILING_COMMAND_SUBMIT, Info::kLong},
    {CL_PROFILING_COMMAND_START, Info::kLong},    {CL_PROFILING_COMMAND_END, Info::kLong},
    {CL_PROFILING_COMMAND_COMPLETE, Info::kLong},
};

/** An event for a job, with the queue of its command; a queue that was released has been flushed by that. */
struct HeldEvent {
  Retained event;
  Retained queue;

  HeldEvent(Call& call, const Object& object) : event(call.Hold(object)) {
    auto owner = object.queue.lock();
    if (owner && owner->raw) queue = call.Hold(*owner);
  }
  /** Has a device start on what the event stands for. May block. */
  void Flush() const {
    if (queue) api.clFlush(queue.As<cl_command_queue>());
  }
};

NAN_METHOD(WaitForEvents) {
  Call call(info, "clWaitForEvents");
  if (call.ok() && !call.Has(0)) call.Fail(CL_INVALID_VALUE, "argument 1: expected events");
  auto events = call.Handles(0, Kind::kEvent, CL_INVALID_VALUE);
  if (!call.ok()) return;
  if (events.empty()) return (void)call.Fail(CL_INVALID_VALUE, "argument 1: expected at least one event");
  std::vector<cl_event> list;
  for (auto& event : events) list.push_back(event->As<cl_event>());
  if (call.CheckWait(api.clWaitForEvents(static_cast<cl_uint>(list.size()), list.data()))) {
    call.ReturnSuccess();
  }
}

class WaitJob final : public PromiseJob {
 public:
  explicit WaitJob(std::vector<HeldEvent> events) : PromiseJob("clWaitForEvents"), events_(std::move(events)) {}
  void Run() override {
    std::vector<cl_event> list;
    for (const HeldEvent& held : events_) {
      list.push_back(held.event.As<cl_event>());
      held.Flush();
    }
    status_ = api.clWaitForEvents(static_cast<cl_uint>(list.size()), list.data());
  }

 private:
  std::vector<HeldEvent> events_;
};

NAN_METHOD(WaitForEventsAsync) {
  Call call(info, "clWaitForEvents");
  auto events = call.Handles(0, Kind::kEvent, CL_INVALID_VALUE);
  if (!call.ok()) return;
  if (events.empty()) return (void)call.Fail(CL_INVALID_VALUE, "argument 1: expected at least one event");
  std::vector<HeldEvent> held;
  for (auto& event : events) held.emplace_back(call, *event);
  if (call.ok()) StartPromise(call, std::make_unique<WaitJob>(std::move(held)), events[0]->platform);
}

NAN_METHOD(GetEventInfo) {
  Call call(info, "clGetEventInfo");
  auto event = call.Handle(0, Kind::kEvent);
  cl_uint name = call.Uint(1);
  ReturnInfo(call, name, kEventInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetEventInfo(event->As<cl_event>(), name, bytes, value, needed);
             },
             event ? event->platform : nullptr);
  // A program that polls may go on with the memory as soon as it knows.
  call.environment().in_flight().Sweep();
}

NAN_METHOD(GetEventProfilingInfo) {
  Call call(info, "clGetEventProfilingInfo");
  auto event = call.Handle(0, Kind::kEvent);
  cl_uint name = call.Uint(1);
  ReturnInfo(call, name, kProfilingInfo,
             [&](size_t bytes, void* value, size_t* needed) {
               return api.clGetEventProfilingInfo(event->As<cl_event>(), name, bytes, value, needed);
             },
             event ? event->platform : nullptr);
}

NAN_METHOD(CreateUserEvent) {
  Call call(info, "clCreateUserEvent");
  auto context = call.Handle(0, Kind::kContext);
  if (!call.ok() || !call.Supported(api.clCreateUserEvent, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_event event = api.clCreateUserEvent(context->As<cl_context>(), &status);
  if (!call.Check(status)) return;
  auto handle = Wrap(call.environment(), Kind::kEvent, event, context->platform);
  Unwrap(call.environment(), Kind::kEvent, handle)->open_user_event = true;
  call.Return(handle);
}

NAN_METHOD(SetUserEventStatus) {
  Call call(info, "clSetUserEventStatus");
  auto event = call.Handle(0, Kind::kEvent);
  auto status = static_cast<cl_int>(call.Signed(call[1], CL_INVALID_VALUE));
  if (!call.ok() || !call.Supported(api.clSetUserEventStatus, event->platform)) return;
  if (!call.Check(api.clSetUserEventStatus(event->As<cl_event>(), status))) return;
  event->open_user_event = false;
  call.ReturnSuccess();
}

NAN_METHOD(RetainEvent) {
  Call call(info, "clRetainEvent");
  RetainHandle(call, Kind::kEvent);
}

NAN_METHOD(ReleaseEvent) {
  Call call(info, "clReleaseEvent");
  ReleaseHandle(call, Kind::kEvent);
}

/** What an event callback needs. The driver's copy is freed by the one call that the driver makes. */
struct EventNotify {
  std::shared_ptr<Mailbox> mailbox;
  uint64_t callback;
};

/** Has the JavaScript callback called, unless it was already. On any thread. */
void PostEvent(const EventNotify& notify, cl_int status) {
  notify.mailbox->Post([id = notify.callback, status](Environment& environment) {
    environment.in_flight().Sweep();
    auto callback = environment.TakeCallback(id);
    if (!callback) return;
    v8::Local<v8::Value> arguments[] = {Nan::New(callback->data), Nan::New(status),
                                        Nan::New(callback->subject)};
    Nan::Call(Nan::New(callback->function), Nan::New<v8::Object>(), 3, arguments);
  });
}

void CL_CALLBACK OnEvent(cl_event, cl_int status, void* user_data) {
  std::unique_ptr<EventNotify> notify(static_cast<EventNotify*>(user_data));
  PostEvent(*notify, status);
}

/**
 * Flushes an event's queue, since the loop would wait for ever for a command that never starts, and then
 * waits for its end: several drivers call nobody when a command ends with an error.
 */
class WatchJob final : public Job {
 public:
  WatchJob(HeldEvent event, EventNotify notify, bool to_the_end)
      : held_(std::move(event)), notify_(std::move(notify)), to_the_end_(to_the_end) {}
  void Run() override {
    auto event = held_.event.As<cl_event>();
    held_.Flush();
    if (!to_the_end_) return;
    api.clWaitForEvents(1, &event);
    cl_int status = CL_QUEUED;  // where the driver does not tell, its own callback will come
    api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (status <= CL_COMPLETE) PostEvent(notify_, status);
  }
  bool Awaited() const override { return false; }  // the callback is

 private:
  HeldEvent held_;
  EventNotify notify_;
  bool to_the_end_;
};

NAN_METHOD(SetEventCallback) {
  Call call(info, "clSetEventCallback");
  auto event = call.Handle(0, Kind::kEvent);
  auto type = static_cast<cl_int>(call.Signed(call[1], CL_INVALID_VALUE));
  auto function = call.Callable(2);
  if (!call.ok() || !call.Supported(api.clSetEventCallback, event->platform)) return;
  if (function.IsEmpty()) return (void)call.Fail(CL_INVALID_VALUE, "argument 3: expected a function");
  HeldEvent held(call, *event);
  if (!call.ok()) return;
  Environment& environment = call.environment();
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(call[3]);
  callback->subject.Reset(call[0].As<v8::Object>());
  EventNotify notify{environment.mailbox(), environment.AddCallback(std::move(callback))};
  auto* user_data = new EventNotify(notify);
  cl_int status = api.clSetEventCallback(event->As<cl_event>(), type, OnEvent, user_data);
  if (status != CL_SUCCESS) {
    delete user_data;
    environment.TakeCallback(notify.callback);
  }
  if (!call.Check(status)) return;
  bool to_the_end = !event->platform->single_threaded;  // else it would be this thread that waits
  environment.Start(std::make_unique<WatchJob>(std::move(held), std::move(notify), to_the_end), event->platform);
  call.ReturnSuccess();
}

}  // namespace

void ExportEvent(Exports& exports) {
  exports.Set<WaitForEvents>("waitForEvents");
  exports.Set<WaitForEventsAsync>("waitForEventsAsync");
  exports.Set<GetEventInfo>("getEventInfo");
  exports.Set<GetEventProfilingInfo>("getEventProfilingInfo");
  exports.Set<CreateUserEvent>("createUserEvent");
  exports.Set<SetUserEventStatus>("setUserEventStatus");
  exports.Set<RetainEvent>("retainEvent");
  exports.Set<ReleaseEvent>("releaseEvent");
  exports.Set<SetEventCallback>("setEventCallback");
}

}  // namespace clsort
