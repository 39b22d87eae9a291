#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "info.h"
#include "wait.h"

namespace clsort {

namespace {

constexpr size_t kPage = 4096;
/** Pages of this size are asked for where the system has them: fewer faults on the first touch. */
constexpr size_t kHugePage = size_t{2} << 20;
constexpr unsigned kMaxThreads = 64;

/** Runs `work(t)` for t from 0 to threads - 1, the last one on this thread. */
template <typename Work>
void InParallel(unsigned threads, const Work& work) {
  std::vector<std::thread> others;
  for (unsigned t = 0; t + 1 < threads; t++) others.emplace_back([&work, t] { work(t); });
  work(threads - 1);
  for (auto& thread : others) thread.join();
}

/**
 * Copies between ordinary host memory and a device through a ring of memory that the device can reach
 * directly: several threads copy pieces to or from it while the device transfers others. A driver that is
 * given ordinary memory does the same, but mostly with a single thread.
 */
class StagedTransfer final : public PromiseJob {
 public:
  StagedTransfer(bool write, Retained queue, Retained buffer, size_t offset, const HostMemory& host,
                 size_t bytes, const HostMemory& ring, unsigned threads)
      : PromiseJob(write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer"),
        write_(write),
        queue_(std::move(queue)),
        buffer_(std::move(buffer)),
        offset_(offset),
        host_(host.store),
        data_(static_cast<char*>(host.data)),
        bytes_(bytes),
        ring_store_(ring.store),
        ring_(static_cast<char*>(ring.data)),
        piece_(ring.bytes / (2 * threads) / kPage * kPage),
        threads_(threads) {
    if (!host.buffer.IsEmpty()) host_buffer_.Reset(host.buffer);
    if (!ring.buffer.IsEmpty()) ring_buffer_.Reset(ring.buffer);
  }

  void Run() override {
    size_t pieces = (bytes_ + piece_ - 1) / piece_;
    auto threads = static_cast<unsigned>(pieces < threads_ ? pieces : threads_);
    std::atomic<cl_int> failure{CL_SUCCESS};
    if (pieces > 0) InParallel(threads, [&](unsigned t) { Move(t, threads, pieces, &failure); });
    status_ = failure;
  }

  void Finish(Environment& environment) override {
    // The memory was held, so no harm is done but to the program itself, which is to know.
    bool detached = !host_buffer_.IsEmpty() && Nan::New(host_buffer_)->WasDetached() && bytes_ > 0;
    if (status_ == CL_SUCCESS && detached) status_ = CL_INVALID_HOST_PTR;
    PromiseJob::Finish(environment);
  }

 private:
  /** Every `threads`-th piece, through two places of the ring by turns. */
  void Move(unsigned t, unsigned threads, size_t pieces, std::atomic<cl_int>* failure) const {
    cl_event events[2] = {};
    size_t held[2] = {};
    auto fail = [&](cl_int status) {
      cl_int none = CL_SUCCESS;
      failure->compare_exchange_strong(none, status);
    };
    // Ends the transfer that a place of the ring is in, and takes out what was read.
    auto settle = [&](unsigned slot) {
      if (!events[slot]) return;
      cl_int status = api.clWaitForEvents(1, &events[slot]);
      api.clReleaseEvent(events[slot]);
      events[slot] = nullptr;
      if (status != CL_SUCCESS) return fail(status);
      if (!write_) std::memcpy(data_ + held[slot] * piece_, Slot(t, slot), Length(held[slot]));
    };
    unsigned slot = 0;
    for (size_t i = t; i < pieces && *failure == CL_SUCCESS; i += threads, slot ^= 1) {
      settle(slot);
      held[slot] = i;
      if (write_) std::memcpy(Slot(t, slot), data_ + i * piece_, Length(i));
      cl_int status = Enqueue(i, Slot(t, slot), &events[slot]);
      if (status != CL_SUCCESS) {
        events[slot] = nullptr;
        fail(status);
      }
    }
    settle(slot);
    settle(slot ^ 1);
  }

  cl_int Enqueue(size_t piece, char* slot, cl_event* event) const {
    auto queue = queue_.As<cl_command_queue>();
    auto buffer = buffer_.As<cl_mem>();
    size_t offset = offset_ + piece * piece_;
    cl_int status =
        write_ ? api.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, Length(piece), slot, 0, nullptr, event)
               : api.clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, Length(piece), slot, 0, nullptr, event);
    if (status == CL_SUCCESS) api.clFlush(queue);
    return status;
  }

  char* Slot(unsigned t, unsigned slot) const { return ring_ + (2 * size_t{t} + slot) * piece_; }
  size_t Length(size_t piece) const {
    size_t start = piece * piece_;
    return bytes_ - start < piece_ ? bytes_ - start : piece_;
  }

  bool write_;
  Retained queue_, buffer_;
  size_t offset_;
  std::shared_ptr<v8::BackingStore> host_;
  char* data_;
  size_t bytes_;
  std::shared_ptr<v8::BackingStore> ring_store_;
  char* ring_;
  size_t piece_;
  unsigned threads_;
  Nan::Global<v8::ArrayBuffer> host_buffer_, ring_buffer_;
};

void StartTransfer(Call& call, bool write) {
  auto queue = call.Handle(0, Kind::kCommandQueue);
  auto buffer = call.Handle(1, Kind::kMemObject);
  size_t offset = call.Size(2);
  HostMemory host = call.LastingMemory(3, 0);
  HostMemory ring = call.LastingMemory(4, 0);
  auto threads = static_cast<unsigned>(call.Unsigned(call[5], CL_INVALID_VALUE, kMaxThreads));
  if (!call.ok()) return;
  if (threads == 0 || ring.bytes < 2 * size_t{threads} * kPage) {
    return (void)call.Fail(CL_INVALID_VALUE, "argument 5: expected two pages of ring for each thread");
  }
  Retained held_queue = call.Hold(*queue), held_buffer = call.Hold(*buffer);
  if (!call.ok()) return;
  StartPromise(call,
               std::make_unique<StagedTransfer>(write, std::move(held_queue), std::move(held_buffer), offset, host,
                                                host.bytes, ring, threads),
               queue->platform);
}

NAN_METHOD(WriteBufferAsync) {
  Call call(info, "clEnqueueWriteBuffer");
  StartTransfer(call, true);
}

NAN_METHOD(ReadBufferAsync) {
  Call call(info, "clEnqueueReadBuffer");
  StartTransfer(call, false);
}

/** Has the pages of fresh memory made by several threads before anybody needs them; changes no byte. */
class TouchJob final : public Job {
 public:
  TouchJob(std::shared_ptr<v8::BackingStore> store, unsigned threads)
      : store_(std::move(store)), threads_(threads) {}
  void Run() override {
    auto* data = static_cast<char*>(store_->Data());
    size_t bytes = store_->ByteLength();
    std::atomic<size_t> next{0};
    InParallel(threads_, [&](unsigned) {
      for (size_t start; (start = next.fetch_add(kHugePage)) < bytes;) {
        size_t end = start + kHugePage < bytes ? start + kHugePage : bytes;
#if defined(__GNUC__)
        // A write that changes nothing, whoever else writes there meanwhile.
        for (size_t i = start; i < end; i += kPage) __atomic_fetch_or(data + i, 0, __ATOMIC_RELAXED);
#else
        (void)end, (void)data;
#endif
      }
    });
  }
  bool Awaited() const override { return false; }

 private:
  std::shared_ptr<v8::BackingStore> store_;
  unsigned threads_;
};

#if defined(__linux__)
/** Memory of fewer bytes than so many huge pages is not worth them when it may be memory that was used. */
constexpr size_t kFewHugePages = 4;

/** Mapped memory, mostly from a multiple of a huge page on; the mapping begins where it likes. */
struct Mapped {
  void* start;
  size_t room;
  void* data;
  size_t bytes;
};

/**
 * Memory that was collected, for the next array of about its size: making pages costs as much as a sort. What
 * is kept is bounded, and whoever gets it overwrites it. Collectors of all isolates give from their threads.
 */
class Recycled {
 public:
  /** A block of at least `bytes` bytes and not much more, or none. */
  Mapped* Take(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = by_size_.lower_bound(bytes);
    if (block == by_size_.end() || block->first > bytes + bytes / 8) return nullptr;
    return Remove(block);
  }

  /** Keeps a block in place of the ones that nobody has asked for the longest. */
  void Give(Mapped* mapped) {
    std::vector<Mapped*> surplus;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      by_age_.push_back(by_size_.emplace(mapped->bytes, Block{mapped, {}}));
      by_age_.back()->second.age = std::prev(by_age_.end());
      bytes_ += mapped->bytes;
      while (bytes_ > most_) surplus.push_back(Remove(by_age_.front()));
    }
    for (auto* one : surplus) {
      munmap(one->start, one->room);
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
  const size_t most_ = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 32 * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::mutex mutex_;
  Sizes by_size_;
  Ages by_age_;
  size_t bytes_ = 0;
};

/** Lives as long as the process: collectors may outlive everything else. */
Recycled& recycled = *new Recycled;

void GiveBack(void*, size_t, void* data) { recycled.Give(static_cast<Mapped*>(data)); }

/**
 * Memory on a multiple of a huge page, and made of such where the system can; empty if there is none. Little memory
 * that may have been used is made of ordinary pages: a huge one takes the system longer than the sort of what fits
 * into it (4 MiB on PoCL: 9 ms, and 20 ms with the pages).
 *
 * @param used where memory that was used before will do
 * @param touch whether there are huge pages that nobody has touched yet
 */
std::unique_ptr<v8::BackingStore> MapHuge(size_t bytes, bool used, bool* touch) {
  Mapped* mapped = used ? recycled.Take(bytes) : nullptr;
  bool huge = !used || bytes >= kFewHugePages * kHugePage;
  *touch = huge && !mapped;
  if (!mapped) {
    size_t room = huge ? bytes + kHugePage : bytes;
    void* start = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    auto address = reinterpret_cast<uintptr_t>(start);
    auto* data = huge ? reinterpret_cast<void*>((address + kHugePage - 1) / kHugePage * kHugePage) : start;
    if (huge) madvise(data, bytes, MADV_HUGEPAGE);
    mapped = new Mapped{start, room, data, bytes};
  }
  return v8::ArrayBuffer::NewBackingStore(mapped->data, bytes, GiveBack, mapped);
}
#endif

/**
 * An ArrayBuffer on a multiple of a page, in few large pages, which several threads begin to make at once.
 * V8's own begins 16 bytes beside a line of the cache, and its pages are made one by one. It is all zero unless
 * argument 2 says that memory of a collected one will do.
 */
NAN_METHOD(AllocateHostMemory) {
  Call call(info, "allocateHostMemory");
  size_t bytes = call.Size(0);
  auto threads = static_cast<unsigned>(call.Unsigned(call[1], CL_INVALID_VALUE, kMaxThreads));
  bool used = call.Bool(2);
  if (!call.ok()) return;
  Environment& environment = call.environment();
  std::shared_ptr<v8::BackingStore> store;
  bool touch = true;
#if defined(__linux__)
  if (!environment.copy_mappings && bytes > 0) {
    store = MapHuge(bytes, used, &touch);
    if (!store) return (void)call.Fail(CL_OUT_OF_HOST_MEMORY, "no " + std::to_string(bytes) + " bytes of memory");
  }
#endif
  if (!store) {
    call.Return(v8::ArrayBuffer::New(environment.isolate(), bytes));
    return;
  }
  call.Return(v8::ArrayBuffer::New(environment.isolate(), store));
  if (threads > 0 && touch) environment.Start(std::make_unique<TouchJob>(std::move(store), threads), nullptr);
}

}  // namespace

void ExportStaging(Exports& exports) {
  exports.Set<WriteBufferAsync>("writeBufferAsync");
  exports.Set<ReadBufferAsync>("readBufferAsync");
  exports.Set<AllocateHostMemory>("allocateHostMemory");
}

}  // namespace clsort
