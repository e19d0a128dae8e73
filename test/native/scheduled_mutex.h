#ifndef GRAUPEL_TEST_SCHEDULED_MUTEX_H_
#define GRAUPEL_TEST_SCHEDULED_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "scheduler.h"

// The counterpart of scheduled_atomic.h for mutexes. Taking a free mutex is no
// scheduling point, because other threads see only what the mutex guards.

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

// Waits for the condition itself, so no notification is needed; and without a time
// limit, because no time passes in a schedule.
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
