#include "thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace clsort {

namespace {

struct ParallelLoop {
  ParallelLoop(size_t count, const std::function<void(size_t)>* work) : count(count), work(work) {}

  void Work() {
    for (size_t i; (i = next.fetch_add(1)) < count;) (*work)(i);
  }

  const size_t count;
  const std::function<void(size_t)>* const work;
  std::atomic<size_t> next{0};
  std::mutex guard;
  std::condition_variable left;
  unsigned others = 0;
  /** If true, `work` may no longer exist. */
  bool over = false;
};

class WorkerJob final : public Job {
 public:
  explicit WorkerJob(std::shared_ptr<ParallelLoop> loop) : loop_(std::move(loop)) {}

  void Run() override {
    {
      std::lock_guard<std::mutex> lock(loop_->guard);
      if (loop_->over) return;
      loop_->others++;
    }
    loop_->Work();
    std::lock_guard<std::mutex> lock(loop_->guard);
    if (--loop_->others == 0) loop_->left.notify_one();
  }
  bool Awaited() const override { return false; }

 private:
  std::shared_ptr<ParallelLoop> loop_;
};

}  // namespace

void ParallelFor(Environment& environment, unsigned threads, size_t count, const std::function<void(size_t)>& work) {
  auto loop = std::make_shared<ParallelLoop>(count, &work);
  for (size_t t = 1; t < std::min<size_t>(threads, count); t++)
    environment.Start(std::make_unique<WorkerJob>(loop), nullptr);
  loop->Work();
  std::unique_lock<std::mutex> lock(loop->guard);
  loop->over = true;
  loop->left.wait(lock, [&] { return loop->others == 0; });
}

void ParallelForRanges(Environment& environment, unsigned threads, size_t all, size_t each,
                       const std::function<void(size_t first, size_t count)>& work) {
  ParallelFor(environment, threads, CeilDivide(all, each), [&](size_t i) {
    size_t first = i * each;
    work(first, std::min(each, all - first));
  });
}

}  // namespace clsort
