#if defined(_WIN32)

#include "../../host/generation.h"

namespace graupel {

// Windows shows no generation to programs (VMGENID is for drivers), so calls alone
// raise the word.
GenerationWords MakeGenerationWords() {
  static std::atomic<uint64_t> raised{1};
  GenerationWords words;
  words.raised = &raised;
  return words;
}

}  // namespace graupel

#endif
