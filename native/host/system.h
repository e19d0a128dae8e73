#ifndef GRAUPEL_HOST_SYSTEM_H_
#define GRAUPEL_HOST_SYSTEM_H_

#include <cstddef>
#include <random>
#include <string>

#include "fault.h"

namespace graupel {

// Names this start of the system, in up to 39 characters.
Fault BootId(std::string* id);

inline void RandomBytes(void* bytes, size_t count) {
  std::random_device random;
  for (size_t i = 0; i < count; ++i) {
    static_cast<unsigned char*>(bytes)[i] = static_cast<unsigned char>(random());
  }
}

// Starts a thread that ends when `run` returns, and gets no signals.
Fault StartThread(void (*run)(void*), void* data);

}  // namespace graupel

#endif  // GRAUPEL_HOST_SYSTEM_H_
