#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif

#include "hash.h"
#include "ring_transfer.h"
#include "work_job.h"

namespace clsort {

namespace {

#if !defined(_WIN32)

/** Not an OpenCL status: the transfer ended early as described by `FileTransferStatus`, without a driver error. */
constexpr cl_int kEndedEarly = 1;

/** Words shared with the program during a transfer. */
struct FileTransferStatus {
  /** Set by the program to end the transfer. */
  int64_t stop;
  /** Bytes moved from the beginning, set at the end. */
  int64_t moved;
  /** The `errno` of a failed read or write; 0 otherwise, also if the file ended early. */
  int64_t error;
  /** Nanoseconds summed over all threads: reading or writing, hashing, waiting for the turn, waiting for the device. */
  int64_t filing, hashing, waiting, transferring;
};

/** Adds its lifetime to a time. */
class ScopedTimer {
 public:
  explicit ScopedTimer(std::atomic<int64_t>& nanoseconds) : nanoseconds_(nanoseconds) {}
  ~ScopedTimer() {
    nanoseconds_ += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_).count();
  }
  ScopedTimer(const ScopedTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::atomic<int64_t>& nanoseconds_;
  const Clock::time_point began_ = Clock::now();
};

/** Hash that is continued with the moved bytes, except the first ones. */
struct HashContinuation {
  HostMemory words;
  size_t skipped;
};

/** Duplicated file descriptor: the program may close its own at any time. */
class File {
 public:
  explicit File(int fd) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 0)) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  bool open() const { return fd_ >= 0; }

  /**
   * Preallocates bytes where the system can, without changing the contents or length of the file. @return 0 or `errno`
   */
  int Allocate(off_t position, off_t bytes) const {
#if defined(__linux__)
    while (fallocate(fd_, FALLOC_FL_KEEP_SIZE, position, bytes) != 0) {
      if (errno != EINTR) return errno;
    }
#endif
    return 0;
  }

  /**
   * Reads or writes bytes at a position. @return their number, fewer at the end of the file; -1 on failure, with
   * `errno` set
   */
  ssize_t Move(bool read, char* data, size_t bytes, off_t position) const {
    size_t moved = 0;
    while (moved < bytes) {
      off_t at = position + static_cast<off_t>(moved);
      ssize_t some = read ? pread(fd_, data + moved, bytes - moved, at) : pwrite(fd_, data + moved, bytes - moved, at);
      if (some < 0 && errno == EINTR) continue;
      if (some < 0) return -1;
      if (some == 0) break;
      moved += static_cast<size_t>(some);
    }
    return static_cast<ssize_t>(moved);
  }

 private:
  int fd_;
};

/**
 * Moves bytes between a file and a device and hashes them while they are in the processor's caches: only the system
 * copies, and JavaScript runs only at the end. Pieces are read concurrently. They are written in order and hashed in
 * order, and writing overlaps with hashing.
 */
class FileTransfer final : public RingTransfer {
 public:
  FileTransfer(Environment& environment, RingArguments arguments, File file, off_t position,
               const HashContinuation& hash, const HostMemory& result)
      : RingTransfer(environment, std::move(arguments)),
        file_(std::move(file)),
        position_(position),
        words_store_(hash.words.store),
        words_(hash.words.data),
        skipped_(hash.skipped),
        result_store_(result.store),
        result_(static_cast<FileTransferStatus*>(result.data)) {}

  void Run() override {
    if (words_) std::memcpy(&hash_, words_, sizeof hash_);
    MoveAll(piece_, [&](size_t piece, size_t, size_t) { Move(piece); });
    if (words_) std::memcpy(words_, &hash_, sizeof hash_);
    // With a hash, pieces end in order; without one, the first piece that was not moved determines the count.
    size_t whole = words_ ? hashed_ : ended_;
    result_->moved = static_cast<int64_t>(whole <= bytes_ / piece_ ? whole * piece_ : bytes_);
    result_->error = error_;
    result_->filing = filing_;
    result_->hashing = hashing_;
    result_->waiting = waiting_;
    result_->transferring = transferring_;
    if (status_ == kEndedEarly) status_ = CL_SUCCESS;
  }

 private:
  void Move(size_t piece) {
    char* slot = AcquireSlotTimed(piece);
    if (!slot) return EndAt(piece, 0);
    if (__atomic_load_n(&result_->stop, __ATOMIC_RELAXED)) return EndAt(piece, 0);
    size_t length = Length(piece);
    // Systems let one thread at a time write a file, and the others would spin until then.
    if (!write_ && !AwaitPredecessors(written_, piece)) return;
    int error = 0;
    ssize_t some = MoveFile(slot, piece, &error);
    if (!write_) EndPiece(written_);
    if (words_ && !AwaitPredecessors(hashed_, piece)) return;
    if (some < static_cast<ssize_t>(length)) return EndAt(piece, error);
    if (words_) {
      AddToHash(slot, piece * piece_, length);
      EndPiece(hashed_);
    }
    ScopedTimer spent(transferring_);
    ReleaseSlot(piece);
  }

  char* AcquireSlotTimed(size_t piece) {
    ScopedTimer spent(transferring_);
    return AcquireSlot(piece);
  }

  /** @return as `File::Move`; `error` receives the `errno` */
  ssize_t MoveFile(char* slot, size_t piece, int* error) {
    ScopedTimer spent(filing_);
    ssize_t some = file_.Move(write_, slot, Length(piece), position_ + static_cast<off_t>(piece * piece_));
    *error = some < 0 ? errno : 0;
    return some;
  }

  /** Ends the transfer before a piece that could not be moved completely. */
  void EndAt(size_t piece, int error) {
    {
      std::lock_guard<std::mutex> lock(guard_);
      ended_ = std::min(ended_, piece);
      if (error_ == 0) error_ = error;
    }
    Fail(kEndedEarly);
  }

  /** Waits until all earlier pieces have passed this stage. @return false after a failure */
  bool AwaitPredecessors(const size_t& turn, size_t piece) {
    ScopedTimer spent(waiting_);
    std::unique_lock<std::mutex> lock(guard_);
    changed_.wait(lock, [&] { return turn == piece || Failed(); });
    return !Failed();
  }

  void EndPiece(size_t& turn) {
    std::lock_guard<std::mutex> lock(guard_);
    turn++;
    changed_.notify_all();
  }

  void AddToHash(const char* slot, size_t start, size_t length) {
    ScopedTimer spent(hashing_);
    size_t skipped = std::min(length, skipped_ > start ? skipped_ - start : 0);
    hash_.Add(reinterpret_cast<const unsigned char*>(slot) + skipped, length - skipped);
  }

  File file_;
  const off_t position_;
  const std::shared_ptr<v8::BackingStore> words_store_;
  void* const words_;
  const size_t skipped_;
  const std::shared_ptr<v8::BackingStore> result_store_;
  FileTransferStatus* const result_;
  Hash hash_{};
  std::atomic<int64_t> filing_{0}, hashing_{0}, waiting_{0}, transferring_{0};
  /** Next pieces to be written and to be hashed; guarded by `guard_`. */
  size_t written_ = 0, hashed_ = 0;
  /** First piece that was not moved, and its `errno`; guarded by `guard_`. */
  size_t ended_ = SIZE_MAX;
  int error_ = 0;
};

#endif

/** (fd, position, bytes, result) */
CLSORT_EXPORT(allocateFileAsync, "allocateFileAsync") {
#if defined(_WIN32)
  call.Fail(kUnsupported, "Windows does not support preallocated files");
#else
  cl_int fd = call.Int(0);
  auto position = call.Unsigned(1, CL_INVALID_VALUE, INT64_MAX);
  size_t bytes = call.Size(2);
  HostSpan result(call.LastingMemory(3, sizeof(int64_t)));
  if (!call.ok()) return;
  if (bytes > INT64_MAX - position)
    return (void)call.FailArgument(1, CL_INVALID_VALUE, "a range within the maximum size of a file");
  File file(fd);
  if (!file.open()) return (void)call.FailArgument(0, CL_INVALID_VALUE, "the descriptor of an open file");
  StartWork(call, "allocateFileAsync",
            [file = std::move(file), begin = static_cast<off_t>(position), size = static_cast<off_t>(bytes), result] {
              int64_t error = size > 0 ? file.Allocate(begin, size) : 0;
              std::memcpy(result.data, &error, sizeof error);
            });
#endif
}

/** (queue, buffer, offset, fd, position, bytes, ring, piece, threads, hash or null, skipped, result) */
void StartTransfer(Call& call, bool write) {
#if defined(_WIN32)
  call.Fail(kUnsupported, "Windows does not support positioned reads");
#else
  cl_int fd = call.Int(3);
  auto position = call.Unsigned(4, CL_INVALID_VALUE, INT64_MAX);
  size_t bytes = call.Size(5);
  HashContinuation hash{{}, call.Size(10)};
  if (call.Has(9)) hash.words = call.LastingMemory(9, sizeof(Hash));
  HostMemory result = call.LastingMemory(11, sizeof(FileTransferStatus));
  RingArguments arguments;
  if (!ReadRing(call, 6, write, bytes, &arguments)) return;
  if (bytes > INT64_MAX - position)
    return (void)call.FailArgument(4, CL_INVALID_VALUE, "a range within the maximum size of a file");
  if (reinterpret_cast<uintptr_t>(result.data) % alignof(FileTransferStatus) != 0) {
    return (void)call.FailArgument(11, CL_INVALID_VALUE, "seven aligned words of 64 bits");
  }
  File file(fd);
  if (!file.open()) return (void)call.FailArgument(3, CL_INVALID_VALUE, "the descriptor of an open file");
  const Platform* platform = arguments.platform;
  StartPromise(call,
               std::make_unique<FileTransfer>(call.environment(), std::move(arguments), std::move(file),
                                              static_cast<off_t>(position), hash, result),
               platform);
#endif
}

CLSORT_EXPORT(writeBufferFromFileAsync, "clEnqueueWriteBuffer") { StartTransfer(call, true); }

CLSORT_EXPORT(readBufferToFileAsync, "clEnqueueReadBuffer") { StartTransfer(call, false); }

}  // namespace

}  // namespace clsort
