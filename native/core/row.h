#ifndef GRAUPEL_CORE_ROW_H_
#define GRAUPEL_CORE_ROW_H_

#include <cstddef>
#include <cstdint>

namespace graupel {

// Writes `first` and the numbers after it, each by `stride` larger.
inline void WriteRow(uint64_t* out, size_t count, uint64_t first, uint64_t stride) {
  // This shape is what compilers turn into vector stores; with first + i * stride they
  // multiply, which takes twice the time. AVX2 would halve it again, for programs that
  // only some processors can run.
  for (size_t i = 0; i < count; ++i, first += stride) out[i] = first;
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_ROW_H_
