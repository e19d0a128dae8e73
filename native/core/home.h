#ifndef GRAUPEL_CORE_HOME_H_
#define GRAUPEL_CORE_HOME_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "durable_ceiling.h"
#include "fault.h"
#include "layout.h"
#include "page.h"
#include "state.h"

namespace graupel {

// How pages are found and begun.
struct PageRules {
  std::string parent;        // Where the folder of pages is; empty: the usual place.
  ClockNs now_ns = nullptr;  // The clock of the generators.
  // Whether that stands still; null where it need not be asked.
  bool (*stands_still)() = nullptr;
  // Once, where the claim of another engine is handed over (Page::Open).
  bool ignores_claim = false;
};

// Where a generator's word lives, and how far it may go. Copies share it.
struct Home {
  State* state = nullptr;
  std::string_view key;        // Of the identity; lasts as long as the process.
  std::shared_ptr<Page> page;  // Null: in the process.
  std::shared_ptr<DurableCeiling> ceiling;  // Null: no bound.
  PageRules rules;
};

// The numbers are the ones of src/engine/native.ts.
enum class Place : uint32_t { kProcess = 0, kHost = 1, kFile = 2 };

struct HomeOptions {
  Place place = Place::kProcess;
  Identity identity;
  Layout layout;
  std::string path;  // Of kFile; what it is for is the key without its first word.
  uint64_t window_ticks = 1;
  int lock_ms = 1000;  // For the locks of the file, all together.
  uint64_t now_tick = 0;
  // The key may be the js engine's so far: the caller carries its word over.
  bool takes_over = false;
  PageRules rules;
};

// There is one word for a key in a process: who asks for kProcess where the word
// has gone to a page gets the page, and who asks for a page takes the process's
// word there. Where the page has been made anew, this sleeps until the tick with which
// it begins, for one tick at the most.
Fault OpenHome(const HomeOptions& options, Home* home);

// For a home whose word is sealed or whose page is no longer the current one: the
// one where its slots are counted now, made if need be, with nothing forgotten.
Fault FollowHome(const Identity& identity, const Layout& layout, Home* home);

// Gives the home's state a history. `now_tick` is what an injected clock shows.
Fault RememberTicks(const Home& home, const Layout& layout, uint64_t now_tick);

}  // namespace graupel

#endif  // GRAUPEL_CORE_HOME_H_
