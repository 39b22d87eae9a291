#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "large_memory.h"
#include "piece_sort.h"
#include "threads.h"

namespace clsort::host {

constexpr size_t kCacheLine = 64;

/** Bytes of the most records that one thread sorts by passes in less time than it partitions them. */
constexpr size_t kPieceBytes = size_t{1} << 21;

/** Maximum bins of a partition. */
constexpr unsigned kMaxPartitionBits = 11;
constexpr size_t kMaxPartitionBins = size_t{1} << kMaxPartitionBits;

/** Memory of one thread during a computation. */
struct Workspace {
  Counters counters;
  LargeMemory records, scratch, key_lines, payload_lines;
  size_t next[kMaxPartitionBins];
};

/**
 * Borrows a workspace from the process, which keeps a few idle ones: the system takes longer to provide this memory than
 * a small sort takes.
 *
 * @return null if there is not enough memory
 */
std::unique_ptr<Workspace> BorrowWorkspace();
void ReturnWorkspace(std::unique_ptr<Workspace> workspace);

/**
 * Calls `work(i, workspace)` in parallel. Each thread keeps one workspace, which stays in its core's cache; without
 * memory for any, this thread does all work.
 */
template <typename Work>
void ForEachWithWorkspace(Threads& threads, Workspace& own, size_t count, const Work& work) {
  std::atomic<size_t> next{0};
  const auto loop = [&](Workspace& workspace) {
    for (size_t i; (i = next++) < count;) work(i, workspace);
  };
  const size_t tasks = std::min<size_t>(count, threads.count());
  if (tasks > 1) {
    threads.For(tasks, [&](size_t) {
      auto workspace = BorrowWorkspace();
      if (!workspace) return;
      loop(*workspace);
      ReturnWorkspace(std::move(workspace));
    });
  }
  loop(own);
}

}  // namespace clsort::host
