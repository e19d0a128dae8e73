#ifndef GRAUPEL_TEST_SCHEDULED_MUTEX_H_
#define GRAUPEL_TEST_SCHEDULED_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "scheduler.h"

// What scheduled_atomic.h is for atomics. To take a mutex that is free is no point
// of its own: what it guards is all that others could see of it.

namespace std {

class scheduled_mutex {
 public:
  void lock() {
    if (is_locked_) graupel::Scheduler::Await([this] { return !is_locked_; });
    is_locked_ = true;
  }
  void unlock() { is_locked_ = false; }
  bool is_locked() const { return is_locked_; }

 private:
  bool is_locked_ = false;
};

// Waits for the condition itself, so that nothing needs to be notified; and for as
// long as it takes, because in a schedule no time passes.
class scheduled_condition_variable {
 public:
  void notify_one() {}
  void notify_all() {}
  template <typename IsReady>
  void wait(unique_lock<scheduled_mutex>& lock, IsReady is_ready) {
    lock.unlock();
    graupel::Scheduler::Await([&] { return !lock.mutex()->is_locked() && is_ready(); });
    lock.lock();
  }
  template <typename Duration, typename IsReady>
  bool wait_for(unique_lock<scheduled_mutex>& lock, Duration, IsReady is_ready) {
    wait(lock, is_ready);
    return true;
  }
};

}  // namespace std

#define mutex scheduled_mutex
#define condition_variable scheduled_condition_variable

#endif  // GRAUPEL_TEST_SCHEDULED_MUTEX_H_
