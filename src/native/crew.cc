#include "crew.h"

#include <condition_variable>
#include <mutex>

namespace clsort {

namespace {

struct Crew {
  const std::function<void()>* work;
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
    (*crew_->work)();
    std::lock_guard<std::mutex> lock(crew_->guard);
    if (--crew_->others == 0) crew_->left.notify_one();
  }
  bool Awaited() const override { return false; }

 private:
  std::shared_ptr<Crew> crew_;
};

}  // namespace

void InCrew(Environment& environment, unsigned threads, const std::function<void()>& work) {
  auto crew = std::make_shared<Crew>();
  crew->work = &work;
  for (unsigned t = 1; t < threads; t++) environment.Start(std::make_unique<Helper>(crew), nullptr);
  work();
  std::unique_lock<std::mutex> lock(crew->guard);
  crew->over = true;
  crew->left.wait(lock, [&] { return crew->others == 0; });
}

}  // namespace clsort
