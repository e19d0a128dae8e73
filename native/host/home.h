#ifndef GRAUPEL_HOST_HOME_H_
#define GRAUPEL_HOST_HOME_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "../core/ceiling.h"
#include "../core/layout.h"
#include "../core/state.h"
#include "durable_ceiling.h"
#include "fault.h"
#include "page.h"

namespace graupel {

// The rules by which pages are found and begun.
struct PageRules {
  std::string parent;        // Has the folder of pages; empty: the usual place.
  ClockNs now_ns = nullptr;  // The clock of the generators.
  PageLink link;             // The claim's link that leaves the key to the page.
};

// The word of a key: in the process's own state, and then in one page after another. A
// word that is sealed, or whose page is no longer at its path, moves to the next page.
class PageChain {
 public:
  PageChain() = default;
  PageChain(const Identity& identity, const Layout& layout, const PageRules& rules);

  // The page that Follow() found; null while the word is the process's own.
  const std::shared_ptr<Page>& Current() const { return page_; }
  State& state() const { return page_ == nullptr ? *own_ : page_->state(); }
  // The process's own state, which is the same for every chain of the key.
  State& own() const { return *own_; }

  // Moves the word to the page at the path, which is made if there is none, above all
  // slots that this process is known to have issued. Then calls `use`. Both are done
  // again while `use` returns kMoved.
  Fault Follow(const std::function<Fault()>& use);

  // Leaves the page's word in the process's own state, before the page is released: the
  // next page that this process opens for the key may be another page.
  void Remember() const;

  // Gives the state a history, from `now_tick` on if the rules have no clock: an
  // injected clock cannot be read here, and the state of a lease begins at a floor.
  // Returns kMoved if the page is no longer at its path.
  Fault EnableHistory(uint64_t now_tick) const;

  // Sleeps until the next tick if the page has no slot before, as a new page does.
  // kEarly if that takes longer than `timeout_ms`.
  Fault AwaitTick(int timeout_ms) const;

 private:
  Fault MoveToNext();
  Fault OpenPage(const Page* former, std::shared_ptr<Page>* page) const;

  std::string_view key_;  // In memory that lasts as long as the process.
  State* own_ = nullptr;
  std::shared_ptr<const std::string> description_;
  Layout layout_;
  PageRules rules_;
  std::shared_ptr<Page> page_;
};

// The memory and the bound of a generator's word.
struct Home {
  PageChain pages;
  // The bound; at most one of the two pointers is set.
  std::shared_ptr<DurableCeiling> file_ceiling;
  std::shared_ptr<ExternalCeiling> external_ceiling;

  State& state() const { return pages.state(); }
  const std::shared_ptr<Page>& page() const { return pages.Current(); }
  // Null: no bound.
  Ceiling* ceiling() const {
    if (file_ceiling != nullptr) return file_ceiling.get();
    return external_ceiling.get();
  }
};

// The memory and the bound of the word, as StateSpec of src/state/engine.ts describes
// them. kThread is kProcess: all threads reach the memory of the process.
enum class StateKind : uint32_t {
  kProcess = 0,
  kThread = 1,
  kHost = 2,
  kLease = 3,
  kFile = 4
};

struct HomeOptions {
  StateKind kind = StateKind::kProcess;
  Identity identity;
  Layout layout;
  std::string path;      // The state file, for StateKind::kFile.
  std::string file_key;  // The key in that file, which src/state/key.ts makes.
  uint64_t reserve_ticks = 1;
  int open_timeout_ms =
      1000;  // For the locks of the file, all together; and for a tick.
  uint64_t now_tick = 0;
  PageRules rules;
};

// Opens the home of a key, whose process has one word for it: kHost and kFile move the
// process's word to the page, and the others open the page if the word is there.
Fault OpenHome(const HomeOptions& options, Home* home);

// PageChain::Follow(), with the state file.
Fault FollowHome(
    Home* home, const std::function<Fault()>& use = [] { return Fault(); });

}  // namespace graupel

#endif  // GRAUPEL_HOST_HOME_H_
