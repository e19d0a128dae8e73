#include "generation.h"

#include "../core/generation.h"
#include "module_copies.h"

// Found by name in the other copies of the module (module_copies.h). The number is the
// version of GenerationWords.
extern "C" GRAUPEL_EXPORT const void* graupel_generation_v1() {
  static const graupel::GenerationWords words = graupel::MakeGenerationWords();
  return &words;
}

namespace graupel {

const GenerationWords& OpenGeneration() {
  static const auto& words = []() -> const GenerationWords& {
    const auto find = reinterpret_cast<const void* (*)()>(FirstModuleExporting(
        "graupel_generation_v1", reinterpret_cast<void*>(&graupel_generation_v1)));
    const auto& found = *static_cast<const GenerationWords*>(find());
    raised_word = found.raised;
    if (found.device != nullptr) device_word = found.device;
    return found;
  }();
  return words;
}

void RaiseGeneration() {
  // Sequentially consistent: a caller that has stopped all threads afterwards is sure.
  OpenGeneration().raised->fetch_add(1);
}

}  // namespace graupel
