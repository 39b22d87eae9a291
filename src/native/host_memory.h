#ifndef CLSORT_NATIVE_HOST_MEMORY_H_
#define CLSORT_NATIVE_HOST_MEMORY_H_

#include <nan.h>

#include <memory>
#include <vector>

#include "object.h"

namespace clsort {

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

/**
 * ArrayBuffers over memory of a driver: of a mapping, or shared virtual memory.
 *
 * The memory goes away one day, so nobody but us may detach such an ArrayBuffer and carry its memory
 * elsewhere: a function of ours in JavaScript sees to that. (V8's detach keys would be made for it, but both
 * postMessage and ArrayBuffer.prototype.transfer end the process when they meet one.)
 */
class ForeignMemory {
 public:
  void SetProtect(v8::Local<v8::Function> protect) { protect_.Reset(protect); }
  v8::Local<v8::ArrayBuffer> Wrap(void* pointer, size_t bytes);
  void Detach(v8::Local<v8::ArrayBuffer> buffer);
  void Reset() { protect_.Reset(); }

 private:
  Nan::Global<v8::Function> protect_;
};

/**
 * Host memory that commands still read or write.
 *
 * Its backing store is held, so a program that detaches or transfers the ArrayBuffer meanwhile does no harm
 * but to itself; the next wait tells it so. (It cannot be kept from doing it: Node ends the process when
 * postMessage meets an ArrayBuffer with a detach key.)
 */
class InFlight {
 public:
  /** Keeps `memory` until `event`, whose reference this takes over, has completed. */
  void Add(const HostMemory& memory, cl_event event);
  /** As `Add`, with a reference of its own; where that cannot be had, waits for the command. */
  void Share(const HostMemory& memory, cl_event event);
  /** Lets go of the memory of commands that have completed. */
  void Sweep();
  /** Sweeps; true if memory was detached while a command used it, and nobody has been told. */
  bool SweepAndTellDetached();
  /** At the environment's end: lets the drivers let go of the rest, each when its command completes. */
  void Surrender();
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    cl_event event;
    std::shared_ptr<v8::BackingStore> store;
    Nan::Global<v8::ArrayBuffer> buffer;
  };
  std::vector<Entry> entries_;
  bool detached_ = false;
};

/** One mapped region of a memory object. */
struct Mapping {
  /** Mapped memory stays, even when nobody else holds the object. */
  std::shared_ptr<Object> object;
  void* pointer;
  size_t bytes;
  cl_map_flags flags;
  /** `buffer` holds a copy of the region instead of the region itself. */
  bool copied;
  Nan::Global<v8::ArrayBuffer> buffer;
};

/** The mapped regions of an environment, by memory object. */
class Mappings {
 public:
  void Add(Mapping mapping) { mappings_.push_back(std::move(mapping)); }
  /** Takes the mapping of `object` that `buffer` is; false when there is none. */
  bool Take(const Object* object, v8::Local<v8::ArrayBuffer> buffer, Mapping* taken);
  /** Detaches every ArrayBuffer over the memory of `object`, which is about to go. */
  void Drop(const Object* object, ForeignMemory& foreign);

 private:
  std::vector<Mapping> mappings_;
};

/** Memory of clSVMAlloc. */
struct SvmMemory {
  void* pointer;
  size_t bytes;
  std::shared_ptr<Retained> context;
  void Free() const;
};

/** Shared virtual memory of an environment: it lives until freed, or until the environment ends. */
class SvmRegistry {
 public:
  void Add(SvmMemory memory, v8::Local<v8::ArrayBuffer> buffer);
  /** Whether these bytes are shared virtual memory. */
  bool Contains(const void* data) const;
  /** Takes the allocation that starts at `data` out and detaches its ArrayBuffer. */
  bool Take(const void* data, ForeignMemory& foreign, SvmMemory* taken);
  /** Takes all allocations out and detaches their ArrayBuffers. */
  std::vector<SvmMemory> TakeAll(ForeignMemory& foreign);

 private:
  struct Entry {
    SvmMemory memory;
    Nan::Global<v8::ArrayBuffer> buffer;
  };
  std::vector<Entry> entries_;
};

}  // namespace clsort

#endif
