#ifndef GRAUPEL_TEST_SCHEDULED_ATOMIC_H_
#define GRAUPEL_TEST_SCHEDULED_ATOMIC_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "scheduler.h"

// A program includes this header before any header of native/core. Every operation of a
// std::atomic in these headers then first lets the scheduler choose the next thread. So
// the model explores the real headers, not copies.
//
// The schedules are sequentially consistent. ThreadSanitizer and docs/memory-order.md
// have to prove the weaker orders.

// The standard forbids new names in std. Only this file adds a name, because the
// headers look up `std::atomic` there.
namespace std {

template <typename T>
class scheduled_atomic {
 public:
  static constexpr bool is_always_lock_free = atomic<T>::is_always_lock_free;

  constexpr scheduled_atomic(T value = T()) : value_(value) {}

  T load(memory_order order = memory_order_seq_cst) const {
    graupel::Scheduler::Point();
    return value_.load(order);
  }
  // Reads the value in the same step as the last operation of the thread.
  T peek() const { return value_.load(); }
  void store(T value, memory_order order = memory_order_seq_cst) {
    graupel::Scheduler::Point();
    value_.store(value, order);
  }
  template <typename... Orders>
  bool compare_exchange_weak(T& expected, T desired, Orders... orders) {
    graupel::Scheduler::Point();
    return value_.compare_exchange_strong(expected, desired, orders...);
  }
  template <typename... Orders>
  bool compare_exchange_strong(T& expected, T desired, Orders... orders) {
    graupel::Scheduler::Point();
    return value_.compare_exchange_strong(expected, desired, orders...);
  }

 private:
  atomic<T> value_;
};

}  // namespace std

#define atomic scheduled_atomic

#endif  // GRAUPEL_TEST_SCHEDULED_ATOMIC_H_
