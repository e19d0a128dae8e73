#include "home.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "clock.h"
#include "process_state.h"

namespace graupel {
namespace {

// Sealed pages and their successors, which others may seal in turn.
constexpr int kMostMoves = 16;

// The pages that this copy of the module has open, so that each is mapped once.
// And the ceilings, so that there is one thread for each state file. Never
// destroyed, as worker threads may outlast the exit handlers.
template <typename T>
struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<T>> by_name;
};

Registry<Page>& OpenPages() {
  static auto& pages = *new Registry<Page>;
  return pages;
}

Registry<DurableCeiling>& OpenCeilings() {
  static auto& ceilings = *new Registry<DurableCeiling>;
  return ceilings;
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
                   "its word is not one that the layout can have");
}

Fault OfPage(Fault fault) {
  if (fault.subject == Fault::Subject::kFile) fault.subject = Fault::Subject::kPage;
  return fault;
}

// As MoveTo, unless both are the same memory.
bool Move(const Page* from, const Page& to) {
  return from == nullptr || from->IsSameAs(to) || MoveTo(from->state(), to.state());
}

// The current page for a key. What `former` counts, if there is one, goes on in it.
Fault CurrentPage(const Identity& identity, const Layout& layout,
                  const PageRules& rules, const Page* former,
                  std::shared_ptr<Page>* page) {
  Registry<Page>& pages = OpenPages();
  const std::lock_guard<std::mutex> lock(pages.mutex);
  std::weak_ptr<Page>& known = pages.by_name[identity.key];
  std::string path;
  for (int i = 0; i < kMostMoves; ++i) {
    std::shared_ptr<Page> found = known.lock();
    std::shared_ptr<Page> old;
    Fault fault;
    if (found == nullptr || !found->IsCurrent()) {
      old = std::move(found);
      fault = Page::Open(identity, rules.parent, old != nullptr ? old.get() : former,
                         &found);
      if (fault.IsNone() && !rules.ignores_claim) fault = found->CheckClaim();
      if (fault.IsNone()) fault = CheckWord(*found, layout);
    }
    if (fault.IsNone()) fault = found->Begin(layout, rules.now_ns, rules.stands_still);
    // Deleted since it was found.
    if (fault.kind == Fault::Kind::kLost) continue;
    if (!fault.IsNone()) return OfPage(std::move(fault));
    // Only now: a page is not sealed before its successor is open.
    if (!Move(old.get(), *found) || !Move(former, *found)) continue;
    known = found;
    path = found->path();
    if (found->state().word.load(std::memory_order_relaxed) != kSealed) {
      *page = std::move(found);
      return {};
    }
  }
  return OfPage(Fault::Of(Fault::Kind::kLost, path, "deleted again and again"));
}

// A page that was made anew begins with the tick after the clock's. Waited for here,
// the first id does not find a tick that is used up.
void AwaitBeginning(const Page& page, const Layout& layout, ClockNs now_ns) {
  const uint64_t word = page.state().word.load(std::memory_order_relaxed);
  const int64_t tick_ns = layout.tick_ms * SteadyTime::kNsPerMs;
  const int64_t end_ns = MonotonicNs() + tick_ns;
  uint64_t now_tick;
  for (;;) {
    const int64_t now = now_ns();
    if (!layout.ToTick(FloorMs(now), &now_tick)) return;
    if (word != layout.FirstSlot(now_tick + 1) || MonotonicNs() >= end_ns) return;
    const int64_t epoch_ns = layout.epoch_ms * SteadyTime::kNsPerMs;
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(tick_ns - (now - epoch_ns) % tick_ns));
  }
}

// The identity of a state file: whichever clock is used, the ids are the same.
Identity WithoutClock(const Identity& identity) {
  return {identity.key.substr(identity.key.find(' ') + 1), identity.description};
}

// Without a fault and a ceiling: the page is sealed.
Fault CeilingOf(const HomeOptions& options, const std::shared_ptr<Page>& page,
                std::shared_ptr<DurableCeiling>* ceiling) {
  Registry<DurableCeiling>& ceilings = OpenCeilings();
  const std::lock_guard<std::mutex> lock(ceilings.mutex);
  const std::string name = options.path + '\0' + options.identity.key + '\0' +
                           std::to_string(options.window_ticks);
  std::weak_ptr<DurableCeiling>& known = ceilings.by_name[name];
  *ceiling = known.lock();
  if (*ceiling != nullptr && (*ceiling)->IsCurrent()) {
    (*ceiling)->Follow(page);
    return {};
  }
  ceiling->reset();
  const Fault fault = DurableCeiling::Open(
      {options.path, WithoutClock(options.identity), options.layout,
       options.window_ticks, options.now_tick, options.lock_ms},
      page, ceiling);
  known = *ceiling;
  return fault;
}

}  // namespace

Fault OpenHome(const HomeOptions& options, Home* home) {
  *home = Home{};
  home->rules = options.rules;
  home->rules.ignores_claim = false;
  State& own = ProcessState(options.identity.key, &home->key);
  home->state = &own;
  if (options.takes_over) {
    own.engine.store(static_cast<uint32_t>(Engine::kNative));
  } else if (!CountsIn(own, Engine::kNative)) {
    return Fault::Of(Fault::Kind::kOtherEngine, {});
  }
  if (options.place == Place::kProcess &&
      own.word.load(std::memory_order_acquire) != kSealed) {
    return {};
  }
  for (int i = 0; i < kMostMoves; ++i) {
    Fault fault = CurrentPage(options.identity, options.layout, options.rules, nullptr,
                              &home->page);
    if (!fault.IsNone()) return fault;
    home->state = &home->page->state();
    if (!MoveTo(own, *home->state)) continue;
    if (options.place == Place::kFile) {
      fault = CeilingOf(options, home->page, &home->ceiling);
      if (!fault.IsNone()) return fault;
      if (home->ceiling == nullptr) continue;
    }
    if (options.rules.now_ns != nullptr) {
      AwaitBeginning(*home->page, options.layout, options.rules.now_ns);
    }
    return {};
  }
  return Fault::Of(Fault::Kind::kBusy, home->page->path());
}

Fault FollowHome(const Identity& identity, const Layout& layout, Home* home) {
  std::shared_ptr<Page> page;
  const Fault fault =
      CurrentPage(identity, layout, home->rules, home->page.get(), &page);
  if (!fault.IsNone()) return fault;
  if (home->ceiling != nullptr) home->ceiling->Follow(page);
  home->state = &page->state();
  home->page = std::move(page);
  return {};
}

Fault RememberTicks(const Home& home, const Layout& layout, uint64_t now_tick) {
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
  if (!fault.IsNone()) return OfPage(std::move(fault));
  EnableHistory(*home.state, layout, now_tick, memory);
  return {};
}

}  // namespace graupel
