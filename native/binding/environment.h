#ifndef GRAUPEL_BINDING_ENVIRONMENT_H_
#define GRAUPEL_BINDING_ENVIRONMENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "../core/clock.h"
#include "../core/generator.h"
#include "../host/home.h"

namespace graupel {

// The arguments and results of calls. A call without arguments and without a result
// takes half the time of a call with both. src/engine/native/core.ts has the same
// offsets. `now` and `limit` are doubles, which hold every tick and every millisecond
// exactly (ticks have at most 53 bits).
struct Mailbox {
  uint64_t id;
  uint32_t status;
  uint32_t handle;  // In: the handle of the generator.
  double now;       // In: now_ms if injected, now_tick if granted. Out: now_tick.
  double limit;     // In: limit_tick.
  double want;      // In.
  double now_ms;    // Out, like the fields down to `generation`.
  double head_tick;
  double last_tick;  // -1 if no slot was issued.
  double high_tick;
  double issued;
  double ceiling;        // Tick of the first slot above it; -1 if there is no ceiling.
  double generation;     // Out: Generation() of core/generation.h.
  uint32_t uuid[4];      // In: the 128 bits of a UUID, the most significant first.
  double observed_tick;  // Out of Observe().
};
static_assert(offsetof(Mailbox, now) == 16);
static_assert(offsetof(Mailbox, ceiling) == 80);
static_assert(offsetof(Mailbox, generation) == 88);
static_assert(offsetof(Mailbox, uuid) == 96);
static_assert(offsetof(Mailbox, observed_tick) == 112);
static_assert(sizeof(Mailbox) == 120);

enum class ClockKind : uint32_t { kWall = 0, kSteady = 1, kInjected = 2 };

// The generators of this thread that count one key below one ceiling.
struct GeneratorGroup {
  using Key = std::pair<const State*, const Ceiling*>;
  static Key KeyOf(const Home& home) { return {&home.pages.own(), home.ceiling()}; }

  GeneratorGroup(const Layout& layout, Home home_in)
      : access(&home_in.state(), layout), home(std::move(home_in)) {
    UpdateAccess();
  }
  ~GeneratorGroup() { home.pages.Remember(); }
  // Called after the home has changed.
  void UpdateAccess() {
    access.state = &home.state();
    access.ceiling = home.ceiling();
    access.replaceable = home.page().get();
  }

  ThreadAccess access;
  Home home;
  bool needs_history = false;  // At least one generator needs it.
  size_t users = 0;
};

struct Handle {
  Generator generator;
  ClockKind clock;
  GeneratorGroup* group;
};

// The data of one JavaScript environment (the main thread's or a worker's), which is
// deleted when the environment ends. ProcessState has the data that must outlive it.
class Environment {
 public:
  // The mailbox lasts until the environment ends.
  explicit Environment(Mailbox* mailbox) : mailbox_(mailbox) {}

  // Counts references, because Node may free the externals of an ending environment
  // after its instance data. All references are in one thread.
  void Retain() { ++references_; }
  void Release() {
    if (--references_ == 0) delete this;
  }

  Mailbox& mailbox() { return *mailbox_; }
  WallClock& wall() { return wall_; }
  SteadyClock& steady() { return steady_; }
  // The fault of the last call that could not use a state.
  const Fault& fault() const { return fault_; }
  void set_fault(Fault fault) { fault_ = std::move(fault); }
  void set_status(Status status) { mailbox_->status = static_cast<uint32_t>(status); }

  // Null if the generator is closed, or if the handle was never used.
  Handle* Current() const {
    const uint32_t handle = mailbox_->handle;
    return handle < handles_.size() ? handles_[handle].get() : nullptr;
  }
  // Current(); if it is null, the status is kClosed.
  Handle* CurrentOrClosed() {
    Handle* const handle = Current();
    if (handle == nullptr) set_status(Status::kClosed);
    return handle;
  }

  // The group for these options, made if there is none; null with a fault.
  // `needs_history`: with a history, from `options.now_tick` on.
  GeneratorGroup* GroupFor(const HomeOptions& options, bool needs_history);
  // Returns the status of `use`. If the word has moved, follows it first.
  template <typename Use>
  Status UseState(Handle& handle, uint64_t now_tick, Use use) {
    const Status status = use();
    if (status != Status::kMoved) [[likely]]
      return status;
    return Follow(*handle.group, now_tick, use);
  }
  // Takes the group to the state to which its word has moved, and returns the status of
  // `use` there; kUnavailable with a fault.
  Status Follow(GeneratorGroup& group, uint64_t now_tick,
                const std::function<Status()>& use);

  uint32_t AddGenerator(GeneratorGroup* group, SequenceStart start, ClockKind clock,
                        uint64_t generation);
  // Adds a view of a generator: `Generator::View`.
  uint32_t AddView(const Handle& base, uint64_t tag_bits);
  void CloseGenerator(uint32_t handle);
  // Closes a generator, and frees its handle. Called only when JavaScript has collected
  // the generator, so that a closed generator never reaches another generator.
  void FreeHandle(uint32_t handle);
  // Closes all generators that have a state file, which writes their last words.
  void CloseFiles();

 private:
  ~Environment() = default;
  uint32_t Add(Handle added);

  Mailbox* const mailbox_;
  WallClock wall_;
  SteadyClock steady_;
  Fault fault_;
  // A group is deleted with its last generator, which closes the state file and unmaps
  // the page if no other thread uses them. The rest of its run is lost.
  std::map<GeneratorGroup::Key, std::unique_ptr<GeneratorGroup>> groups_;
  std::vector<std::unique_ptr<Handle>> handles_;
  std::vector<uint32_t> free_handles_;
  uint64_t next_id_ = 1;
  size_t references_ = 1;
};

}  // namespace graupel

#endif  // GRAUPEL_BINDING_ENVIRONMENT_H_
