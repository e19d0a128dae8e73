#ifndef GRAUPEL_TEST_SUBCOMMAND_H_
#define GRAUPEL_TEST_SUBCOMMAND_H_

#include <cstdio>
#include <cstring>

namespace graupel {

// A test of a program, which runs it by its name: `core reserve`, `core fuzz --seed 7`.
class Subcommand {
 public:
  using Run = void (*)(int argc, char** argv);

  Subcommand(const char* name, Run run) : name_(name), run_(run), next_(first_) {
    first_ = this;
  }

  // Runs the test that the first argument names. The arguments of the test follow.
  static int Main(int argc, char** argv) {
    for (const Subcommand* test = first_; test != nullptr; test = test->next_) {
      if (argc < 2 || std::strcmp(test->name_, argv[1]) != 0) continue;
      test->run_(argc - 1, argv + 1);
      return 0;
    }
    std::fputs("The first argument is one of:\n", stderr);
    for (const Subcommand* test = first_; test != nullptr; test = test->next_) {
      std::fprintf(stderr, "  %s\n", test->name_);
    }
    return 2;
  }

 private:
  static inline const Subcommand* first_ = nullptr;

  const char* const name_;
  const Run run_;
  const Subcommand* const next_;
};

}  // namespace graupel

#endif  // GRAUPEL_TEST_SUBCOMMAND_H_
