#ifndef CLSORT_NATIVE_OBJECT_H_
#define CLSORT_NATIVE_OBJECT_H_

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

/** Name of the JavaScript class of a kind. */
const char* NameOf(Kind kind);
/** The status that says: not a valid object of this kind. */
cl_int InvalidStatus(Kind kind);
/** clRetain…; CL_SUCCESS for kinds that are not counted. */
cl_int Retain(Kind kind, const Platform* platform, void* raw);
/** clRelease…; may block in some drivers. */
cl_int Release(Kind kind, const Platform* platform, void* raw);

/** References to a driver's object that are to be given back. */
struct OwnedReference {
  Kind kind;
  const Platform* platform;
  void* raw;
  unsigned count;
  void Give() const;
};

/** A reference to a driver's object for as long as this lives: what jobs on other threads hold. */
class Retained {
 public:
  Retained() = default;
  /** Takes over a reference; `Call::Hold` makes one. */
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
 * One OpenCL object as JavaScript holds it: which kind it is and how many references it owns.
 *
 * With no reference left it is released: `raw` is null and every use is refused.
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

  /** Takes all references out of this object, which is released from now on. */
  OwnedReference TakeReferences();
  /** The ArrayBuffer that the object lives in was detached: the program sees none of its contents. */
  bool HostDetached() const;
  /** Takes them out and gives them back on a thread. */
  void ReleaseLater();
  /**
   * Tells V8 of memory behind the object, until it is released: V8 sees a small handle, and would not hurry to collect
   * the ones that a program has dropped. V8 may collect garbage at once.
   */
  void ReportMemory(size_t bytes);

  Environment* const environment;
  const Kind kind;
  void* raw;
  Platform* platform;
  /** References that this object gives back; 0 for platforms and root devices. */
  unsigned references;
  /** A platform or a root device: nobody releases it. */
  bool Permanent() const { return raw && references == 0; }
  /** The context that the object belongs to; null for a platform or a device, and where the driver does not tell. */
  cl_context Context();
  /** releaseAll() released it: the owner's own release, should it still come, is no mistake. */
  bool released_with_all = false;
  /** The queue of an event's command. */
  std::weak_ptr<Object> queue;
  /** The queue of a command buffer, of which the driver has but a pointer. */
  std::shared_ptr<Object> recorded_on;
  /** A user event that nobody has completed; counted in the environment, see `SetOpenUserEvent`. */
  bool open_user_event = false;
  void SetOpenUserEvent(bool open);
  /** Of a kernel, once they are asked for. */
  std::vector<KernelArgument> arguments;
  /** Shared virtual memory that a kernel was told to be used through pointers: checked as its arguments are. */
  std::vector<void*> indirect_svm;
  /** Of a program: the option that was added to those of its build, which are not to show it. */
  bool asked_argument_info = false;
  /** What the driver was asked once about a memory object, a kernel, a queue. */
  std::shared_ptr<const Extent> extent;
  std::shared_ptr<KernelLimits> kernel_limits;
  std::shared_ptr<const QueueLimits> queue_limits;
  /** The ArrayBuffer that a memory object made with CL_MEM_USE_HOST_PTR lives in. */
  Nan::Global<v8::ArrayBuffer> host_buffer;
  std::shared_ptr<v8::BackingStore> host_store;
  /** Of a context whose driver does not tell when it goes: ends with the handle. */
  std::shared_ptr<void> error_callback;

 private:
  /** Once the driver was asked. */
  cl_context context_ = nullptr;
  /** What V8 was told of. */
  int64_t reported_bytes_ = 0;
};

/** What a JavaScript handle's internal field points to. */
struct Handle {
  Environment* environment;
  std::shared_ptr<Object> object;
  Nan::Global<v8::Object> handle;
};

/** The live objects and handles of an environment. */
class ObjectRegistry {
 public:
  void Add(Object* object) { objects_.insert(object); }
  void Remove(Object* object) { objects_.erase(object); }
  std::vector<std::shared_ptr<Object>> OfKind(Kind kind) const;

  void Add(Handle* handle) { handles_.insert(handle); }
  /** A handle was collected. Its object goes at the next `DeleteCollected`, since V8 is off limits until then. */
  void Collected(Handle* handle);
  bool HasCollected() const { return !collected_.empty(); }
  void DeleteCollected();
  /** Cuts every object off from JavaScript. */
  void DropHandles();

 private:
  std::unordered_set<Object*> objects_;
  std::unordered_set<Handle*> handles_;
  std::vector<std::shared_ptr<Object>> collected_;
};

/** Makes the JavaScript classes and sets them on `exports`. */
void InitializeClasses(Environment& environment, v8::Local<v8::Object> exports);

/** A new handle that owns a reference, or none; a null `raw` gives a handle that counts as released. */
v8::Local<v8::Object> Wrap(Environment& environment, Kind kind, void* raw, Platform* platform, unsigned references = 1);

/** The object behind a handle of this kind; empty for anything else, released handles included. */
std::shared_ptr<Object> Unwrap(Environment& environment, Kind kind, v8::Local<v8::Value> value);
/** As `Unwrap`, without taking part in its ownership; null also for a detached host buffer. */
Object* BorrowHandle(Environment& environment, Kind kind, v8::Local<v8::Value> value);
/** As `Unwrap`, but handles that were released count. */
std::shared_ptr<Object> UnwrapAny(Environment& environment, Kind kind, v8::Local<v8::Value> value);

}  // namespace clsort

#endif
