#ifndef GRAUPEL_TEST_SCHEDULER_H_
#define GRAUPEL_TEST_SCHEDULER_H_

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "check.h"

namespace graupel {

// Runs threads one at a time, and in every order: after CHESS (Musuvathi and others,
// OSDI 2008), all schedules that take the turn from a thread which could have gone on
// at most `preemptions` times. Most races need one or two. The end of a process, which
// stops all of its threads, counts as one preemption.
class Scheduler {
 public:
  using Body = std::function<void()>;

  struct Scene {
    // Makes the bodies of a schedule. Each body is a process.
    std::function<std::vector<Body>()> prepare;
    // Called after each schedule.
    Body check;
    // Called before each step of a schedule.
    Body observe = {};
    // Called when a process was ended in the middle of its work.
    std::function<void(size_t process)> died = {};
    // The number of processes that may be ended in one schedule.
    int deaths = 0;
  };

  // Returns the number of schedules.
  static size_t Explore(const Scene& scene, int preemptions) {
    StayOnOneProcessor();
    Pool pool;
    std::vector<Choices> open{{}};
    size_t count = 0;
    for (; !open.empty(); ++count) {
      Scheduler schedule(scene, pool, std::move(open.back()), preemptions);
      open.pop_back();
      schedule.Run(scene.prepare());
      scene.check();
      for (Choices& choices : schedule.branches_) open.push_back(std::move(choices));
    }
    return count;
  }

  // Called before every atomic operation, and every call to a simulated system. Does
  // nothing outside of a schedule.
  static void Point() {
    Scheduler* const schedule = current_;
    if (schedule == nullptr) return;
    if (schedule->scene_.observe) Quietly(schedule->scene_.observe);
    schedule->Decide(true);
  }

  // Waits until `is_ready` returns true.
  static void Await(const std::function<bool()>& is_ready) {
    Scheduler* const schedule = current_;
    if (schedule == nullptr) return CHECK(is_ready());
    ScheduledThread& thread = *schedule->threads_[schedule->running_];
    thread.is_ready = &is_ready;
    Point();
    thread.is_ready = nullptr;
  }

  // A thread of the same process. It may be waiting when the schedule ends.
  static void Spawn(Body body) {
    Scheduler* const schedule = current_;
    schedule->Start(std::move(body), Process(), true);
  }

  // The process of the running thread.
  static size_t Process() {
    return current_ == nullptr ? SIZE_MAX
                               : current_->threads_[current_->running_]->process;
  }

 private:
  // The thread that has the turn, for each decision; or kDeath, for the end of its
  // process.
  using Choices = std::vector<uint8_t>;
  static constexpr uint8_t kDeath = UINT8_MAX;

  struct ScheduledThread {
    Body body;
    size_t process = 0;
    bool is_daemon = false;
    bool is_done = false;
    bool is_dead = false;
    const std::function<bool()>* is_ready = nullptr;
    std::jmp_buf end;
    std::binary_semaphore turn{0};
  };

  // Threads that many schedules share, because making them takes most of the
  // time.
  class Pool {
   public:
    ~Pool() {
      for (auto& worker : workers_) {
        worker->task = nullptr;
        worker->has_task.release();
        worker->thread.join();
      }
    }
    void Give(size_t index, Body task) {
      if (index == workers_.size()) workers_.push_back(std::make_unique<Worker>());
      workers_[index]->task = std::move(task);
      workers_[index]->has_task.release();
    }
    void Join(size_t count) {
      for (size_t i = 0; i < count; ++i) workers_[i]->is_free.acquire();
    }

   private:
    struct Worker {
      void Work() {
        for (;;) {
          has_task.acquire();
          if (!task) return;
          task();
          is_free.release();
        }
      }
      Body task;
      std::binary_semaphore has_task{0};
      std::binary_semaphore is_free{0};
      std::thread thread{&Worker::Work, this};
    };
    std::vector<std::unique_ptr<Worker>> workers_;
  };

  Scheduler(const Scene& scene, Pool& pool, Choices choices, int preemptions)
      : scene_(scene),
        pool_(pool),
        choices_(std::move(choices)),
        fixed_(choices_.size()),
        preemptions_(preemptions),
        deaths_(scene.deaths) {}

  // Threads that take turns only lose time by moving between processors.
  static void StayOnOneProcessor() {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
    sched_setaffinity(0, sizeof set, &set);
#endif
  }

  static bool Quietly(const auto& call) {
    Scheduler* const schedule = std::exchange(current_, nullptr);
    bool result = true;
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
    } else {
      result = call();
    }
    current_ = schedule;
    return result;
  }

  void Start(Body body, size_t process, bool is_daemon) {
    threads_.push_back(std::make_unique<ScheduledThread>());
    ScheduledThread* const thread = threads_.back().get();
    thread->body = std::move(body);
    thread->process = process;
    thread->is_daemon = is_daemon;
    pool_.Give(threads_.size() - 1, [this, thread] { RunThread(*thread); });
  }

  void Run(std::vector<Body> bodies) {
    for (size_t i = 0; i < bodies.size(); ++i) Start(std::move(bodies[i]), i, false);
    Decide(false);
    has_ended_.acquire();
    pool_.Join(threads_.size());
  }

  void RunThread(ScheduledThread& thread) {
    thread.turn.acquire();
    if (thread.is_dead) return;
    current_ = this;
    // A dead process runs no destructors, so its stack is not unwound.
    if (setjmp(thread.end) == 0) thread.body();
    current_ = nullptr;
    if (thread.is_dead) return;
    thread.is_done = true;
    Decide(false);
  }

  bool CanRun(const ScheduledThread& thread) {
    return !thread.is_done && !thread.is_dead &&
           (thread.is_ready == nullptr || Quietly(*thread.is_ready));
  }

  // Called by the thread that has the turn; `can_go_on` unless it has ended.
  void Decide(bool can_go_on) {
    const size_t me = running_;
    ScheduledThread& thread = *threads_[me];
    size_t next = Choose(me, can_go_on && CanRun(thread));
    if (next == kDeath) {
      --deaths_;
      --preemptions_;
      for (const auto& other : threads_) {
        if (other->process == thread.process) other->is_dead = true;
      }
      Quietly([&] { scene_.died(thread.process); });
      next = Choose(me, false);
    }
    if (next == me && can_go_on && !thread.is_dead) return;
    const bool was_dead = thread.is_dead;
    if (next == SIZE_MAX) {
      End();
    } else {
      running_ = next;
      threads_[next]->turn.release();
    }
    if (!can_go_on) return;
    if (!was_dead) thread.turn.acquire();
    if (thread.is_dead) std::longjmp(thread.end, 1);
  }

  // The thread that has the turn next, kDeath, or SIZE_MAX if there is none.
  size_t Choose(size_t me, bool can_go_on) {
    if (step_ < fixed_) {
      const uint8_t next = choices_[step_++];
      if (can_go_on && next != me && next != kDeath) --preemptions_;
      return next;
    }
    const bool may_interrupt = can_go_on && preemptions_ > 0;
    size_t next = can_go_on ? me : SIZE_MAX;
    for (size_t i = 0; i < threads_.size(); ++i) {
      if (i == next || !CanRun(*threads_[i])) continue;
      if (next == SIZE_MAX) {
        next = i;
      } else if (may_interrupt || !can_go_on) {
        Branch(static_cast<uint8_t>(i));
      }
    }
    if (may_interrupt && deaths_ > 0) Branch(kDeath);
    if (next == SIZE_MAX) return next;
    choices_.push_back(static_cast<uint8_t>(next));
    ++step_;
    return next;
  }

  void Branch(uint8_t next) {
    branches_.push_back(choices_);
    branches_.back().push_back(next);
  }

  // No thread can go on: each has ended or is dead, except daemons, which may wait.
  void End() {
    for (const auto& thread : threads_) {
      CHECK(thread->is_done || thread->is_dead || thread->is_daemon);
    }
    for (const auto& thread : threads_) {
      if (thread->is_done) continue;
      thread->is_dead = true;
      thread->turn.release();
    }
    has_ended_.release();
  }

  static inline thread_local Scheduler* current_ = nullptr;

  const Scene& scene_;
  Pool& pool_;
  Choices choices_;
  const size_t fixed_;
  int preemptions_;
  int deaths_;
  size_t step_ = 0;
  size_t running_ = 0;
  std::vector<std::unique_ptr<ScheduledThread>> threads_;
  std::binary_semaphore has_ended_{0};
  std::vector<Choices> branches_;
};

}  // namespace graupel

#endif  // GRAUPEL_TEST_SCHEDULER_H_
