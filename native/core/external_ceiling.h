#ifndef GRAUPEL_CORE_EXTERNAL_CEILING_H_
#define GRAUPEL_CORE_EXTERNAL_CEILING_H_

#include <atomic>
#include <cstdint>

#include "ceiling.h"
#include "state.h"

namespace graupel {

// A ceiling that only calls raise. It lies in the process's State of the key, so a call
// in one thread raises it for all threads.
class ExternalCeiling : public Ceiling {
 public:
  explicit ExternalCeiling(State& process_state)
      : Ceiling(&process_state.external_ceiling),
        slot_(process_state.external_ceiling) {}

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

#endif  // GRAUPEL_CORE_EXTERNAL_CEILING_H_
