#ifndef GRAUPEL_TEST_CHECK_H_
#define GRAUPEL_TEST_CHECK_H_

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

// CHECK, the seed that a failure prints, and the arguments that replay it.

namespace graupel {

inline uint64_t test_seed = 0;

// Removes the files of a test if the test fails.
inline void (*clean_up)() = nullptr;

template <typename... Values>
[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            const char* names, Values... values) {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed, --seed %" PRIu64 "\n", file, line,
               condition, test_seed);
  if constexpr (sizeof...(values) > 0) {
    std::fprintf(stderr, "  %s =", names);
    (std::fprintf(stderr, " %" PRIu64, static_cast<uint64_t>(values)), ...);
    std::fputc('\n', stderr);
  }
  if (auto* const call = std::exchange(clean_up, nullptr)) call();
  // exit() is not safe here, because other threads of the test may still be running.
  std::_Exit(1);
}

// CHECK(condition, values...): prints the values, as unsigned numbers, if the
// condition does not hold.
#define CHECK(condition, ...)                                         \
  ((condition) ? void()                                               \
               : ::graupel::FailCheck(__FILE__, __LINE__, #condition, \
                                      #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__))

// The number after `name` on the command line.
inline uint64_t Argument(int argc, char** argv, const char* name, uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::strtoull(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

}  // namespace graupel

#endif  // GRAUPEL_TEST_CHECK_H_
