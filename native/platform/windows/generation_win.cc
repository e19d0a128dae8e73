#if defined(_WIN32)

#include "../../host/generation.h"

namespace graupel {

// Windows shows no generation to programs (VMGENID is for drivers), so calls alone
// raise the word. It starts where a thread on the js engine, which may not load the
// addon, has none.
GenerationWords MakeGenerationWords() {
  static std::atomic<uint64_t> raised{uint64_t{1} << 40};
  GenerationWords words;
  words.raised = &raised;
  return words;
}

}  // namespace graupel

#endif
