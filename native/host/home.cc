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
#include "../core/reuse.h"
#include "../core/succession.h"
#include "process_state.h"

namespace graupel {
namespace {

// How often a word may move before the process gives up.
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

void LeavePages(bool only_own);

Registry<Page>& OpenPages() {
  static auto& pages = *new Registry<Page>;
  // process.exit() ends JavaScript in all threads, and destroys no page.
  [[maybe_unused]] static const int registered = std::atexit([] { LeavePages(false); });
#if defined(__linux__)
  // Bun ends by quick_exit(), while other threads may still make ids. So the entries
  // stay if another thread than the ending thread has opened a page.
  [[maybe_unused]] static const int quickly =
      std::at_quick_exit([] { LeavePages(true); });
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

void LeavePages(bool only_own) {
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

// The object that the process shares under a name, made of `value` if there is none.
template <typename T, typename Value>
std::shared_ptr<T> Shared(const std::string& name, Value& value) {
  static auto& objects = *new Registry<T>;
  const std::lock_guard<std::mutex> lock(objects.mutex);
  std::weak_ptr<T>& known = objects.Find(name);
  std::shared_ptr<T> object = known.lock();
  if (object == nullptr) known = object = std::make_shared<T>(value);
  return object;
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

// kMoved if the page is sealed.
Fault FileCeilingOf(const HomeOptions& options, const std::shared_ptr<Page>& page,
                    std::shared_ptr<DurableCeiling>* ceiling) {
  static auto& ceilings = *new Registry<DurableCeiling>;
  const std::lock_guard<std::mutex> lock(ceilings.mutex);
  const std::string name = options.path + '\0' + options.identity.key + '\0' +
                           std::to_string(options.reserve_ticks);
  std::weak_ptr<DurableCeiling>& known = ceilings.Find(name);
  *ceiling = known.lock();
  if (*ceiling != nullptr && (*ceiling)->IsCurrent()) {
    (*ceiling)->Follow(page);
    return {};
  }
  ceiling->reset();
  const Identity in_file{options.file_key, options.identity.description};
  const Fault fault = DurableCeiling::Open(
      {options.path, in_file, options.layout, options.reserve_ticks, options.now_tick,
       options.open_timeout_ms},
      page, ceiling);
  known = *ceiling;
  return fault;
}

}  // namespace

PageChain::PageChain(const Identity& identity, const Layout& layout,
                     const PageRules& rules)
    // Shared, because a thousand keys may have one description.
    : description_(
          Shared<const std::string>(identity.description, identity.description)),
      layout_(layout),
      rules_(rules) {
  own_ = &ProcessState(identity.key, &key_);
}

Fault PageChain::Follow(const std::function<Fault()>& use) {
  for (int moves = 1;; ++moves) {
    const char* change = "deleted again and again";
    Fault fault = AsPageFault(MoveToNext());
    if (fault.IsNone()) {
      change = "replaced again and again";
      fault = use();
    }
    if (fault.kind != Fault::Kind::kMoved) return fault;
    if (moves == kMaxMoves) {
      return AsPageFault(Fault::Of(Fault::Kind::kLost, fault.path, change));
    }
  }
}

Fault PageChain::MoveToNext() {
  Registry<Page>& pages = OpenPages();
  const std::lock_guard<std::mutex> lock(pages.mutex);
  openers.Add(std::this_thread::get_id());
  std::weak_ptr<Page>& known = pages.Find(std::string(key_));
  std::shared_ptr<Page> page = known.lock();
  // [last] Threads that have released the page left its word before the release.
  std::atomic_thread_fence(std::memory_order_acquire);
  std::shared_ptr<Page> former;
  Fault fault;
  if (page == nullptr || !page->IsCurrent()) {
    former = std::move(page);
    fault = OpenPage(former != nullptr ? former.get() : page_.get(), &page);
  }
  if (fault.IsNone()) fault = page->Begin(layout_, rules_.now_ns);
  if (!fault.IsNone()) return fault;
  State& state = page->state();
  const uint64_t floor = page->link().floor;
  if (floor > 0) Continue(state, floor, layout_.TickOf(floor - 1));
  // Moved only now, because a word is sealed after its successor is open.
  const bool has_words =
      Move(former.get(), *page) && Move(page_.get(), *page) && MoveTo(*own_, state);
  if (has_words) {
    // The word of a page that this process had open before.
    Continue(state, own_->last.load(), own_->high_tick.load());
    known = page;
    page_ = page;
  }
  const bool is_sealed = state.word.load(std::memory_order_relaxed) == kSealed;
  return has_words && !is_sealed ? Fault()
                                 : Fault::Of(Fault::Kind::kMoved, page->path());
}

// Opens the page at the path, or makes one that follows `former`.
Fault PageChain::OpenPage(const Page* former, std::shared_ptr<Page>* page) const {
  // The link by which the process was last let into a page beside a claim, by the
  // page's path: a chain without a link may follow. Guarded by the mutex of
  // OpenPages().
  static auto& links = *new std::unordered_map<std::string, PageLink>;
  const Identity identity{std::string(key_), *description_};
  const Fault fault = Page::Open(identity, rules_.parent, former, page);
  if (!fault.IsNone()) return fault;
  const std::string& path = (*page)->path();
  const auto known = links.find(path);
  const bool is_known = rules_.link.name.empty() && known != links.end();
  Fault claimed = (*page)->CheckClaim(is_known ? known->second : rules_.link);
  const PageLink& link = (*page)->link();
  if (claimed.IsNone() && !link.name.empty()) links[path] = link;
  return claimed;
}

void PageChain::Remember() const {
  if (page_ == nullptr) return;
  const State& state = page_->state();
  const uint64_t word = state.word.load(std::memory_order_acquire);
  // [last] Before the page is released, which is a release operation.
  RaiseTo(own_->last, word != kSealed ? word : state.last.load());
  RaiseTo(own_->high_tick, state.high_tick.load(std::memory_order_relaxed));
}

Fault PageChain::EnableHistory(uint64_t now_tick) const {
  if (rules_.now_ns != nullptr) layout_.ToTick(FloorMs(rules_.now_ns()), &now_tick);
  History* memory;
  if (page_ != nullptr) {
    Fault fault = page_->HistoryMemory(&memory);
    if (!fault.IsNone()) return AsPageFault(std::move(fault));
  } else {
    memory = new History();
  }
  const bool is_used = graupel::EnableHistory(state(), layout_, now_tick, memory);
  if (page_ == nullptr && !is_used) delete memory;
  return {};
}

Fault PageChain::AwaitTick(int timeout_ms) const {
  // An injected clock shows what its program wants.
  if (rules_.now_ns == nullptr) return {};
  constexpr int64_t kNsPerMs = SteadyTime::kNsPerMs;
  // Counted, not measured: a tool that stops the clock may stop the monotonic clock.
  int64_t budget_ns = timeout_ms * kNsPerMs;
  const uint64_t word = page_->state().word.load(std::memory_order_relaxed);
  for (;;) {
    const int64_t now_ns = rules_.now_ns();
    const int64_t now_ms = FloorMs(now_ns);
    uint64_t now_tick;
    if (!layout_.ToTick(now_ms, &now_tick)) return {};
    if (word != layout_.FirstSlot(now_tick + 1)) return {};
    // In milliseconds, because an epoch before 1677 has no nanoseconds in 64 bits.
    const int64_t left_ms =
        layout_.tick_ms - (now_ms - layout_.epoch_ms) % layout_.tick_ms;
    // The rest of a long tick may have more nanoseconds than 64 bits hold, too.
    const bool is_far = left_ms - 1 > budget_ns / kNsPerMs;
    const int64_t left_ns = is_far ? 0 : (left_ms + now_ms) * kNsPerMs - now_ns;
    if (is_far || left_ns > budget_ns) {
      return {.kind = Fault::Kind::kEarly,
              .path = page_->path(),
              .subject = Fault::Subject::kPage,
              .wait_ms = left_ms};
    }
    budget_ns -= left_ns;
    std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
  }
}

Fault OpenHome(const HomeOptions& options, Home* home) {
  *home = {PageChain(options.identity, options.layout, options.rules), {}, {}};
  State& own = home->pages.own();
  const StateKind kind = options.kind;
  if (kind == StateKind::kLease) {
    // A key has one ceiling, so that the generators of a thread find their common run.
    home->external_ceiling =
        Shared<ExternalCeiling>(options.identity.key, own.external_ceiling);
  }
  const bool needs_page = kind == StateKind::kHost || kind == StateKind::kFile;
  if (!needs_page && own.word.load(std::memory_order_acquire) != kSealed) return {};
  const Fault fault = home->pages.Follow([&] {
    if (kind != StateKind::kFile) return Fault();
    return FileCeilingOf(options, home->page(), &home->file_ceiling);
  });
  return fault.IsNone() ? home->pages.AwaitTick(options.open_timeout_ms) : fault;
}

Fault FollowHome(Home* home, const std::function<Fault()>& use) {
  return home->pages.Follow([&] {
    if (home->file_ceiling != nullptr) home->file_ceiling->Follow(home->page());
    return use();
  });
}

}  // namespace graupel
