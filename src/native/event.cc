#include "info.h"
#include "queue.h"
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

CLSORT_EXPORT(waitForEvents, "clWaitForEvents") {
  if (call.ok() && !call.Has(0)) call.FailArgument(0, CL_INVALID_VALUE, "events");
  auto events = call.Handles(0, Kind::kEvent, CL_INVALID_VALUE);
  if (!call.ok()) return;
  if (events.empty()) return (void)call.FailArgument(0, CL_INVALID_VALUE, "at least one event");
  std::vector<cl_event> list;
  for (auto& event : events) list.push_back(event->As<cl_event>());
  if (call.CheckWait(call.Await(*events[0]->platform, list))) call.ReturnSuccess();
}

CLSORT_EXPORT(waitForEventsAsync, "clWaitForEvents") {
  auto events = call.Handles(0, Kind::kEvent, CL_INVALID_VALUE);
  if (!call.ok()) return;
  if (events.empty()) return (void)call.FailArgument(0, CL_INVALID_VALUE, "at least one event");
  std::vector<HeldEvent> held;
  for (auto& event : events) held.push_back(HoldEvent(call, *event));
  if (call.ok()) ReturnWait(call, "clWaitForEvents", std::move(held), events[0]->platform);
}

CLSORT_EXPORT(getEventInfo, "clGetEventInfo") {
  ReturnInfoOf<cl_event>(call, Kind::kEvent, kEventInfo, api.clGetEventInfo);
  // A program that polls may reuse the memory as soon as it sees that the command has ended.
  call.environment().in_flight().Sweep();
}

CLSORT_EXPORT(getEventProfilingInfo, "clGetEventProfilingInfo") {
  ReturnInfoOf<cl_event>(call, Kind::kEvent, kProfilingInfo, api.clGetEventProfilingInfo);
}

/**
 * Registers a marker after all commands of the queues of a context with the user event tracker: commands that wait for
 * a user event may also wait for some of those.
 */
void MarkQueues(Environment& environment, cl_context context) {
  for (const std::shared_ptr<Object>& queue : environment.objects().OfKind(Kind::kCommandQueue)) {
    if (queue->Context() != context) continue;
    Retained marker = MakeMarker(*queue);
    user_events.MarkIndependent(marker.As<cl_event>());
  }
}

CLSORT_EXPORT(createUserEvent, "clCreateUserEvent") {
  auto context = call.Handle(0, Kind::kContext);
  if (!call.ok() || !call.Supported(api.clCreateUserEvent, context->platform)) return;
  cl_int status = CL_SUCCESS;
  cl_event event = api.clCreateUserEvent(context->As<cl_context>(), &status);
  if (!call.Check(status)) return;
  auto handle = Wrap(call.environment(), Kind::kEvent, event, context->platform);
  Unwrap(call.environment(), Kind::kEvent, handle)->SetOpenUserEvent(true);
  bool alone = context->platform->keeps_bare_waiters;
  bool first = user_events.Open(event, context->As<cl_context>(), alone);
  if (first && alone) MarkQueues(call.environment(), context->As<cl_context>());
  call.Return(handle);
}

CLSORT_EXPORT(setUserEventStatus, "clSetUserEventStatus") {
  auto event = call.Handle(0, Kind::kEvent);
  cl_int status = call.Int(1);
  if (!call.ok() || !call.Supported(api.clSetUserEventStatus, event->platform)) return;
  if (status < CL_COMPLETE && event->open_user_event && !user_events.MayFail(event->As<cl_event>())) {
    return (void)call.Fail(
        CL_INVALID_OPERATION,
        "a command buffer of the context may wait for the event, and some drivers crash when it fails: "
        "complete the event, or let it fail after the command buffer");
  }
  if (!call.Check(user_events.Settle(event->As<cl_event>(), status, event->platform->keeps_bare_waiters))) return;
  event->SetOpenUserEvent(false);
  call.environment().waits().AskSoon();
  call.ReturnSuccess();
}

/** Calls a JavaScript callback, with the error if the command failed. */
void CallBack(Environment& environment, uint64_t id, cl_event event, cl_int type) {
  environment.in_flight().Sweep();
  auto callback = environment.TakeCallback(id);
  if (!callback) return;
  cl_int status = type;
  AskState(event, &status);
  v8::Local<v8::Value> arguments[] = {Nan::New(callback->data), Nan::New(status < CL_COMPLETE ? status : type),
                                      Nan::New(callback->subject)};
  Nan::Call(Nan::New(callback->function), Nan::New<v8::Object>(), 3, arguments);
}

CLSORT_EXPORT(setEventCallback, "clSetEventCallback") {
  auto event = call.Handle(0, Kind::kEvent);
  cl_int type = call.Int(1);
  auto function = call.Callable(2);
  if (!call.ok() || !call.Supported(api.clSetEventCallback, event->platform)) return;
  if (function.IsEmpty()) return (void)call.FailArgument(2, CL_INVALID_VALUE, "a function");
  auto wait = std::make_shared<Wait>();
  wait->events.push_back(HoldEvent(call, *event));
  if (!call.ok()) return;
  Environment& environment = call.environment();
  auto callback = std::make_unique<Callback>();
  callback->function.Reset(function);
  callback->data.Reset(call[3]);
  callback->subject.Reset(call[0].As<v8::Object>());
  uint64_t id = environment.AddCallback(std::move(callback));
  wait->until = type;
  wait->ended = [id, type](Environment& environment, const Wait& ended, cl_int) {
    CallBack(environment, id, ended.events[0].event.As<cl_event>(), type);
  };
  bool watched = !event->platform->single_threaded;  // otherwise this thread would have to wait
  if (!call.Check(environment.waits().AddCallback(wait, watched))) return (void)environment.TakeCallback(id);
  if (!watched) {
    // The event loop would wait forever for a command that never starts, or for the callback of a command that has
    // ended, which Oclgrind does not call.
    wait->Flush();
    environment.waits().AskNow();
  }
  call.ReturnSuccess();
}

const Export kRetainEvent("retainEvent", Export::Invoke<RetainObject<Kind::kEvent>>);
const Export kReleaseEvent("releaseEvent", Export::Invoke<ReleaseObject<Kind::kEvent>>);

}  // namespace

}  // namespace clsort
