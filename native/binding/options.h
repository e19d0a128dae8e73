#ifndef GRAUPEL_BINDING_OPTIONS_H_
#define GRAUPEL_BINDING_OPTIONS_H_

#include <napi.h>

#include <cstdint>
#include <string>

#include "environment.h"

namespace graupel {

// Throws a TypeError with a code, unless an exception is pending or the thread ends.
void Throw(Napi::Env env, const char* code, const std::string& message);

// The options of open().
struct OpenOptions {
  HomeOptions home;
  bool history = false;
  SequenceStart start;
  ClockKind clock = ClockKind::kWall;
  uint64_t generation = 0;
};

// Reads the argument of open(). False if something is thrown, or the thread ends. The
// facade has checked the options, so a wrong option is forged.
bool ReadOptions(const Napi::CallbackInfo& info, OpenOptions* read);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_OPTIONS_H_
