#ifndef GRAUPEL_HOST_HOME_H_
#define GRAUPEL_HOST_HOME_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "../core/external_ceiling.h"
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
  PageStep step;             // The claim's step that leaves the key to the page.
};

// The place and the bound of a generator's word. Copies share them.
struct Home {
  State* state = nullptr;
  std::string_view key;  // The identity's, in memory that lasts as long as the process.
  std::shared_ptr<Page> page;  // Null: the state is the process's own.
  // The bound; at most one of the two pointers is set.
  std::shared_ptr<DurableCeiling> file_ceiling;
  std::shared_ptr<ExternalCeiling> external_ceiling;
  PageRules rules;

  // Null: no bound.
  Ceiling* ceiling() const {
    if (file_ceiling != nullptr) return file_ceiling.get();
    return external_ceiling.get();
  }
};

// The place of the word, and the kind of its bound. src/state/engine.ts repeats the
// numbers.
enum class Place : uint32_t { kProcess = 0, kHost = 1 };
enum class Bound : uint32_t { kNone = 0, kFile = 1, kExternal = 2 };

struct HomeOptions {
  Place place = Place::kProcess;
  Bound bound = Bound::kNone;  // kFile needs kHost.
  Identity identity;
  Layout layout;
  std::string path;      // The state file, for Bound::kFile.
  std::string file_key;  // The key in that file, which src/state/key.ts makes.
  uint64_t window_ticks = 1;
  int lock_ms = 1000;  // For the locks of the file, all together; and for a tick.
  uint64_t now_tick = 0;
  PageRules rules;
};

// Opens the home of a key, whose process has one word for it: kProcess opens the page
// if the word has moved to a page, and kHost moves the process's word to the page.
// Sleeps until the next tick if the page has no slot before, as a new page does.
// kEarly if that takes longer than lock_ms.
Fault OpenHome(const HomeOptions& options, Home* home);

// Moves a home to the current page, if its word is sealed or its page is no longer at
// its path. Makes a page if there is none. The home continues above all slots that it
// is known to have issued.
Fault FollowHome(const Identity& identity, const Layout& layout, Home* home);

// Leaves the word of the home's page in the process's own state, before the home is
// released: the next page that this process opens for the key may be another page.
void RememberWord(const Home& home);

// Gives the home's state a history. `now_tick` is the reading of an injected clock.
Fault EnableHistory(const Home& home, const Layout& layout, uint64_t now_tick);

}  // namespace graupel

#endif  // GRAUPEL_HOST_HOME_H_
