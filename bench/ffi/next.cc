// Exports next() as C symbols, to measure foreign function interfaces against Node-API
// (bench/ffi/run.ts). Not a part of the package.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "../../native/core/clock.h"
#include "../../native/core/generator.h"
#include "../../native/host/home.h"

namespace graupel {
namespace {

std::atomic<uint32_t> open_count{0};

// A generator of this thread, as native/binding/environment.h has it.
struct Own {
  Own(const Layout& layout, Home home_in, uint64_t* mailbox_in)
      : home(std::move(home_in)),
        access(&home.state(), layout),
        generator(&access, 1, {}),
        mailbox(mailbox_in) {
    UpdateAccess();
    ++open_count;
  }
  ~Own() {
    home.pages.Remember();
    --open_count;
  }

  void UpdateAccess() {
    access.state = &home.state();
    access.ceiling = home.ceiling();
    access.replaceable = home.page().get();
  }

  // 0 if the clock has to go on first.
  uint64_t Next() {
    uint64_t now_tick = 0;
    uint64_t id = 0;
    access.layout.ToTick(clock.NowMs(), &now_tick);
    const Status status = generator.Next(now_tick, &id);
    if (status == Status::kOk) [[likely]]
      return id;
    return After(status);
  }

  [[gnu::noinline]] uint64_t After(Status status) {
    if (status == Status::kMoved) {
      FollowHome(&home, [&] {
        UpdateAccess();
        return Fault();
      });
    }
    // The next call then has the present time, and not the reading that it may use again.
    clock.ReadMs();
    return 0;
  }

  Home home;
  ThreadAccess access;
  Generator generator;
  WallClock clock;
  uint64_t* const mailbox;
};

// No interface tells a library that its thread ends, so the thread's own end frees it.
thread_local std::unique_ptr<Own> owner;
// A pointer of this model is read without a call.
[[gnu::tls_model("initial-exec")]] thread_local Own* current = nullptr;

}  // namespace
}  // namespace graupel

#define EXPORT extern "C" [[gnu::visibility("default")]]

// Opens the page of `node` in a folder. `mailbox` lasts as long as the thread. Returns
// the kind of the fault.
EXPORT uint32_t graupel_open(const char* folder, uint64_t* mailbox, uint32_t node) {
  using namespace graupel;
  HomeOptions options;
  options.kind = StateKind::kHost;
  options.identity = {"ffi-" + std::to_string(node), "{}"};
  options.layout.epoch_ms = 1'577'836'800'000;
  options.layout.sequence_bits = 20;
  options.layout.timestamp_shift = 22;
  options.layout.node_bits = uint64_t{node} << 20;
  options.layout.max_tick = (uint64_t{1} << 41) - 1;
  options.rules.parent = folder;
  options.rules.now_ns = WallNs;
  options.layout.ToTick(FloorMs(WallNs()), &options.now_tick);
  Home home;
  const Fault fault = OpenHome(options, &home);
  if (!fault.IsNone()) return static_cast<uint32_t>(fault.kind);
  owner = std::make_unique<Own>(options.layout, std::move(home), mailbox);
  current = owner.get();
  return 0;
}

EXPORT uint64_t graupel_next() { return graupel::current->Next(); }

EXPORT void graupel_next_into() {
  *graupel::current->mailbox = graupel::current->Next();
}

// How many threads have a generator.
EXPORT uint32_t graupel_open_count() { return graupel::open_count; }

// Calls that do nothing.
EXPORT void graupel_nothing() {}
EXPORT uint32_t graupel_number() { return 7; }
EXPORT uint64_t graupel_bigint() { return uint64_t{1} << 60; }
