#include "crew.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace clsort {

namespace {

struct Crew {
  Crew(size_t count, const std::function<void(size_t)>* work) : count(count), work(work) {}

  void Work() {
    for (size_t i; (i = next.fetch_add(1)) < count;) (*work)(i);
  }

  const size_t count;
  const std::function<void(size_t)>* const work;
  std::atomic<size_t> next{0};
  std::mutex guard;
  std::condition_variable left;
  unsigned others = 0;
  /** From now on `work` may be gone. */
  bool over = false;
};

class Helper final : public Job {
 public:
  explicit Helper(std::shared_ptr<Crew> crew) : crew_(std::move(crew)) {}

  void Run() override {
    {
      std::lock_guard<std::mutex> lock(crew_->guard);
      if (crew_->over) return;
      crew_->others++;
    }
    crew_->Work();
    std::lock_guard<std::mutex> lock(crew_->guard);
    if (--crew_->others == 0) crew_->left.notify_one();
  }
  bool Awaited() const override { return false; }

 private:
  std::shared_ptr<Crew> crew_;
};

}  // namespace

void InCrew(Environment& environment, unsigned threads, size_t count, const std::function<void(size_t)>& work) {
  auto crew = std::make_shared<Crew>(count, &work);
  for (size_t t = 1; t < std::min<size_t>(threads, count); t++)
    environment.Start(std::make_unique<Helper>(crew), nullptr);
  crew->Work();
  std::unique_lock<std::mutex> lock(crew->guard);
  crew->over = true;
  crew->left.wait(lock, [&] { return crew->others == 0; });
}

void InPieces(Environment& environment, unsigned threads, size_t all, size_t each,
              const std::function<void(size_t first, size_t count)>& work) {
  InCrew(environment, threads, PiecesOf(all, each), [&](size_t i) {
    size_t first = i * each;
    work(first, std::min(each, all - first));
  });
}

}  // namespace clsort
