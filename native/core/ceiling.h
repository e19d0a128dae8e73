#ifndef GRAUPEL_CORE_CEILING_H_
#define GRAUPEL_CORE_CEILING_H_

#include <atomic>
#include <cstdint>

namespace graupel {

// An upper bound of slots, because another process may issue the slots beyond it. It
// rises off the hot path, and does not fall while the word is the same. A derived class
// raises it: by a state file (durable_ceiling.h) or by calls (below).
class Ceiling {
 public:
  virtual ~Ceiling() = default;

  // [ceiling] Acquire pairs with the release in Raise.
  uint64_t slot() const { return slot_->load(std::memory_order_acquire); }
  // A reservation that ends here or beyond asks for a higher ceiling.
  uint64_t alarm() const { return alarm_.load(std::memory_order_relaxed); }

  // Called by a reservation at `now_tick` that passes the alarm, or that ends at the
  // ceiling if `is_urgent`. Never blocks.
  virtual void Ask(uint64_t now_tick, bool is_urgent) = 0;

 protected:
  Ceiling() : slot_(&own_slot_) {}
  // A ceiling that other objects raise too, without an alarm.
  explicit Ceiling(std::atomic<uint64_t>* slot) : slot_(slot), alarm_(UINT64_MAX) {}

  // [ceiling] Release, after the disk has confirmed the ceiling.
  void Raise(uint64_t slot, uint64_t alarm) {
    alarm_.store(alarm, std::memory_order_relaxed);
    slot_->store(slot, std::memory_order_release);
  }
  // [ceiling] Relaxed: the word is in another page now. A thread that has the former
  // page may see either value.
  void Lower() { slot_->store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> own_slot_{0};
  std::atomic<uint64_t>* const slot_;
  std::atomic<uint64_t> alarm_{0};
};

// A ceiling that only calls raise. It lies in the process's State of the key, so a call
// in one thread raises it for all threads.
class ExternalCeiling : public Ceiling {
 public:
  explicit ExternalCeiling(std::atomic<uint64_t>& slot) : Ceiling(&slot), slot_(slot) {}

  // Does nothing, because calls of the program raise the ceiling.
  void Ask(uint64_t, bool) override {}

  // Does nothing if the ceiling is at least that high.
  void RaiseTo(uint64_t slot) {
    uint64_t seen = slot_.load(std::memory_order_relaxed);
    // [ceiling] Release pairs with the acquire in Ceiling::slot.
    while (seen < slot &&
           !slot_.compare_exchange_weak(seen, slot, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<uint64_t>& slot_;
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_CEILING_H_
