#ifndef GRAUPEL_HOST_GENERATION_H_
#define GRAUPEL_HOST_GENERATION_H_

#include <atomic>
#include <cstdint>

namespace graupel {

// The words of core/generation.h as the system has them.
struct GenerationWords {
  std::atomic<uint64_t>* raised = nullptr;
  // Null without a device that announces copies.
  const std::atomic<uint64_t>* device = nullptr;
  // The path of the device; empty without one.
  const char* path = "";
};

// Looks for a device, and makes the word that calls raise. By platform.
GenerationWords MakeGenerationWords();

// Lets Generation() read the words of the process. All copies of the module share them.
// Returns the words.
const GenerationWords& OpenGeneration();

// Changes the generation of this process: the machine is about to be copied, or is a
// copy.
void RaiseGeneration();

}  // namespace graupel

#endif  // GRAUPEL_HOST_GENERATION_H_
