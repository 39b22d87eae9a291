#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "bounds.h"
#include "info.h"
#include "policy.h"
#include "ring_transfer.h"
#include "stream_copy.h"
#include "thread_pool.h"
#include "work_job.h"

namespace clsort {

namespace {

constexpr size_t kPage = 4096;
/** Requested page size where the system has it: fewer page faults on first use. */
constexpr size_t kHugePage = size_t{2} << 20;

/** Copies between ordinary host memory and a device. Drivers do the same, but usually with a single thread. */
class StagedTransfer final : public RingTransfer {
 public:
  /** @param past whether reads bypass the caches */
  StagedTransfer(Environment& environment, RingArguments arguments, const HostMemory& host, bool past)
      : RingTransfer(environment, std::move(arguments)), host_(host), past_(past) {
    if (!host.buffer.IsEmpty()) host_buffer_.Reset(host.buffer);
  }

  void Run() override {
    MoveAll(kStagedBytes, [&](size_t piece, size_t start, size_t length) { Copy(piece, start, length); });
  }

  void Finish(Environment& environment) override {
    // The memory was held, so only the program itself is affected and gets the error.
    bool detached = !host_buffer_.IsEmpty() && Nan::New(host_buffer_)->WasDetached() && bytes_ > 0;
    if (status_ == CL_SUCCESS && detached) status_ = CL_INVALID_HOST_PTR;
    PromiseJob::Finish(environment);
  }

 private:
  /** Copies a share of a piece. Uses memmove, because the program may pass memory of its ring as the array. */
  void Copy(size_t piece, size_t start, size_t length) {
    char* slot = AcquireSlot(piece);
    if (!slot) return;
    char* data = host_.data + piece * piece_ + start;
    if (write_) {
      std::memmove(slot + start, data, length);
    } else if (!past_) {
      std::memmove(data, slot + start, length);
    } else {
      StreamCopy(data, slot + start, length);
      EndStreamCopies();
    }
    ReleaseSlot(piece);
  }

  const HostSpan host_;
  const bool past_;
  Nan::Global<v8::ArrayBuffer> host_buffer_;
};

void StartTransfer(Call& call, bool write) {
  HostMemory host = call.LastingMemory(3, 0);
  RingArguments arguments;
  bool past = !write && call.Bool(7);
  if (!ReadRing(call, 4, write, host.bytes, &arguments)) return;
  const Platform* platform = arguments.platform;
  StartPromise(call, std::make_unique<StagedTransfer>(call.environment(), std::move(arguments), host, past), platform);
}

CLSORT_EXPORT(writeBufferAsync, "clEnqueueWriteBuffer") { StartTransfer(call, true); }

CLSORT_EXPORT(readBufferAsync, "clEnqueueReadBuffer") { StartTransfer(call, false); }

#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23  // newer than many C libraries; an older kernel rejects it
#endif

/** Faults in pages for writing; other threads may write to them meanwhile. */
void PopulatePages(char* data, size_t bytes) {
#if defined(__linux__)
  // Takes half the time of individual faults.
  if (madvise(data, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
#if defined(__GNUC__)
  for (size_t i = 0; i < bytes; i += kPage) __atomic_fetch_or(data + i, 0, __ATOMIC_RELAXED);
#else
  (void)data, (void)bytes;
#endif
}

/** Faults in the pages of new memory by several threads before their first use; changes no byte. */
class TouchJob final : public Job {
 public:
  TouchJob(Environment& environment, std::shared_ptr<v8::BackingStore> store, unsigned threads)
      : environment_(environment), store_(std::move(store)), threads_(threads) {}
  void Run() override {
    auto* data = static_cast<char*>(store_->Data());
    size_t bytes = store_->ByteLength();
    ParallelForRanges(environment_, threads_, bytes, kHugePage,
                      [&](size_t start, size_t some) { PopulatePages(data + start, some); });
  }
  bool Awaited() const override { return false; }

 private:
  Environment& environment_;
  std::shared_ptr<v8::BackingStore> store_;
  unsigned threads_;
};

#if defined(__linux__)
/** Memory mapping; `data` is usually aligned to a huge page, the mapping itself is not. */
struct Mapped {
  void* start;
  size_t mapped_bytes;
  void* data;
  size_t bytes;
};

/**
 * Pool of collected memory for new arrays of about the same size: faulting in pages takes as long as a sort. The pool
 * is bounded, and its users overwrite the memory. Garbage collectors of all isolates return memory on their threads.
 */
class PagePool {
 public:
  /** Returns a block of at least `bytes` bytes and at most an eighth more, or null. */
  Mapped* Take(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = by_size_.lower_bound(bytes);
    if (block == by_size_.end() || block->first > bytes + bytes / 8) return nullptr;
    return Remove(block);
  }

  /** Adds a block and unmaps the oldest ones above the limit. */
  void Give(Mapped* mapped) {
    std::vector<Mapped*> surplus;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      by_age_.push_back(by_size_.emplace(mapped->bytes, Block{mapped, {}}));
      by_age_.back()->second.age = std::prev(by_age_.end());
      bytes_ += mapped->bytes;
      while (bytes_ > max_bytes_) surplus.push_back(Remove(by_age_.front()));
    }
    for (auto* one : surplus) {
      munmap(one->start, one->mapped_bytes);
      delete one;
    }
  }

 private:
  struct Block;
  using Sizes = std::multimap<size_t, Block>;
  using Ages = std::list<Sizes::iterator>;
  struct Block {
    Mapped* mapped;
    Ages::iterator age;
  };

  Mapped* Remove(Sizes::iterator block) {
    Mapped* mapped = block->second.mapped;
    bytes_ -= mapped->bytes;
    by_age_.erase(block->second.age);
    by_size_.erase(block);
    return mapped;
  }

  /** A 32nd of the machine's memory. */
  const size_t max_bytes_ =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 32 * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::mutex mutex_;
  Sizes by_size_;
  Ages by_age_;
  size_t bytes_ = 0;
};

/** Never destroyed: garbage collectors may outlive everything else. */
PagePool& page_pool = *new PagePool;

void GiveBack(void*, size_t, void* data) { page_pool.Give(static_cast<Mapped*>(data)); }

/**
 * Maps memory aligned to a huge page, with huge pages where possible; empty if memory is exhausted.
 *
 * @param used whether memory of a collected array may be reused
 * @param touch set if the memory is new and its pages are not faulted in yet
 */
std::unique_ptr<v8::BackingStore> MapHuge(size_t bytes, bool used, bool* touch) {
  Mapped* mapped = used ? page_pool.Take(bytes) : nullptr;
  *touch = !mapped;
  if (!mapped) {
    if (bytes > SIZE_MAX - kHugePage) return nullptr;
    size_t mapped_bytes = bytes + kHugePage;
    void* start = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    auto address = reinterpret_cast<uintptr_t>(start);
    auto* data = reinterpret_cast<void*>((address + kHugePage - 1) / kHugePage * kHugePage);
    madvise(data, bytes, MADV_HUGEPAGE);
    mapped = new Mapped{start, mapped_bytes, data, bytes};
  }
  return v8::ArrayBuffer::NewBackingStore(mapped->data, bytes, GiveBack, mapped);
}
#endif

/**
 * Maps and unmaps a buffer, after which the driver has allocated its host memory.
 *
 * No call blocks while it enqueues: rusticl locks the queue meanwhile, so the JavaScript thread would wait at its next
 * enqueue, forever if the map waits for something that only that thread completes or flushes.
 */
class MapJob final : public PromiseJob {
 public:
  MapJob(Retained queue, Retained buffer, size_t bytes)
      : PromiseJob("clEnqueueMapBuffer"), queue_(std::move(queue)), buffer_(std::move(buffer)), bytes_(bytes) {}
  void Run() override {
    auto queue = queue_.As<cl_command_queue>();
    auto buffer = buffer_.As<cl_mem>();
    cl_event event = nullptr;
    void* pointer = api.clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes_, 0, nullptr,
                                           &event, &status_);
    if (status_ != CL_SUCCESS) return;
    Await(event);
    cl_int status = api.clEnqueueUnmapMemObject(queue, buffer, pointer, 0, nullptr, &event);
    if (status == CL_SUCCESS) return Await(event);
    if (status_ == CL_SUCCESS) status_ = status;
  }

 private:
  void Await(cl_event event) {
    cl_int status = api.clWaitForEvents(1, &event);
    if (status_ == CL_SUCCESS) status_ = status;
    api.clReleaseEvent(event);
  }

  Retained queue_, buffer_;
  const size_t bytes_;
};

CLSORT_EXPORT(prepareMappingAsync, "clEnqueueMapBuffer") {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto buffer = call.Handle(1, Kind::kMemObject);
  if (!call.ok()) return;
  const Extent* extent = ExtentOf(call, *buffer);
  if (!extent || !CheckRange(call, *buffer, 0, extent->bytes)) return;
  size_t bytes = extent->bytes;
  const Platform* platform = queue->platform;
  auto job = std::make_unique<MapJob>(call.Hold(*queue), call.Hold(*buffer), bytes);
  if (call.ok()) StartPromise(call, std::move(job), platform);
}

void FailOutOfMemory(Call& call, size_t bytes) {
  call.Fail(CL_OUT_OF_HOST_MEMORY, "cannot allocate " + std::to_string(bytes) + " bytes");
}

/**
 * Returns an ArrayBuffer aligned to a page, with few huge pages that several threads begin to fault in. V8's own
 * ArrayBuffers begin 16 bytes after a cache line, and their pages are faulted in one by one. It is all zero unless
 * argument 2 allows memory of a collected one.
 */
CLSORT_EXPORT(allocateHostMemory, "allocateHostMemory") {
  size_t bytes = call.Size(0);
  auto threads = static_cast<unsigned>(call.Unsigned(1, CL_INVALID_VALUE, kMaxPoolThreads));
  bool used = call.Bool(2);
  if (!call.ok()) return;
  Environment& environment = call.environment();
  std::shared_ptr<v8::BackingStore> store;
  bool touch = true;
#if defined(__linux__)
  if (!environment.copy_mappings && bytes > 0) {
    store = MapHuge(bytes, used, &touch);
    if (!store) return FailOutOfMemory(call, bytes);
  }
#endif
  if (!store) {
    v8::Local<v8::ArrayBuffer> plain;
    if (!NewArrayBuffer(environment.isolate(), bytes).ToLocal(&plain)) return FailOutOfMemory(call, bytes);
    return call.Return(plain);
  }
  call.Return(v8::ArrayBuffer::New(environment.isolate(), store));
  if (threads > 0 && touch)
    environment.Start(std::make_unique<TouchJob>(environment, std::move(store), threads), nullptr);
}

}  // namespace

}  // namespace clsort
