#include "svm.h"

#include "command.h"
#include "info.h"
#include "one_shot_callback.h"
#include "pattern.h"
#include "wait.h"

namespace clsort {

namespace {

/** Host memory argument, and whether it is shared virtual memory. */
struct SvmArgument {
  HostMemory memory;
  bool shared = false;
};

/** Reads memory of any kind; a non-blocking command uses it after the call. */
SvmArgument ReadSvm(Call& call, int i, bool blocking, size_t bytes) {
  SvmArgument argument;
  argument.memory = blocking ? call.Memory(i, bytes) : call.LastingMemory(i, bytes);
  if (call.ok()) argument.shared = call.Shared(argument.memory.data) != nullptr;
  return argument;
}

/** Returns whether a device of the context supports shared virtual memory; true if the driver does not report it. */
bool HasSvm(cl_context context) {
  std::vector<cl_device_id> devices;
  if (DevicesOf(context, &devices) != CL_SUCCESS) return true;
  for (cl_device_id device : devices) {
    cl_device_svm_capabilities has = 0;
    cl_int status = api.clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, nullptr);
    if (status == CL_SUCCESS && has != 0) return true;
  }
  return false;
}

CLSORT_EXPORT(SVMAlloc, "clSVMAlloc") {
  auto context = call.Handle(0, Kind::kContext);
  cl_svm_mem_flags flags = call.Bits(1);
  size_t size = call.Size(2);
  cl_uint alignment = call.Has(3) ? call.Uint(3) : 0;
  if (!call.ok() || !call.Supported(api.clSVMAlloc, context->platform)) return;
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  Retained owner = call.Hold(*context);
  if (!call.ok()) return;
  call.environment().in_flight().Sweep();  // frees memory that this allocation may need
  void* pointer = api.clSVMAlloc(context->As<cl_context>(), flags, size, alignment);
  // The function has no status: it fails if memory is exhausted or unsupported, or an argument is wrong.
  if (!pointer && !HasSvm(context->As<cl_context>())) {
    return (void)call.Fail(kUnsupported, "no device of the context supports shared virtual memory");
  }
  if (!pointer) return (void)call.Fail(CL_INVALID_VALUE, "the driver returned no memory");
  Environment& environment = call.environment();
  auto memory = std::make_shared<SvmMemory>(pointer, size, std::move(owner));
  auto buffer = environment.external_array_buffers().Wrap(pointer, size, memory);
  environment.svm().Add(std::move(memory), buffer);
  call.Return(buffer);
}

CLSORT_EXPORT(SVMFree, "clSVMFree") {
  auto context = call.Handle(0, Kind::kContext);
  HostMemory memory = call.Memory(1, 0);
  if (!call.ok() || !call.Supported(api.clSVMFree, context->platform)) return;
  // As in C, freeing other or freed memory does nothing.
  const SvmMemory* found = call.Shared(memory.data);
  if (!call.ok()) return;
  if (found && !found->Unified()) call.environment().svm().Take(memory);
  call.ReturnSuccess();
}

struct FreeNotify {
  std::vector<std::shared_ptr<SvmMemory>> memory;
  std::shared_ptr<Mailbox> mailbox;
  OneShotCallback* once;
  std::atomic<bool> notified{false};

  FreeNotify(std::shared_ptr<Mailbox> mailbox, OneShotCallback* once) : mailbox(std::move(mailbox)), once(once) {}

  /**
   * Releases the memory on the event loop when no other command uses it, and notifies JavaScript. Idempotent and
   * thread-safe.
   */
  void Notify() {
    if (notified.exchange(true)) return;
    mailbox->Post([memory = std::move(memory)](Environment& environment) { environment.in_flight().Sweep(); });
    if (once) PostOneShot(once);
  }
};

/** Called by the driver when the queue reaches the command. */
void CL_CALLBACK OnSvmFree(cl_command_queue, cl_uint, void**, void* user_data) {
  std::unique_ptr<std::shared_ptr<FreeNotify>> notify(static_cast<std::shared_ptr<FreeNotify>*>(user_data));
  (*notify)->Notify();
}

CLSORT_EXPORT(enqueueSVMFree, "clEnqueueSVMFree") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto list = call.Elements(1);
  auto function = call.Callable(2);
  std::vector<HostMemory> memories;
  for (auto element : list) memories.push_back(ReadShared(call, element, 0));
  WaitList waits = call.Events(4);
  bool wanted = call.Bool(5);
  if (!call.ok() || !call.Supported(api.clEnqueueSVMFree, queue->platform)) return;
  if (memories.empty()) return (void)call.FailArgument(1, CL_INVALID_VALUE, "at least one ArrayBuffer");
  Environment& environment = call.environment();
  auto notify = std::make_shared<FreeNotify>(environment.mailbox(),
                                             function.IsEmpty() ? nullptr : MakeOneShot(call, function, call[3]));
  std::vector<void*> pointers;
  for (const HostMemory& memory : memories) {
    std::shared_ptr<SvmMemory> taken = environment.svm().Take(memory);
    if (!taken) continue;  // it is in the list twice
    pointers.push_back(taken->pointer);
    notify->memory.push_back(std::move(taken));
  }
  cl_event event = nullptr;
  auto* data = new std::shared_ptr<FreeNotify>(notify);
  cl_int status = api.clEnqueueSVMFree(queue->As<cl_command_queue>(), static_cast<cl_uint>(pointers.size()),
                                       pointers.data(), OnSvmFree, data, waits.count(), waits.data(), &event);
  if (status != CL_SUCCESS) {  // the ArrayBuffers are detached already, so the memory is freed
    if (notify->once) CancelOneShot(environment, notify->once);
    delete data;
  } else if (!wanted || api.clRetainEvent(event) == CL_SUCCESS) {
    // A failed command calls no callback; its memory is freed nevertheless.
    std::shared_ptr<void> ended(nullptr, [notify](void*) { notify->Notify(); });
    environment.in_flight().Keep(std::move(ended), wanted ? event : std::exchange(event, nullptr),
                                 environment.mailbox());
  }
  call.ReturnEvent(status, wanted, event, *queue);
}

/** Whether and how a command blocks. */
struct Blocking {
  bool wanted = false;
  /** The driver's call does not block; this thread waits for the event. */
  bool awaited = false;

  cl_bool flag() const { return wanted && !awaited ? CL_TRUE : CL_FALSE; }
};

Blocking ReadBlocking(Call& call, int i, const std::shared_ptr<Object>& queue) {
  bool wanted = call.Bool(i);
  return {wanted, wanted && queue && call.environment().AwaitsItself(*queue->platform)};
}

/** Waits for a command that was to block; the program gets its event only on success. */
cl_int AwaitEnd(Call& call, const Object& queue, cl_event* event, bool wanted) {
  cl_int status = call.Await(*queue.platform, {*event});
  if (!wanted || status != CL_SUCCESS) api.clReleaseEvent(std::exchange(*event, nullptr));
  return status;
}

/** Completes the call of a command on memory that may be ordinary host memory. */
void FinishSvm(Call& call, Object& queue, cl_int status, bool blocking, bool wanted, cl_event event,
               std::initializer_list<const SvmArgument*> arguments) {
  InFlight& in_flight = call.environment().in_flight();
  if (status == CL_SUCCESS && !blocking) {
    for (const SvmArgument* argument : arguments) {
      if (!argument->shared) in_flight.Share(argument->memory, event);
    }
  }
  in_flight.Sweep();
  if (status == CL_SUCCESS && !wanted && event) api.clReleaseEvent(event);
  call.ReturnEvent(status, wanted, event, queue);
}

CLSORT_EXPORT(enqueueSVMMemcpy, "clEnqueueSVMMemcpy") {
  EnqueueMemcpy(call, [](Call& call, const Object& queue) -> MemcpyFunction {
    return call.Supported(api.clEnqueueSVMMemcpy, queue.platform) ? api.clEnqueueSVMMemcpy.pointer : nullptr;
  });
}

CLSORT_EXPORT(enqueueSVMMemFill, "clEnqueueSVMMemFill") {
  EnqueueMemFill(call, false, [](Call& call, const Object& queue) -> MemFillFunction {
    return call.Supported(api.clEnqueueSVMMemFill, queue.platform) ? api.clEnqueueSVMMemFill.pointer : nullptr;
  });
}

CLSORT_EXPORT(enqueueSVMMap, "clEnqueueSVMMap") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  Blocking blocking = ReadBlocking(call, 1, queue);
  cl_map_flags flags = call.Bits(2);
  size_t size = call.Size(4);
  HostMemory memory = ReadShared(call, call[3], size);
  WaitList waits = call.Events(5);
  bool wanted = call.Bool(6);
  if (!call.ok() || !call.Supported(api.clEnqueueSVMMap, queue->platform)) return;
  cl_event event = nullptr;
  cl_int status = api.clEnqueueSVMMap(queue->As<cl_command_queue>(), blocking.flag(), flags, memory.data, size,
                                      waits.count(), waits.data(), wanted || blocking.awaited ? &event : nullptr);
  if (status == CL_SUCCESS && blocking.awaited) status = AwaitEnd(call, *queue, &event, wanted);
  call.ReturnEvent(status, wanted, event, *queue);
}

CLSORT_EXPORT(enqueueSVMUnmap, "clEnqueueSVMUnmap") {
  Command command = ReadCommand(call);
  HostMemory memory = ReadShared(call, call[1], 0);
  ReadTail(call, &command, 2);
  if (!call.ok() || !call.Supported(api.clEnqueueSVMUnmap, command.queue->platform)) return;
  Finish(call, command, command.Enqueue(api.clEnqueueSVMUnmap, memory.data));
}

CLSORT_EXPORT(enqueueSVMMigrateMem, "clEnqueueSVMMigrateMem") {
  Command command = ReadCommand(call);
  std::vector<const void*> pointers;
  std::vector<HostMemory> memories;
  for (auto element : call.Elements(1)) {
    memories.push_back(ReadShared(call, element, 0));
    pointers.push_back(memories.back().data);
  }
  std::vector<size_t> sizes = call.Sizes(2, pointers.size(), CL_INVALID_VALUE);
  cl_mem_migration_flags flags = call.Bits(3);
  ReadTail(call, &command, 4);
  if (!call.ok() || !call.Supported(api.clEnqueueSVMMigrateMem, command.queue->platform)) return;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] > memories[i].bytes)
      return (void)call.FailArgument(2, CL_INVALID_VALUE, "at most " + std::to_string(memories[i].bytes) + " bytes",
                                     std::to_string(sizes[i]));
  }
  Finish(call, command,
         command.Enqueue(api.clEnqueueSVMMigrateMem, static_cast<cl_uint>(pointers.size()), pointers.data(),
                         sizes.empty() ? nullptr : sizes.data(), flags));
}

}  // namespace

HostMemory ReadShared(Call& call, v8::Local<v8::Value> value, size_t bytes, bool unified) {
  HostMemory memory = call.Memory(value, bytes, CL_INVALID_VALUE);
  if (!call.ok()) return memory;
  const SvmMemory* found = call.Shared(memory.data);
  if (!found || found->Unified() != unified) {
    call.FailExpected(CL_INVALID_VALUE,
                      unified ? "unified shared memory that is not freed" : "memory of SVMAlloc that is not freed",
                      "other memory");
  }
  return memory;
}

void EnqueueMemcpy(Call& call, MemcpyFunction (*find)(Call& call, const Object& queue)) {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  Blocking blocking = ReadBlocking(call, 1, queue);
  size_t size = call.Size(4);
  SvmArgument to = ReadSvm(call, 2, blocking.wanted, size), from = ReadSvm(call, 3, blocking.wanted, size);
  WaitList waits = call.Events(5);
  bool wanted = call.Bool(6);
  MemcpyFunction enqueue = call.ok() ? find(call, *queue) : nullptr;
  if (!enqueue) return;
  cl_event event = nullptr;
  auto enqueue_lock = blocking.flag() ? std::shared_lock<std::shared_mutex>() : user_events.LockEnqueue();
  cl_int status = enqueue(queue->As<cl_command_queue>(), blocking.flag(), to.memory.data, from.memory.data, size,
                          waits.count(), waits.data(), &event);
  enqueue_lock = {};
  if (status == CL_SUCCESS && user_events.open()) user_events.Hold(event, true);
  if (status == CL_SUCCESS && blocking.awaited) {
    status = call.Await(*queue->platform, {event});
    if (status != CL_SUCCESS) api.clReleaseEvent(event);
  }
  // In a worker that is being terminated, the wait ends before the command.
  FinishSvm(call, *queue, status, blocking.wanted && call.ok(), wanted, event, {&to, &from});
}

void EnqueueMemFill(Call& call, bool unified, MemFillFunction (*find)(Call& call, const Object& queue)) {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  size_t size = call.Size(3);
  HostMemory memory = ReadShared(call, call[1], size, unified);
  HostMemory pattern = call.Memory(2, 1);
  WaitList waits = call.Events(4);
  bool wanted = call.Bool(5);
  MemFillFunction enqueue = call.ok() ? find(call, *queue) : nullptr;
  if (!enqueue || !CheckPattern(call, pattern.bytes, reinterpret_cast<uintptr_t>(memory.data), size)) return;
  cl_event event = nullptr;
  bool held = user_events.open();
  auto enqueue_lock = user_events.LockEnqueue();
  cl_int status = enqueue(queue->As<cl_command_queue>(), memory.data, pattern.data, pattern.bytes, size, waits.count(),
                          waits.data(), wanted || held ? &event : nullptr);
  enqueue_lock = {};
  if (status == CL_SUCCESS && held) user_events.Hold(event, wanted);
  call.ReturnEvent(status, wanted, event, *queue);
}

}  // namespace clsort
