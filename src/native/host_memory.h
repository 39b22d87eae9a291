#ifndef CLSORT_NATIVE_HOST_MEMORY_H_
#define CLSORT_NATIVE_HOST_MEMORY_H_

#include <nan.h>

#include <atomic>
#include <memory>
#include <vector>

#include "object.h"

namespace clsort {

class Environment;
class Mailbox;

/** Bytes of an ArrayBuffer, a SharedArrayBuffer or a view of one, with what keeps them in place. */
struct HostMemory {
  void* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<v8::BackingStore> store;
  /** The ArrayBuffer; empty for a SharedArrayBuffer, which nobody can detach. */
  v8::Local<v8::ArrayBuffer> buffer;
  bool resizable = false;

  /** Reads a value; false when it is no memory. */
  static bool Of(v8::Local<v8::Value> value, HostMemory* memory);
};

/** An ArrayBuffer of V8's memory; none where there is not so much: V8's own way to make one ends the process then. */
v8::MaybeLocal<v8::ArrayBuffer> NewArrayBuffer(v8::Isolate* isolate, size_t bytes);

/**
 * ArrayBuffers over memory of a driver: of a mapping, or shared virtual memory.
 *
 * Each command, job and memory object that uses such memory holds the ArrayBuffer's backing store, and the store holds
 * the keeper. So the driver gets its memory back when the last of them is done with it, and not when a program
 * detaches the ArrayBuffer, or carries its memory to another one.
 *
 * A function of ours in JavaScript refuses the latter where it can. On Node 22 nothing can keep
 * ArrayBuffer.prototype.transfer from it; memory that was carried away there stays for as long as its new ArrayBuffer.
 */
class ForeignMemory {
 public:
  explicit ForeignMemory(Environment& environment) : environment_(environment) {}
  void SetProtect(v8::Local<v8::Function> protect) { protect_.Reset(protect); }
  /** An ArrayBuffer over memory that stays for as long as anybody has `keeper`, the ArrayBuffer's store included. */
  v8::Local<v8::ArrayBuffer> Wrap(void* pointer, size_t bytes, std::shared_ptr<void> keeper);
  /** Detaches it on the program's wish: commands that still use the memory lose nothing by that. */
  void Detach(v8::Local<v8::ArrayBuffer> buffer);
  void Reset() { protect_.Reset(); }

 private:
  Environment& environment_;
  Nan::Global<v8::Function> protect_;
};

/** Memory that a command uses whose environment has ended; whoever takes it first lets go of it. */
struct OrphanedMemory {
  OrphanedMemory(cl_event event, std::shared_ptr<void> memory, std::shared_ptr<Mailbox> mailbox)
      : event(event), memory(std::move(memory)), mailbox(std::move(mailbox)) {}

  const cl_event event;
  std::shared_ptr<void> memory;
  const std::shared_ptr<Mailbox> mailbox;
  std::atomic<bool> taken{false};
};

/**
 * Memory that commands still read or write.
 *
 * What keeps it is held, so a program that detaches or transfers an ArrayBuffer meanwhile does no harm but to itself;
 * the next wait tells it so.
 */
class InFlight {
 public:
  /** Keeps `memory` until `event`, whose reference this takes over, has completed. */
  void Add(const HostMemory& memory, cl_event event);
  /** As `Add`, with a reference of its own; where that cannot be had, waits for the command. */
  void Share(const HostMemory& memory, cl_event event);
  /**
   * Keeps something else than an ArrayBuffer's memory; takes the event's reference over.
   *
   * @param mailbox of the environment that sweeps when the command ends; null: when it makes its next call
   */
  void Keep(std::shared_ptr<void> memory, cl_event event, const std::shared_ptr<Mailbox>& mailbox = nullptr);
  /** Keeps something until all that `queue` was given so far is done; where no marker can be had, waits for that. */
  void KeepUntilQueueEnds(const Object& queue, std::shared_ptr<void> memory);
  /** Blocks until the commands of a queue that use memory say that they have ended. */
  void Await(cl_command_queue queue) const;
  /** The events of the commands that use a store. */
  std::vector<cl_event> UsersOf(const v8::BackingStore* store) const;
  /** The ArrayBuffer is about to be detached by a call that is made for it, which is no mistake. */
  void ExpectDetached(v8::Local<v8::ArrayBuffer> buffer);
  /** Lets go of the memory of commands that have completed. */
  void Sweep();
  /**
   * The same now and then, so that a program that never waits does not keep everything: when there is twice as much as the last
   * sweep has left. To ask for each of many commands whenever there is one more would take a time that grows with their square.
   */
  void SweepIfMany();
  /** Sweeps, and once more when each of the rest ends: for a program that may make no further call. */
  void SweepSoon(const std::shared_ptr<Mailbox>& mailbox);
  /** Sweeps; true if memory was detached while a command used it, and nobody has been told. */
  bool SweepAndCheckDetached();
  /** At the environment's end: lets the drivers let go of the rest, each when its command completes. */
  void OrphanAll(const std::shared_ptr<Mailbox>& mailbox);
  /** When the queues have ended: lets go of what drivers did not tell of. rusticl tells nobody of commands that have failed. */
  void ReleaseOrphaned();

 private:
  /** So few need not be swept in passing. */
  static constexpr size_t kMinSweepSize = 64;
  void SweepEnded();

  struct Entry {
    cl_event event;
    std::shared_ptr<void> memory;
    Nan::Global<v8::ArrayBuffer> buffer;
  };
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<OrphanedMemory>> orphaned_;
  size_t sweep_threshold_ = kMinSweepSize;
  bool detached_ = false;
};

/**
 * What the driver has of a mapping, for as long as anybody uses its memory.
 *
 * A driver for one thread, Clover, goes to the mapping's queue once more when the memory object goes, although the
 * program released that queue long before; and PoCL keeps memory for good that goes while it is mapped. So the region holds
 * the queue there, and is unmapped when the last that used it ends without a word. Elsewhere a queue is not kept: commands may
 * still run on it at that time.
 */
class MappedRegion {
 public:
  /** @param queue where the region is mapped; empty where it need not be kept */
  MappedRegion(Retained object, Retained queue, void* pointer)
      : pointer(pointer), queue_(std::move(queue)), object_(std::move(object)) {}
  ~MappedRegion() {
    if (queue_ && !unmapped) {
      api.clEnqueueUnmapMemObject(queue_.As<cl_command_queue>(), object_.As<cl_mem>(), pointer, 0, nullptr, nullptr);
    }
  }
  MappedRegion(const MappedRegion&) = delete;

  /** What of ours holds the memory has a copy: commands, jobs, memory objects. */
  const std::shared_ptr<void> use = std::make_shared<char>();
  void* const pointer;
  /** The program has unmapped it. */
  bool unmapped = false;

 private:
  Retained queue_;
  /** Goes before the queue. */
  Retained object_;
};

/** One mapped region of a memory object: for as long as its memory is held by anybody, the program's ArrayBuffer included. */
struct Mapping {
  /** Mapped memory stays, even when nobody else holds the object. */
  std::shared_ptr<Object> object;
  std::shared_ptr<MappedRegion> region;
  size_t bytes;
  cl_map_flags flags;
  /**
   * The memory of `buffer` where that is a copy of the region, null where it is the region itself. It is held, since an unmap writes
   * it back even after the program has transferred the ArrayBuffer to another length, which V8 does by a copy of its own.
   */
  std::shared_ptr<v8::BackingStore> copy;
  /** The memory of `buffer`, wherever it is now. */
  std::weak_ptr<v8::BackingStore> store;
  /** Weak. */
  Nan::Global<v8::ArrayBuffer> buffer;

  /** How many of ours hold the memory. */
  size_t Uses() const { return static_cast<size_t>(region->use.use_count()) - 1; }
  /** Whether an ArrayBuffer of the program's holds the memory. */
  bool HeldByProgram() const { return static_cast<size_t>(store.use_count()) > Uses() + (copy ? 1 : 0); }
  /** Whether no program can unmap it any more and nothing uses its memory. */
  bool Ended() const { return copy ? buffer.IsEmpty() && Uses() == 0 && !HeldByProgram() : store.expired(); }
};

/** The mapped regions of an environment, by memory object. */
class Mappings {
 public:
  void Add(Mapping mapping);
  /** Counts `memory` as a use for as long as its store is held, where it is mapped memory. */
  void Claim(HostMemory* memory) const;
  /**
   * The mapping of `object` that `host` is: the ArrayBuffer that the map call returned, or the one that its memory was
   * carried to; null when there is none.
   */
  const Mapping* Find(const Object* object, const HostMemory& host) const;
  /** Other mappings that begin where this one does. */
  std::vector<const Mapping*> At(const Mapping& mapping) const;
  /** Forgets a mapping that `Find` has found. */
  void Remove(const Mapping* mapping);
  /** Forgets the mappings whose memory nobody holds any more. */
  void Sweep();
  /** Detaches every ArrayBuffer over the memory of `object`, which is about to go. */
  void Drop(const Object* object, ForeignMemory& foreign);

 private:
  /** Takes the mappings out for which `ends` holds: one may be the last to hold its object, whose end comes back here. */
  template <typename Ends>
  std::vector<Mapping> Take(Ends ends);

  std::vector<Mapping> mappings_;
};

/** Memory of clSVMAlloc, or unified shared memory of an extension, freed with the last that uses it. */
class SvmMemory {
 public:
  using UnifiedFree = cl_int (*)(cl_context, void*);

  /** @param free the extension's function; null for memory of clSVMAlloc */
  SvmMemory(void* pointer, size_t bytes, Retained context, UnifiedFree free = nullptr)
      : pointer(pointer), bytes(bytes), context_(std::move(context)), free_(free) {}
  ~SvmMemory() {
    auto context = context_.As<cl_context>();
    if (free_) {
      free_(context, pointer);
    } else {
      api.clSVMFree(context, pointer);
    }
  }
  bool Unified() const { return free_ != nullptr; }
  cl_context context() const { return context_.As<cl_context>(); }
  SvmMemory(const SvmMemory&) = delete;

  void* const pointer;
  const size_t bytes;

 private:
  Retained context_;
  UnifiedFree free_;
};

/**
 * Shared virtual memory of an environment: it lives until freed, or until the environment ends, and then until the
 * commands are done that may use it.
 *
 * A kernel reaches such memory by an argument, or through a pointer anywhere. So commands are not looked at one by one:
 * memory that is freed waits for all that the queues of its context were given before.
 */
class SvmRegistry {
 public:
  explicit SvmRegistry(Environment& environment) : environment_(environment) {}
  void Add(std::shared_ptr<SvmMemory> memory, v8::Local<v8::ArrayBuffer> buffer);
  /** Whether these bytes are such memory. */
  bool Contains(const void* data) const { return Find(data) != nullptr; }
  /** The memory that has this byte, or null. */
  const SvmMemory* Find(const void* data) const;
  /**
   * Takes the allocation that starts at `host` out and detaches its ArrayBuffer, and the one that its memory was
   * carried to. Commands that were enqueued before keep it. Empty for other memory.
   */
  std::shared_ptr<SvmMemory> Take(const HostMemory& host);
  /** Takes all allocations out and detaches their ArrayBuffers. The queues of the environment are to end before them. */
  std::vector<std::shared_ptr<SvmMemory>> TakeAll();
  /** The queue is about to be released: what it was given keeps the memory from now on. */
  void KeepUntilQueueEnds(Object& queue);

 private:
  struct Entry {
    std::shared_ptr<SvmMemory> memory;
    Nan::Global<v8::ArrayBuffer> buffer;
  };
  Environment& environment_;
  std::vector<Entry> entries_;
};

}  // namespace clsort

#endif
