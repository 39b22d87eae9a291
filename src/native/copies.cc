#include <algorithm>
#include <cstring>
#include <vector>

#include "crew.h"
#include "wait.h"

namespace clsort {

namespace {

/** What a thread copies at a time. */
constexpr size_t kShare = size_t{64} << 10;

/** Host memory that is copied to other host memory. */
struct Copy {
  std::shared_ptr<v8::BackingStore> from_store, to_store;
  const char* from;
  char* to;
  size_t bytes;
};

/** Copies made by several threads, in shares of all bytes as if they lay one behind the other. */
class Copies final : public PromiseJob {
 public:
  Copies(Environment& environment, std::vector<Copy> copies, unsigned threads)
      : PromiseJob("copyAsync"), environment_(environment), copies_(std::move(copies)), threads_(threads) {
    size_t end = 0;
    for (const Copy& copy : copies_) ends_.push_back(end += copy.bytes);
  }

  void Run() override {
    const size_t all = ends_.empty() ? 0 : ends_.back();
    InPieces(environment_, threads_, all, kShare, [&](size_t first, size_t bytes) { Move(first, first + bytes); });
  }

 private:
  /** Copies the bytes from `begin` to `end` of all. */
  void Move(size_t begin, size_t end) {
    size_t i = std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
    for (size_t at = begin; at < end; i++) {
      const Copy& copy = copies_[i];
      size_t skipped = at - (ends_[i] - copy.bytes), length = std::min(end, ends_[i]) - at;
      std::memmove(copy.to + skipped, copy.from + skipped, length);
      at += length;
    }
  }

  Environment& environment_;  // waits for its jobs before it ends
  const std::vector<Copy> copies_;
  /** Where each copy ends among all bytes. */
  std::vector<size_t> ends_;
  const unsigned threads_;
};

NAN_METHOD(CopyAsync) {
  Call call(info, "copyAsync");
  // Reading elements runs JavaScript, which may take memory away: first of all.
  auto from = call.Elements(0), to = call.Elements(1);
  auto threads = static_cast<unsigned>(call.Unsigned(call[2], CL_INVALID_VALUE, kMaxCrew));
  if (!call.ok()) return;
  if (from.size() != to.size()) return (void)call.Fail(CL_INVALID_VALUE, "expected lists of one length");
  if (threads == 0) return (void)call.Fail(CL_INVALID_VALUE, "expected at least one thread");
  std::vector<Copy> copies;
  copies.reserve(from.size());
  size_t all = 0;
  for (size_t i = 0; i < from.size(); i++) {
    HostMemory source = call.LastingMemory(from[i], 0, CL_INVALID_VALUE);
    HostMemory target = call.LastingMemory(to[i], source.bytes, CL_INVALID_VALUE);
    if (!call.ok()) return;
    if (source.bytes == 0) continue;  // it may be nowhere
    // The same memory may be there many times.
    if (source.bytes > SIZE_MAX - kShare - all) return (void)call.Fail(CL_INVALID_VALUE, "2^64 bytes or more");
    all += source.bytes;
    copies.push_back({source.store, target.store, static_cast<const char*>(source.data),
                      static_cast<char*>(target.data), source.bytes});
  }
  StartPromise(call, std::make_unique<Copies>(call.environment(), std::move(copies), threads), nullptr);
}

}  // namespace

void ExportCopies(Exports& exports) { exports.Set<CopyAsync>("copyAsync"); }

}  // namespace clsort
