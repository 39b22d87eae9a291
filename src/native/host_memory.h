#pragma once

#include <nan.h>

#include <atomic>
#include <memory>
#include <vector>

#include "object.h"
#include "policy.h"

namespace clsort {

class Environment;
class Mailbox;

/** Bytes of an ArrayBuffer, a SharedArrayBuffer or a view, and the backing store that keeps them in place. */
struct HostMemory {
  void* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<v8::BackingStore> store;
  /** The ArrayBuffer; empty for a SharedArrayBuffer, which cannot be detached. */
  v8::Local<v8::ArrayBuffer> buffer;
  bool resizable = false;

  /** Reads a value; returns false if it is not host memory. */
  static bool Of(v8::Local<v8::Value> value, HostMemory* memory);
};

/** Returns a new ArrayBuffer, or none if memory is exhausted, in which case V8's own constructor ends the process. */
v8::MaybeLocal<v8::ArrayBuffer> NewArrayBuffer(v8::Isolate* isolate, size_t bytes);

/**
 * ArrayBuffers over driver memory: a mapping or shared virtual memory.
 *
 * Each command, job and memory object that uses such memory holds the backing store of the ArrayBuffer, and the store
 * holds the owner. The driver therefore gets its memory back after the last use, not when a program detaches the
 * ArrayBuffer or transfers its memory.
 *
 * A JavaScript function refuses transfers where possible. On Node 22 nothing can stop ArrayBuffer.prototype.transfer;
 * memory transferred there lives as long as its new ArrayBuffer.
 */
class ExternalArrayBuffers {
 public:
  explicit ExternalArrayBuffers(Environment& environment) : environment_(environment) {}
  void SetProtect(v8::Local<v8::Function> protect) { protect_.Reset(protect); }
  /**
   * Returns an ArrayBuffer over memory that lives as long as any copy of `owner`, including that of the backing store.
   */
  v8::Local<v8::ArrayBuffer> Wrap(void* pointer, size_t bytes, std::shared_ptr<void> owner);
  /** Detaches an ArrayBuffer on request of the program; commands that still use the memory are not affected. */
  void Detach(v8::Local<v8::ArrayBuffer> buffer);
  void Reset() { protect_.Reset(); }

 private:
  Environment& environment_;
  Nan::Global<v8::Function> protect_;
};

/** Memory of a command whose environment has ended; the first one to set `taken` releases it. */
struct OrphanedMemory {
  OrphanedMemory(cl_event event, std::shared_ptr<void> memory, std::shared_ptr<Mailbox> mailbox)
      : event(event), memory(std::move(memory)), mailbox(std::move(mailbox)) {}

  const cl_event event;
  std::shared_ptr<void> memory;
  const std::shared_ptr<Mailbox> mailbox;
  std::atomic<bool> taken{false};
};

/**
 * Memory that running commands read or write.
 *
 * The memory is kept alive, so detaching or transferring an ArrayBuffer meanwhile only harms the program itself; the
 * next wait reports it.
 */
class InFlight {
 public:
  /** Keeps `memory` alive until `event` has completed; takes ownership of the event's reference. */
  void Add(const HostMemory& memory, cl_event event);
  /** Like `Add`, but retains the event; if that fails, waits for the command. */
  void Share(const HostMemory& memory, cl_event event);
  /**
   * Keeps an object other than an ArrayBuffer's memory alive; takes ownership of the event's reference.
   *
   * @param mailbox mailbox of the environment that sweeps when the command ends; null to sweep at its next call
   */
  void Keep(std::shared_ptr<void> memory, cl_event event, const std::shared_ptr<Mailbox>& mailbox = nullptr);
  /** Keeps an object alive until all earlier commands of `queue` have ended; without a marker, waits for them. */
  void KeepUntilQueueEnds(const Object& queue, std::shared_ptr<void> memory);
  /** Blocks until the commands of a queue that use memory have ended according to their events. */
  void Await(cl_command_queue queue) const;
  /** Returns the events of the commands that use a store. */
  std::vector<cl_event> UsersOf(const v8::BackingStore* store) const;
  /** Announces that a call for detaching this ArrayBuffer follows, which is not an error of the program. */
  void ExpectDetached(v8::Local<v8::ArrayBuffer> buffer);
  /** Releases the memory of commands that have ended. */
  void Sweep();
  /**
   * Sweeps if there are twice as many entries as after the last sweep, for programs that never wait. Checking every
   * command on each call would take quadratic time.
   */
  void SweepIfMany();
  /** Sweeps now and when each of the remaining commands ends, for programs that may make no further call. */
  void SweepSoon(const std::shared_ptr<Mailbox>& mailbox);
  /** Sweeps; returns true if memory was detached during a command and this has not been reported. */
  bool SweepAndCheckDetached();
  /** At the end of the environment: drivers release the remaining memory when each command completes. */
  void OrphanAll(const std::shared_ptr<Mailbox>& mailbox);
  /**
   * After the queues have ended: releases memory whose commands the driver did not report. rusticl does not report
   * failed commands.
   */
  void ReleaseOrphaned();

 private:
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
 * Driver side of a mapping, which lives as long as its memory is used.
 *
 * Clover, a single-threaded driver, uses the queue of a mapping again when the memory object is released, even if the
 * program released that queue earlier. PoCL leaks memory objects that are released while mapped. In these cases the
 * region holds the queue and is unmapped after its last use, unless the program unmaps it. Elsewhere the queue is not
 * held, because commands may still run on it at that time.
 */
class MappedRegion {
 public:
  /** @param queue queue of the mapping; empty if it need not be held */
  MappedRegion(Retained object, Retained queue, void* pointer)
      : pointer(pointer), queue_(std::move(queue)), object_(std::move(object)) {}
  ~MappedRegion() {
    if (queue_ && !unmapped) {
      api.clEnqueueUnmapMemObject(queue_.As<cl_command_queue>(), object_.As<cl_mem>(), pointer, 0, nullptr, nullptr);
    }
  }
  MappedRegion(const MappedRegion&) = delete;

  /** Copies of this pointer count the uses of the memory by commands, jobs and memory objects. */
  const std::shared_ptr<void> use = std::make_shared<char>();
  void* const pointer;
  /** Whether the program has unmapped it. */
  bool unmapped = false;

 private:
  Retained queue_;
  /** Declared after the queue to be released before it. */
  Retained object_;
};

/** Mapped region of a memory object, which lives as long as its memory is held, also by the program's ArrayBuffer. */
struct Mapping {
  /** Keeps the object alive while it is mapped. */
  std::shared_ptr<Object> object;
  std::shared_ptr<MappedRegion> region;
  size_t bytes;
  cl_map_flags flags;
  /**
   * Memory of `buffer` if it is a copy of the region; null if it is the region itself. It is held because an unmap
   * writes it back even after a transfer of the ArrayBuffer to another length, for which V8 makes another copy.
   */
  std::shared_ptr<v8::BackingStore> copy;
  /** Memory of `buffer`, wherever it was transferred to. */
  std::weak_ptr<v8::BackingStore> store;
  /** Weak. */
  Nan::Global<v8::ArrayBuffer> buffer;

  /** Returns the number of uses of the memory by the binding. */
  size_t Uses() const { return static_cast<size_t>(region->use.use_count()) - 1; }
  /** Returns whether an ArrayBuffer of the program holds the memory. */
  bool HeldByProgram() const { return static_cast<size_t>(store.use_count()) > Uses() + (copy ? 1 : 0); }
  /** Returns whether the program can no longer unmap the region and nothing uses its memory. */
  bool Ended() const { return copy ? buffer.IsEmpty() && Uses() == 0 && !HeldByProgram() : store.expired(); }
};

/** Mapped regions of an environment, by memory object. */
class Mappings {
 public:
  void Add(Mapping mapping);
  /** If `memory` is mapped memory, counts a use as long as its store is held. */
  void Claim(HostMemory* memory) const;
  /**
   * Returns the mapping of `object` whose memory `host` is: the ArrayBuffer of the map call or the one that its memory
   * was transferred to. Returns null if there is none.
   */
  const Mapping* Find(const Object* object, const HostMemory& host) const;
  /** Returns other mappings with the same start. */
  std::vector<const Mapping*> At(const Mapping& mapping) const;
  /** Removes a mapping returned by `Find`. */
  void Remove(const Mapping* mapping);
  /** Removes the mappings whose memory is no longer held. */
  void Sweep();
  /** Detaches every ArrayBuffer over the memory of `object`, which is about to be released. */
  void Drop(const Object* object, ExternalArrayBuffers& buffers);

 private:
  /**
   * Removes and returns the mappings for which `ends` is true: one may own the last reference to its object, whose
   * destructor calls this class.
   */
  template <typename Ends>
  std::vector<Mapping> Take(Ends ends);

  std::vector<Mapping> mappings_;
};

/** Memory of clSVMAlloc or unified shared memory of an extension, freed after its last use. */
class SvmMemory {
 public:
  using UnifiedFree = cl_int (*)(cl_context, void*);

  /** @param free function of the extension; null for memory of clSVMAlloc */
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
 * Shared virtual memory of an environment. It lives until it is freed or the environment ends, and then until the
 * commands that may use it have ended.
 *
 * Kernels reach such memory by an argument or through any pointer, so uses are not tracked by command: freed memory
 * waits for all earlier commands of the queues of its context.
 */
class SvmRegistry {
 public:
  explicit SvmRegistry(Environment& environment) : environment_(environment) {}
  void Add(std::shared_ptr<SvmMemory> memory, v8::Local<v8::ArrayBuffer> buffer);
  /** Returns whether this byte is shared virtual memory. */
  bool Contains(const void* data) const { return Find(data) != nullptr; }
  /** Returns the memory that contains this byte, or null. */
  const SvmMemory* Find(const void* data) const;
  /**
   * Removes the allocation that starts at `host` and detaches its ArrayBuffer, also after a transfer. Earlier commands
   * keep it alive. Returns an empty pointer for other memory.
   */
  std::shared_ptr<SvmMemory> Take(const HostMemory& host);
  /**
   * Removes all allocations and detaches their ArrayBuffers. They must live until the queues of the environment have
   * ended.
   */
  std::vector<std::shared_ptr<SvmMemory>> TakeAll();
  /** Called before the queue is released: its commands keep the memory alive from now on. */
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
