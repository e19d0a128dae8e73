#ifndef GRAUPEL_TEST_RANDOM_H_
#define GRAUPEL_TEST_RANDOM_H_

#include <cstdint>

namespace graupel {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Every seed is good, even small
// consecutive seeds.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  // 0 to count - 1; `count` is not 0.
  uint64_t Below(uint64_t count) { return Next() % count; }
  bool OneIn(uint64_t count) { return Below(count) == 0; }

 private:
  uint64_t state_;
};

}  // namespace graupel

#endif  // GRAUPEL_TEST_RANDOM_H_
