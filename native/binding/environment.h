#ifndef GRAUPEL_BINDING_ENVIRONMENT_H_
#define GRAUPEL_BINDING_ENVIRONMENT_H_

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "../core/clock.h"
#include "../core/generator.h"

namespace graupel {

// How a call and JavaScript talk: a call without arguments and without a
// result costs half of one with them. The offsets are the ones of
// src/engine/native.ts. `now` and `limit` go in as numbers, which hold every
// tick and every millisecond exactly (ticks have at most 53 bits).
struct Mailbox {
  uint64_t id;
  uint32_t status;
  uint32_t handle;  // In: whose generator.
  double now;       // In: now_ms if injected, now_tick if granted. Out: now_tick.
  double limit;     // In: limit_tick.
  double want;      // In.
  double now_ms;    // Out, as the fields below.
  double head_tick;
  double last_tick;  // -1 where nothing has been issued.
  double high_tick;
  double issued;
};
static_assert(offsetof(Mailbox, now) == 16);
static_assert(offsetof(Mailbox, issued) == 72);
static_assert(sizeof(Mailbox) == 80);

enum class ClockKind : uint32_t { kWall = 0, kSteady = 1, kInjected = 2 };

struct Handle {
  Generator generator;
  ClockKind clock;
};

// Everything of one JavaScript environment (the main thread's or a worker's);
// gone when that ends. What must outlive it is in ProcessState.
class Environment {
 public:
  Environment(Napi::Env env, Napi::Object exports);

  // Counted, because when an environment ends, Node may free what JavaScript
  // holds of it after its own data. All in one thread.
  void Retain() { ++owners_; }
  void Drop() {
    if (--owners_ == 0) delete this;
  }

  Mailbox& mailbox() { return *mailbox_; }
  WallClock& wall() { return wall_; }
  SteadyClock& steady() { return steady_; }

  // Null when it was closed.
  Handle* Current() const { return handles_[mailbox_->handle].get(); }

  Thread* ThreadFor(const std::string& key, const Layout& layout, bool history);
  uint32_t Add(Thread* thread, SequenceStart start, ClockKind clock);
  void Remove(uint32_t handle);
  // Remove, and let the number be used again. Only when JavaScript has
  // forgotten it, so that a closed generator never speaks for another.
  void Release(uint32_t handle);

 private:
  ~Environment() = default;

  Napi::Reference<Napi::ArrayBuffer> mailbox_reference_;
  Mailbox* mailbox_;
  WallClock wall_;
  SteadyClock steady_;
  std::unordered_map<State*, Thread> threads_;
  std::vector<std::unique_ptr<Handle>> handles_;
  std::vector<uint32_t> free_handles_;
  uint64_t next_id_ = 1;
  size_t owners_ = 1;
};

}  // namespace graupel

#endif  // GRAUPEL_BINDING_ENVIRONMENT_H_
