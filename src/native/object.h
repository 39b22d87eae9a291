#pragma once

#include <nan.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel_argument.h"
#include "loader.h"

namespace clsort {

class Environment;
struct Extent;
struct KernelLimits;
struct QueueLimits;

enum class Kind : uint8_t {
  kPlatform,
  kDevice,
  kContext,
  kCommandQueue,
  kMemObject,
  kSampler,
  kProgram,
  kKernel,
  kEvent,
  kCommandBuffer,
};
constexpr size_t kKinds = 10;

/** Returns the name of the JavaScript class of a kind. */
const char* NameOf(Kind kind);
/** Returns the status for an invalid object of a kind. */
cl_int InvalidStatus(Kind kind);
/** Calls clRetain…; returns CL_SUCCESS for kinds without a reference count. */
cl_int Retain(Kind kind, const Platform* platform, void* raw);
/** Calls clRelease…, which may block in some drivers. */
cl_int Release(Kind kind, const Platform* platform, void* raw);

/** References to a driver object that will be released. */
struct OwnedReference {
  Kind kind;
  const Platform* platform;
  void* raw;
  unsigned count;
  void Give() const;
};

/** RAII reference to a driver object, for jobs on other threads. */
class Retained {
 public:
  Retained() = default;
  /** Takes ownership of a reference; `Call::Hold` creates one. */
  Retained(Kind kind, const Platform* platform, void* raw) : kind_(kind), platform_(platform), raw_(raw) {}
  Retained(Retained&& other) noexcept
      : kind_(other.kind_), platform_(other.platform_), raw_(std::exchange(other.raw_, nullptr)) {}
  Retained& operator=(Retained&& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(platform_, other.platform_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Retained() {
    if (raw_) Release(kind_, platform_, raw_);
  }
  explicit operator bool() const { return raw_ != nullptr; }
  template <typename T>
  T As() const {
    return static_cast<T>(raw_);
  }
  const Platform* platform() const { return platform_; }

 private:
  Kind kind_ = Kind::kEvent;
  const Platform* platform_ = nullptr;
  void* raw_ = nullptr;
};

/**
 * OpenCL object as held by JavaScript: its kind and the number of references it owns.
 *
 * Without references it is released: `raw` is null and every use throws.
 */
class Object : public std::enable_shared_from_this<Object> {
 public:
  Object(Environment* environment, Kind kind, void* raw, Platform* platform, unsigned references);
  ~Object();
  Object(const Object&) = delete;

  template <typename T>
  T As() const {
    return static_cast<T>(raw);
  }

  /** Removes all references from this object, which is then released. */
  OwnedReference TakeReferences();
  /**
   * Returns whether the ArrayBuffer of a CL_MEM_USE_HOST_PTR object was detached, which hides its contents from the
   * program.
   */
  bool HostDetached() const;
  /** Removes all references and releases them on a pool thread. */
  void ReleaseLater();
  /**
   * Reports memory behind the object to V8 until it is released: V8 sees only a small handle and would delay its
   * collection. V8 may collect garbage at once.
   */
  void ReportMemory(size_t bytes);

  Environment* const environment;
  const Kind kind;
  void* raw;
  Platform* platform;
  /** References that this object releases; 0 for platforms and root devices. */
  unsigned references;
  /** Whether the object is a platform or a root device, which are never released. */
  bool Permanent() const { return raw && references == 0; }
  /** Returns the context of the object; null for platforms, devices and objects whose driver does not report it. */
  cl_context Context();
  /** Released by releaseAll(): a later release by the owner is not an error. */
  bool released_with_all = false;
  /** Queue of the command of an event. */
  std::weak_ptr<Object> queue;
  /** Queue of a command buffer, to which the driver has only a pointer. */
  std::shared_ptr<Object> recorded_on;
  /** Whether this is a user event without a status; the environment counts these, see `SetOpenUserEvent`. */
  bool open_user_event = false;
  void SetOpenUserEvent(bool open);
  /** Arguments of a kernel, after the first query. */
  std::vector<KernelArgument> arguments;
  /** Shared virtual memory that a kernel reaches through pointers (setKernelExecInfo); checked like its arguments. */
  std::vector<void*> indirect_svm;
  /**
   * Whether the option for argument info was added to the build of a program, which the reported options must not
   * contain.
   */
  bool asked_argument_info = false;
  /** Cached properties of a memory object, a kernel, a queue. */
  std::shared_ptr<const Extent> extent;
  std::shared_ptr<KernelLimits> kernel_limits;
  std::shared_ptr<const QueueLimits> queue_limits;
  /** ArrayBuffer of a memory object created with CL_MEM_USE_HOST_PTR. */
  Nan::Global<v8::ArrayBuffer> host_buffer;
  std::shared_ptr<v8::BackingStore> host_store;
  /** Error callback of a context whose driver does not report its destruction: freed with the handle. */
  std::shared_ptr<void> error_callback;

 private:
  /** Cached by `Context`. */
  cl_context context_ = nullptr;
  /** Bytes reported to V8. */
  int64_t reported_bytes_ = 0;
};

/** Target of the internal field of a JavaScript handle. */
struct Handle {
  Environment* environment;
  std::shared_ptr<Object> object;
  Nan::Global<v8::Object> handle;
};

/** Live objects and handles of an environment. */
class ObjectRegistry {
 public:
  void Add(Object* object) { objects_.insert(object); }
  void Remove(Object* object) { objects_.erase(object); }
  std::vector<std::shared_ptr<Object>> OfKind(Kind kind) const;

  void Add(Handle* handle) { handles_.insert(handle); }
  /**
   * Called when a handle was collected. Its object is deleted by the next `DeleteCollected`, because V8 must not be
   * used before.
   */
  void Collected(Handle* handle);
  bool HasCollected() const { return !collected_.empty(); }
  void DeleteCollected();
  /** Disconnects every object from JavaScript. */
  void DropHandles();

 private:
  std::unordered_set<Object*> objects_;
  std::unordered_set<Handle*> handles_;
  std::vector<std::shared_ptr<Object>> collected_;
};

/** Creates the JavaScript classes and sets them on `exports`. */
void InitializeClasses(Environment& environment, v8::Local<v8::Object> exports);

/** Returns a new handle that owns `references` references; with a null `raw` it is a released handle. */
v8::Local<v8::Object> Wrap(Environment& environment, Kind kind, void* raw, Platform* platform, unsigned references = 1);

/** Returns the object of a handle of this kind; empty for other values and released handles. */
std::shared_ptr<Object> Unwrap(Environment& environment, Kind kind, v8::Local<v8::Value> value);
/** Like `Unwrap`, without shared ownership; also null for a detached host buffer. */
Object* BorrowHandle(Environment& environment, Kind kind, v8::Local<v8::Value> value);
/** Like `Unwrap`, but also for released handles. */
std::shared_ptr<Object> UnwrapAny(Environment& environment, Kind kind, v8::Local<v8::Value> value);

}  // namespace clsort
