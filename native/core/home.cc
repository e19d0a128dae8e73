#include "home.h"

#include <mutex>
#include <unordered_map>
#include <utility>

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
  const bool is_sound =
      word == kSealed || word == 0 || layout.TickOf(word - 1) <= layout.max_tick;
  const bool has_sound_history =
      history_at == 0 ||
      history_at == static_cast<int64_t>(Page::kHistoryAt - Page::kStateAt);
  if (is_sound && has_sound_history && high_tick <= layout.max_tick) return {};
  return Fault::Of(Fault::Kind::kCorrupt, page.path(),
                   "its word is not one that the layout can have");
}

Fault OfPage(Fault fault) {
  fault.is_page = true;
  return fault;
}

// The current page for a key. What `former` counts, if there is one, goes on in it.
Fault CurrentPage(const Identity& identity, const Layout& layout, const Page* former,
                  std::shared_ptr<Page>* page) {
  Registry<Page>& pages = OpenPages();
  const std::lock_guard<std::mutex> lock(pages.mutex);
  std::weak_ptr<Page>& known = pages.by_name[identity.key];
  std::string path;
  for (int i = 0; i < kMostMoves; ++i) {
    std::shared_ptr<Page> found = known.lock();
    if (found == nullptr || !found->IsCurrent()) {
      const std::shared_ptr<Page> old = std::move(found);
      const Page* const source = old != nullptr ? old.get() : former;
      Fault fault = Page::Open(identity, source, &found);
      if (fault.IsNone()) fault = CheckWord(*found, layout);
      if (!fault.IsNone()) return OfPage(std::move(fault));
      if (source != nullptr && !MoveTo(source->state(), found->state())) continue;
      known = found;
    }
    if (former != nullptr && former != found.get() &&
        !MoveTo(former->state(), found->state())) {
      continue;
    }
    path = found->path();
    if (found->state().word.load(std::memory_order_relaxed) != kSealed) {
      *page = std::move(found);
      return {};
    }
    known.reset();
  }
  return OfPage(
      Fault::Of(Fault::Kind::kCorrupt, path, "its slots are counted in another page"));
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
  const Fault fault =
      DurableCeiling::Open({options.path, WithoutClock(options.identity),
                            options.layout, options.window_ticks, options.now_tick},
                           page, ceiling);
  known = *ceiling;
  return fault;
}

}  // namespace

Fault OpenHome(const HomeOptions& options, Home* home) {
  *home = Home{};
  State& own = ProcessState(options.identity.key, &home->key);
  home->state = &own;
  if (options.place == Place::kProcess &&
      own.word.load(std::memory_order_acquire) != kSealed) {
    return {};
  }
  for (int i = 0; i < kMostMoves; ++i) {
    Fault fault = CurrentPage(options.identity, options.layout, nullptr, &home->page);
    if (!fault.IsNone()) return fault;
    home->state = &home->page->state();
    if (!MoveTo(own, *home->state)) continue;
    if (options.place != Place::kFile) return {};
    fault = CeilingOf(options, home->page, &home->ceiling);
    if (!fault.IsNone() || home->ceiling != nullptr) return fault;
  }
  return Fault::Of(Fault::Kind::kBusy, home->page->path());
}

Fault FollowHome(const Identity& identity, const Layout& layout, Home* home) {
  std::shared_ptr<Page> page;
  const Fault fault = CurrentPage(identity, layout, home->page.get(), &page);
  if (!fault.IsNone()) return fault;
  if (home->ceiling != nullptr) home->ceiling->Follow(page);
  home->state = &page->state();
  home->page = std::move(page);
  return {};
}

Fault RememberTicks(const Home& home, const Layout& layout, uint64_t now_tick) {
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
