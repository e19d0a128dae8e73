#ifndef GRAUPEL_CORE_GENERATION_H_
#define GRAUPEL_CORE_GENERATION_H_

#include <atomic>
#include <cstdint>

namespace graupel {

// The generation of the machine: a number that differs in a copy of the machine that
// continues with its memory. A generator reserves slots first, reads the generation
// second, and returns ids third. While the generation is that of its state or lease, no
// copy was made before the read, so no other machine has these slots.

// Generation() is the sum of two words, which OpenGeneration() of host/generation.h
// places. This one is raised by calls, and zeroed in a child of fork() if the system
// can do that.
inline std::atomic<uint64_t> raised_here{0};
inline std::atomic<uint64_t>* raised_word = &raised_here;
// Raised by the hypervisor; 0 without one that announces copies.
inline const std::atomic<uint64_t> no_device{0};
inline const std::atomic<uint64_t>* device_word = &no_device;

// Only the bits that a JavaScript number holds exactly.
inline constexpr uint64_t kGenerationMask = (uint64_t{1} << 53) - 1;

// [generation] Relaxed: a machine is copied between two instructions of each thread. Of
// one thread, everything before the read has happened in the copy as well.
inline uint64_t Generation() {
  // The compiler must not move the read before the reservation.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint64_t sum = raised_word->load(std::memory_order_relaxed) +
                       device_word->load(std::memory_order_relaxed);
  return sum & kGenerationMask;
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_GENERATION_H_
