#ifndef GRAUPEL_TEST_SCHEDULER_H_
#define GRAUPEL_TEST_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace graupel {

// Runs threads one at a time, and in every order: after CHESS (Musuvathi and
// others, OSDI 2008), all schedules that take the turn from a thread which could
// have gone on at most `preemptions` times. Most races need one or two.
class Scheduler {
 public:
  using Body = std::function<void()>;

  // Calls `prepare` for the bodies of each schedule, runs them, and then `check`.
  // Returns how many schedules there were.
  static size_t Explore(int preemptions,
                        const std::function<std::vector<Body>()>& prepare,
                        const Body& check) {
    std::vector<Choices> open{{}};
    size_t count = 0;
    for (; !open.empty(); ++count) {
      Scheduler schedule(std::move(open.back()), preemptions);
      open.pop_back();
      schedule.Run(prepare());
      check();
      for (Choices& choices : schedule.branches_) open.push_back(std::move(choices));
    }
    return count;
  }

  // Before every atomic operation. Outside of a schedule it does nothing.
  static void Point() {
    if (current_ != nullptr) current_->Decide(true);
  }

 private:
  // Which thread has the turn, decision by decision.
  using Choices = std::vector<uint8_t>;

  struct Seat {
    std::binary_semaphore turn{0};
    bool is_done = false;
  };

  Scheduler(Choices choices, int preemptions)
      : choices_(std::move(choices)), fixed_(choices_.size()), left_(preemptions) {}

  void Run(const std::vector<Body>& bodies) {
    for (size_t i = 0; i < bodies.size(); ++i)
      seats_.push_back(std::make_unique<Seat>());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < bodies.size(); ++i) {
      threads.emplace_back([this, i, &bodies] {
        seats_[i]->turn.acquire();
        current_ = this;
        bodies[i]();
        current_ = nullptr;
        seats_[i]->is_done = true;
        Decide(false);
      });
    }
    Decide(false);
    for (std::thread& thread : threads) thread.join();
  }

  // Called by the thread that has the turn; `can_go_on` unless it has ended.
  void Decide(bool can_go_on) {
    const size_t me = running_;
    size_t next = me;
    if (step_ < fixed_) {
      next = choices_[step_];
      if (can_go_on && next != me) --left_;
    } else {
      bool found = can_go_on;
      for (size_t i = 0; i < seats_.size(); ++i) {
        if (seats_[i]->is_done || (can_go_on && i == me)) continue;
        if (!found) {
          found = true;
          next = i;
        } else if (!can_go_on || left_ > 0) {
          Choices branch(choices_);
          branch.push_back(static_cast<uint8_t>(i));
          branches_.push_back(std::move(branch));
        }
      }
      if (!found) return;
      choices_.push_back(static_cast<uint8_t>(next));
    }
    ++step_;
    running_ = next;
    if (can_go_on && next == me) return;
    seats_[next]->turn.release();
    if (can_go_on) seats_[me]->turn.acquire();
  }

  static inline thread_local Scheduler* current_ = nullptr;

  Choices choices_;
  const size_t fixed_;
  int left_;
  size_t step_ = 0;
  size_t running_ = 0;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Choices> branches_;
};

}  // namespace graupel

#endif  // GRAUPEL_TEST_SCHEDULER_H_
