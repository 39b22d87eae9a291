#ifndef CLSORT_NATIVE_HOST_WORKSPACE_H_
#define CLSORT_NATIVE_HOST_WORKSPACE_H_

#include <memory>

#include "large_memory.h"
#include "piece_sort.h"

namespace clsort::host {

constexpr size_t kCacheLine = 64;

/** Bytes of records that fit a core's cache twice. */
constexpr size_t kPieceBytes = size_t{1} << 19;

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

}  // namespace clsort::host

#endif  // CLSORT_NATIVE_HOST_WORKSPACE_H_
