#include "home.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "../core/clock.h"
#include "process_state.h"

namespace graupel {
namespace {

// How often pages may be sealed or deleted while a page is being opened.
constexpr int kMaxMoves = 16;

// The objects that this copy of the module has open, by name, so that each page is
// mapped once and each state file has one thread. Never destroyed, because worker
// threads may outlast the exit handlers.
template <typename T>
struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<T>> by_name;
  size_t sweep_at = 64;

  // The entry of a name, made if there is none. Unused entries are dropped each time
  // that their number may have doubled.
  std::weak_ptr<T>& Find(const std::string& name) {
    if (by_name.size() >= sweep_at) {
      std::erase_if(by_name, [](const auto& entry) { return entry.second.expired(); });
      sweep_at = std::max<size_t>(64, 2 * by_name.size());
    }
    return by_name[name];
  }
};

void LeavePages();
void LeaveOwnPages();

Registry<Page>& OpenPages() {
  static auto& pages = *new Registry<Page>;
  [[maybe_unused]] static const int registered = std::atexit(LeavePages);
#if defined(__linux__)
  [[maybe_unused]] static const int quickly = std::at_quick_exit(LeaveOwnPages);
#endif
  return pages;
}

// The threads that have opened pages. Guarded by the mutex of OpenPages().
struct Openers {
  std::thread::id first;
  bool are_several = false;

  void Add(std::thread::id thread) {
    if (first == std::thread::id()) first = thread;
    if (first != thread) are_several = true;
  }
};
Openers openers;

void Leave(bool only_own) {
  Registry<Page>& pages = OpenPages();
  const std::unique_lock<std::mutex> lock(pages.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const bool are_own =
      !openers.are_several && openers.first == std::this_thread::get_id();
  if (only_own && !are_own) return;
  for (const auto& [name, known] : pages.by_name) {
    if (const std::shared_ptr<Page> page = known.lock()) page->Leave();
  }
}

// process.exit() ends JavaScript in all threads, and destroys no page.
void LeavePages() { Leave(false); }

// Bun ends by quick_exit(), while other threads may still make ids. So the entries stay
// if another thread than the ending thread has opened a page.
[[maybe_unused]] void LeaveOwnPages() { Leave(true); }

Registry<DurableCeiling>& OpenCeilings() {
  static auto& ceilings = *new Registry<DurableCeiling>;
  return ceilings;
}

// A key has one ceiling, so that the generators of a thread find their common run.
std::shared_ptr<ExternalCeiling> ExternalCeilingOf(const std::string& key,
                                                   State& process_state) {
  static auto& ceilings = *new Registry<ExternalCeiling>;
  const std::lock_guard<std::mutex> lock(ceilings.mutex);
  std::weak_ptr<ExternalCeiling>& known = ceilings.Find(key);
  std::shared_ptr<ExternalCeiling> ceiling = known.lock();
  if (ceiling == nullptr) ceiling = std::make_shared<ExternalCeiling>(process_state);
  known = ceiling;
  return ceiling;
}

Fault CheckWord(const Page& page, const Layout& layout) {
  const uint64_t word = page.state().word.load(std::memory_order_relaxed);
  const uint64_t high_tick = page.state().high_tick.load(std::memory_order_relaxed);
  const int64_t history_at = page.state().history_at.load(std::memory_order_relaxed);
  const uint64_t last = page.state().last.load(std::memory_order_relaxed);
  const auto is_slot = [&](uint64_t slot) {
    return slot == 0 || layout.TickOf(slot - 1) <= layout.max_tick;
  };
  const bool is_sound = (word == kSealed || is_slot(word)) && is_slot(last);
  const bool has_sound_history =
      history_at == 0 ||
      history_at == static_cast<int64_t>(Page::kHistoryAt - Page::kStateAt);
  if (is_sound && has_sound_history && high_tick <= layout.max_tick) return {};
  return Fault::Of(Fault::Kind::kCorrupt, page.path(),
                   "its numbers do not fit the layout");
}

Fault AsPageFault(Fault fault) {
  if (fault.subject == Fault::Subject::kFile) fault.subject = Fault::Subject::kPage;
  return fault;
}

// Prevents reservations below `slot`. If the word is already at `slot` or above, the
// history keeps its floor.
void Continue(State& state, uint64_t slot, uint64_t high_tick) {
  if (state.word.load(std::memory_order_acquire) >= slot) return;
  RaiseFloor(state, slot);
  // [high] A clock that shows an earlier tick has stepped back.
  RaiseTo(state.high_tick, high_tick);
}

// Moves the word from one page to another, unless both are the same memory.
bool Move(const Page* from, const Page& to) {
  return from == nullptr || from->IsSameAs(to) || MoveTo(from->state(), to.state());
}

// The current page for a key. It continues with the word of `former`, if there is one.
Fault CurrentPage(const Identity& identity, const Layout& layout,
                  const PageRules& rules, const Page* former,
                  std::shared_ptr<Page>* page) {
  Registry<Page>& pages = OpenPages();
  const std::lock_guard<std::mutex> lock(pages.mutex);
  openers.Add(std::this_thread::get_id());
  std::weak_ptr<Page>& known = pages.Find(identity.key);
  std::string path;
  for (int i = 0; i < kMaxMoves; ++i) {
    std::shared_ptr<Page> found = known.lock();
    // [last] Threads that have released the page left its word before the release.
    std::atomic_thread_fence(std::memory_order_acquire);
    std::shared_ptr<Page> old;
    Fault fault;
    if (found == nullptr || !found->IsCurrent()) {
      old = std::move(found);
      const Page* const before = old != nullptr ? old.get() : former;
      fault = Page::Open(identity, rules.parent, before, &found);
      const bool is_known = rules.step.name.empty() && before != nullptr;
      if (fault.IsNone()) {
        fault = found->CheckClaim(is_known ? before->step() : rules.step);
      }
      if (fault.IsNone()) fault = CheckWord(*found, layout);
    }
    if (fault.IsNone()) fault = found->Begin(layout, rules.now_ns);
    // The page was deleted since it was found.
    if (fault.kind == Fault::Kind::kLost) continue;
    if (!fault.IsNone()) return AsPageFault(std::move(fault));
    const uint64_t floor = found->step().floor;
    if (floor > 0) Continue(found->state(), floor, layout.TickOf(floor - 1));
    // Moved only now, because a page is sealed after its successor is open.
    if (!Move(old.get(), *found) || !Move(former, *found)) continue;
    known = found;
    path = found->path();
    if (found->state().word.load(std::memory_order_relaxed) != kSealed) {
      *page = std::move(found);
      return {};
    }
  }
  return AsPageFault(Fault::Of(Fault::Kind::kLost, path, "deleted again and again"));
}

// Waits for the next tick if the page has no slot before. A new page begins with the
// tick after the clock's, so a first id without this wait would be an overflow.
Fault AwaitTick(const Page& page, const HomeOptions& options) {
  const Layout& layout = options.layout;
  constexpr int64_t kNsPerMs = SteadyTime::kNsPerMs;
  const int64_t tick_ns = layout.tick_ms * kNsPerMs;
  const int64_t epoch_ns = layout.epoch_ms * kNsPerMs;
  // Counted, not measured: a tool that stops the clock may stop the monotonic clock.
  int64_t budget_ns = options.lock_ms * kNsPerMs;
  const uint64_t word = page.state().word.load(std::memory_order_relaxed);
  for (;;) {
    const int64_t now_ns = options.rules.now_ns();
    uint64_t now_tick;
    if (!layout.ToTick(FloorMs(now_ns), &now_tick)) return {};
    if (word != layout.FirstSlot(now_tick + 1)) return {};
    const int64_t left_ns = tick_ns - (now_ns - epoch_ns) % tick_ns;
    budget_ns -= left_ns;
    if (budget_ns < 0) {
      return {.kind = Fault::Kind::kEarly,
              .path = page.path(),
              .subject = Fault::Subject::kPage,
              .wait_ms = left_ns / kNsPerMs + 1};
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
  }
}

// A null ceiling without a fault means that the page is sealed.
Fault FileCeilingOf(const HomeOptions& options, const std::shared_ptr<Page>& page,
                    std::shared_ptr<DurableCeiling>* ceiling) {
  Registry<DurableCeiling>& ceilings = OpenCeilings();
  const std::lock_guard<std::mutex> lock(ceilings.mutex);
  const std::string name = options.path + '\0' + options.identity.key + '\0' +
                           std::to_string(options.window_ticks);
  std::weak_ptr<DurableCeiling>& known = ceilings.Find(name);
  *ceiling = known.lock();
  if (*ceiling != nullptr && (*ceiling)->IsCurrent()) {
    (*ceiling)->Follow(page);
    return {};
  }
  ceiling->reset();
  const Identity in_file{options.file_key, options.identity.description};
  const Fault fault =
      DurableCeiling::Open({options.path, in_file, options.layout, options.window_ticks,
                            options.now_tick, options.lock_ms},
                           page, ceiling);
  known = *ceiling;
  return fault;
}

}  // namespace

Fault OpenHome(const HomeOptions& options, Home* home) {
  *home = Home{};
  home->rules = options.rules;
  State& own = ProcessState(options.identity.key, &home->key);
  home->state = &own;
  if (options.bound == Bound::kExternal) {
    home->external_ceiling = ExternalCeilingOf(options.identity.key, own);
  }
  if (options.place == Place::kProcess &&
      own.word.load(std::memory_order_acquire) != kSealed) {
    return {};
  }
  for (int i = 0; i < kMaxMoves; ++i) {
    Fault fault = CurrentPage(options.identity, options.layout, options.rules, nullptr,
                              &home->page);
    if (!fault.IsNone()) return fault;
    home->state = &home->page->state();
    if (!MoveTo(own, *home->state)) continue;
    // The word of a page that this process had open before.
    Continue(*home->state, own.last.load(), own.high_tick.load());
    if (options.bound == Bound::kFile) {
      fault = FileCeilingOf(options, home->page, &home->file_ceiling);
      if (!fault.IsNone()) return fault;
      if (home->file_ceiling == nullptr) continue;
    }
    if (options.rules.now_ns == nullptr) return {};
    return AwaitTick(*home->page, options);
  }
  return AsPageFault(
      Fault::Of(Fault::Kind::kLost, home->page->path(), "replaced again and again"));
}

Fault FollowHome(const Identity& identity, const Layout& layout, Home* home) {
  std::shared_ptr<Page> page;
  const Fault fault =
      CurrentPage(identity, layout, home->rules, home->page.get(), &page);
  if (!fault.IsNone()) return fault;
  if (home->file_ceiling != nullptr) home->file_ceiling->Follow(page);
  home->state = &page->state();
  home->page = std::move(page);
  return {};
}

void RememberWord(const Home& home) {
  if (home.page == nullptr) return;
  const State& state = home.page->state();
  State& own = ProcessState(home.key);
  const uint64_t word = state.word.load(std::memory_order_acquire);
  // [last] Before the page is released, which is a release operation.
  RaiseTo(own.last, word != kSealed ? word : state.last.load());
  RaiseTo(own.high_tick, state.high_tick.load(std::memory_order_relaxed));
}

Fault EnableHistory(const Home& home, const Layout& layout, uint64_t now_tick) {
  if (home.rules.now_ns != nullptr) {
    layout.ToTick(FloorMs(home.rules.now_ns()), &now_tick);
  }
  if (home.page == nullptr) {
    auto* memory = new History();
    if (!EnableHistory(*home.state, layout, now_tick, memory)) delete memory;
    return {};
  }
  History* memory;
  Fault fault = home.page->HistoryMemory(&memory);
  if (!fault.IsNone()) return AsPageFault(std::move(fault));
  EnableHistory(*home.state, layout, now_tick, memory);
  return {};
}

}  // namespace graupel
