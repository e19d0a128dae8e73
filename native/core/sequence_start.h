#ifndef GRAUPEL_CORE_SEQUENCE_START_H_
#define GRAUPEL_CORE_SEQUENCE_START_H_

#include <cstdint>

#include "layout.h"

namespace graupel {

// The sequence number with which a new tick begins. A generator that always begins with
// 0 and makes less than one id a tick makes only even ids, which leaves half of the
// shards of `id % 2` empty.
class SequenceStart {
 public:
  enum class Mode : uint32_t { kZero = 0, kRandom = 1, kRotate = 2 };

  SequenceStart() = default;
  SequenceStart(Mode mode, uint32_t seed)
      : mode_(mode), random_(seed == 0 ? 1 : seed) {}

  // `word` is the state word that the new tick follows.
  uint64_t First(const Layout& layout, uint64_t word) {
    if (mode_ == Mode::kZero) return 0;
    // The upper half stays free in every tick, so that at least half of the
    // capacity is left however unlucky the start; one bit has no upper half.
    const uint64_t half = layout.sequence_bits == 1 ? 2 : layout.Capacity() / 2;
    if (mode_ == Mode::kRandom) return Random() % half;
    const uint64_t next = layout.SequenceOf(word);
    return next < half ? next : 0;
  }

 private:
  // Marsaglia's xorshift32 (Journal of Statistical Software 8/14, 2003): four
  // bytes of state. src/engine/js/state.ts draws the same numbers.
  uint32_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
  }

  Mode mode_ = Mode::kZero;
  uint32_t random_ = 1;
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_SEQUENCE_START_H_
