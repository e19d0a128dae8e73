#ifndef GRAUPEL_BINDING_ENVIRONMENT_H_
#define GRAUPEL_BINDING_ENVIRONMENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/clock.h"
#include "../core/generator.h"
#include "../core/home.h"

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
  double ceiling;  // Tick of the first slot above it; -1 where there is none.
};
static_assert(offsetof(Mailbox, now) == 16);
static_assert(offsetof(Mailbox, ceiling) == 80);
static_assert(sizeof(Mailbox) == 88);

enum class ClockKind : uint32_t { kWall = 0, kSteady = 1, kInjected = 2 };

// One copy for all who need it: there may be a thousand generators.
using Text = std::shared_ptr<const std::string>;

// What the generators of this thread on one state, up to one ceiling, share.
struct Seat {
  Seat(const Layout& layout, Home home_in, Text description_in)
      : thread(home_in.state, layout),
        home(std::move(home_in)),
        description(std::move(description_in)) {
    Settle();
  }
  // After the home has changed.
  void Settle() {
    thread.state = home.state;
    thread.ceiling = home.ceiling.get();
    thread.whereabouts = home.page.get();
  }

  Thread thread;
  Home home;
  const Text description;
  bool remembers = false;  // Somebody needs a history.
  size_t users = 0;
};

struct Handle {
  Generator generator;
  ClockKind clock;
  Seat* seat;
};

// Everything of one JavaScript environment (the main thread's or a worker's);
// gone when that ends. What must outlive it is in ProcessState.
class Environment {
 public:
  // The mailbox lasts until the environment ends.
  explicit Environment(Mailbox* mailbox) : mailbox_(mailbox) {}

  // Counted, because when an environment ends, Node may free what JavaScript
  // holds of it after its own data. All in one thread.
  void Retain() { ++owners_; }
  void Drop() {
    if (--owners_ == 0) delete this;
  }

  Mailbox& mailbox() { return *mailbox_; }
  WallClock& wall() { return wall_; }
  SteadyClock& steady() { return steady_; }
  // Why the last call could not have a state.
  const Fault& fault() const { return fault_; }
  void set_fault(Fault fault) { fault_ = std::move(fault); }

  // Null when it was closed, or there has never been one.
  Handle* Current() const {
    const uint32_t handle = mailbox_->handle;
    return handle < handles_.size() ? handles_[handle].get() : nullptr;
  }

  // Null with a fault. `remembers`: with a history, from `options.now_tick` on.
  Seat* SeatFor(const HomeOptions& options, bool remembers);
  // The state of a seat is somewhere else: goes there. False with a fault.
  bool Follow(Seat& seat, uint64_t now_tick);

  uint32_t Add(Seat* seat, SequenceStart start, ClockKind clock);
  void Remove(uint32_t handle);
  void Forget(const Seat* seat);
  // Remove, and let the number be used again. Only when JavaScript has
  // forgotten it, so that a closed generator never speaks for another.
  void Release(uint32_t handle);
  // Removes all that have a state file, whose last words are written then.
  void Leave();

 private:
  // What a thread leaves unused of a lease must not be forgotten while others
  // count on the same word, so a seat is kept; but not one with a ceiling, whose
  // file is closed with its last generator.
  using SeatKey = std::pair<State*, DurableCeiling*>;

  ~Environment() = default;
  bool Remember(Seat& seat, uint64_t now_tick);
  Text DescriptionOf(const HomeOptions& options);

  Mailbox* const mailbox_;
  WallClock wall_;
  SteadyClock steady_;
  Fault fault_;
  std::vector<Text> descriptions_;
  std::map<SeatKey, std::unique_ptr<Seat>> seats_;
  std::vector<std::unique_ptr<Seat>> displaced_;
  std::vector<std::unique_ptr<Handle>> handles_;
  std::vector<uint32_t> free_handles_;
  uint64_t next_id_ = 1;
  size_t owners_ = 1;
};

}  // namespace graupel

#endif  // GRAUPEL_BINDING_ENVIRONMENT_H_
