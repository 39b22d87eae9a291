#include "workspace.h"

#include <mutex>
#include <new>
#include <vector>

namespace clsort::host {

namespace {

/** Workspaces that are kept: as many as threads that share one computation. */
constexpr size_t kMaxIdle = 64;

struct Pool {
  std::mutex guard;
  std::vector<std::unique_ptr<Workspace>> idle;
};

/** Never destroyed, because threads may still run while the process exits. */
Pool& ThePool() {
  static Pool& pool = *new Pool;
  return pool;
}

}  // namespace

std::unique_ptr<Workspace> BorrowWorkspace() {
  Pool& pool = ThePool();
  {
    std::lock_guard<std::mutex> lock(pool.guard);
    if (!pool.idle.empty()) {
      auto found = std::move(pool.idle.back());
      pool.idle.pop_back();
      return found;
    }
  }
  std::unique_ptr<Workspace> made(new (std::nothrow) Workspace);
  if (!made || !made->records.Allocate(kPieceBytes) || !made->scratch.Allocate(kPieceBytes) ||
      !made->key_lines.Allocate(kMaxPartitionBins * kCacheLine) ||
      !made->payload_lines.Allocate(kMaxPartitionBins * kCacheLine)) {
    return nullptr;
  }
  return made;
}

void ReturnWorkspace(std::unique_ptr<Workspace> workspace) {
  Pool& pool = ThePool();
  std::lock_guard<std::mutex> lock(pool.guard);
  if (pool.idle.size() < kMaxIdle) pool.idle.push_back(std::move(workspace));
}

}  // namespace clsort::host
