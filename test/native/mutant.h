#ifndef GRAUPEL_TEST_MUTANT_H_
#define GRAUPEL_TEST_MUTANT_H_

#include <csignal>
#include <cstdlib>

namespace graupel {

// The number of the defect that is in effect in a copy of the sources (mutants.ts); 0
// for no defect.
inline const int mutant = [] {
  const char* const number = std::getenv("GRAUPEL_MUTANT");
  return number == nullptr ? 0 : std::atoi(number);
}();

}  // namespace graupel

#endif  // GRAUPEL_TEST_MUTANT_H_
