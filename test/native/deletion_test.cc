// Pages that are deleted, put back and sealed, step by step and within one tick: the
// processes that still use them and the processes that make new ones issue distinct
// slots.

#include <memory>
#include <vector>

#include "../../native/core/clock.h"
#include "../../native/host/home.h"
#include "maker.h"
#include "scratch.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace deletion {
namespace {

const Layout kLayout = MakeLayout(41, 10, 6, 5);

std::atomic<int64_t> now_ms;
int64_t FakeNs() { return now_ms * 1'000'000; }

uint64_t NowTick() { return static_cast<uint64_t>(now_ms); }

// A process with a page that it opened itself. Users of native/host/home.h in one
// process would share one table of pages.
class Other {
 public:
  explicit Other(const HomeOptions& options) : options_(options) { Open(nullptr); }

  // Opens the page at the path, which goes on with the word of `former`.
  void Open(const Page* former) {
    std::shared_ptr<Page> found;
    Fault fault = Page::Open(options_.identity, "", former, &found);
    if (fault.IsNone()) fault = found->Begin(kLayout, options_.rules.now_ns);
    CHECK(fault.IsNone(), fault.kind, fault.error);
    if (former != nullptr) CHECK(MoveTo(page->state(), found->state()));
    page = std::move(found);
  }
  void Follow() { Open(page.get()); }

  // Takes the slots that are left in the clock's tick, up to `count`. The path is not
  // checked again, because it was checked in this tick.
  size_t Take(size_t count) {
    SlotRange range;
    SequenceStart start;
    const Status status = Reserve(page->state(), kLayout,
                                  Want(NowTick(), NowTick(), count), start, &range);
    if (status != Status::kOk) return 0;
    for (uint64_t i = 0; i < range.count; ++i) slots.push_back(range.first + i);
    return static_cast<size_t>(range.count);
  }

  std::shared_ptr<Page> page;
  std::vector<uint64_t> slots;

 private:
  const HomeOptions options_;
};

HomeOptions NewOptions(Scratch& scratch) {
  now_ms = 1'000'000;
  HomeOptions options;
  options.kind = StateKind::kHost;
  options.identity = scratch.NewIdentity();
  options.layout = kLayout;
  options.rules.now_ns = FakeNs;
  options.open_timeout_ms = 0;
  return options;
}

void CheckApart(const Maker& maker, const Other& other) {
  std::vector<uint64_t> slots = maker.slots;
  slots.insert(slots.end(), other.slots.begin(), other.slots.end());
  CheckNoneTwice(slots);
}

void ANewPageBeginsAfterTheTickOfTheDeletion(Scratch& scratch) {
  Maker maker(NewOptions(scratch));
  CHECK(maker.Take(NowTick(), 3) == 0);
  ++now_ms;
  CHECK(maker.Take(NowTick(), 3) == 3);
  Scratch::Remove(maker.home().page()->path());
  Other other(maker.options());
  CHECK(other.Take(3) == 0);
  // The process has checked the path in this tick.
  CHECK(maker.Take(NowTick(), 3) == 3);
  ++now_ms;
  CHECK(other.Take(3) == 3 && maker.Take(NowTick(), 3) == 3 && other.Take(3) == 3);
  CheckApart(maker, other);
  CHECK(maker.home().page()->IsSameAs(*other.page));
}

// Other processes have left this page for a page that was deleted, too.
void SoDoesOneThatFollowsASealedPage(Scratch& scratch) {
  const HomeOptions options = NewOptions(scratch);
  Maker maker(options);
  Other other(options);
  ++now_ms;
  CHECK(other.Take(3) == 3 && maker.Take(NowTick(), 3) == 3);
  Scratch::Remove(other.page->path());
  other.Follow();
  CHECK(maker.home().state().word == kSealed);
  ++now_ms;
  CHECK(other.Take(3) == 3);
  Scratch::Remove(other.page->path());
  CHECK(maker.Take(NowTick(), 3) == 0);
  CHECK(other.Take(3) == 3);
  ++now_ms;
  CHECK(maker.Take(NowTick(), 3) == 3);
  other.Follow();
  CHECK(other.Take(3) == 3);
  CheckApart(maker, other);
}

// It has a page that was never sealed, because later processes had another page.
void SoDoesOneThatFollowsAnOlderPage(Scratch& scratch) {
  const HomeOptions options = NewOptions(scratch);
  Maker maker(options);
  ++now_ms;
  CHECK(maker.Take(NowTick(), 3) == 3);
  Scratch::Remove(maker.home().page()->path());
  Other other(options);
  ++now_ms;
  CHECK(other.Take(3) == 3);
  Scratch::Remove(other.page->path());
  CHECK(maker.Take(NowTick(), 3) == 0);
  CHECK(other.Take(3) == 3);
  ++now_ms;
  CHECK(maker.Take(NowTick(), 3) == 3);
  CheckApart(maker, other);
}

// The slots ahead of the clock and the latest tick are not forgotten.
void ANewPageBeginsAboveTheFormerOne(Scratch& scratch) {
  Maker maker(NewOptions(scratch));
  ++now_ms;
  CHECK(maker.Make(NowTick(), 64) && maker.Make(NowTick() + 20, 3));
  const uint64_t word = maker.home().state().word;
  const Lineage lineage = maker.home().page()->lineage();
  Scratch::Remove(maker.home().page()->path());
  // The move is in the tick of the check of the path, not of the last reservation.
  CHECK(maker.Take(NowTick(), 1) == 0);
  CHECK(maker.home().page()->lineage() == lineage);
  CHECK(maker.home().state().word >= word, maker.home().state().word.load(), word);
  CHECK(maker.home().state().high_tick == NowTick() + 20);
}

// A page was moved away; others made a new one and sealed it; then it was put back over
// the new one.
void AnOlderPageThatIsPutBackIsGoneOnWith(Scratch& scratch, bool has_history) {
  const HomeOptions options = NewOptions(scratch);
  Maker maker(options);
  Other other(options);
  if (has_history) CHECK(maker.home().pages.EnableHistory(0).IsNone());
  ++now_ms;
  // The word is ahead of every clock reading.
  for (int i = 0; i < 5; ++i) CHECK(maker.Make(NowTick(), 60));
  const std::string path = other.page->path();
  const uint64_t word = other.page->state().word;
  CHECK(rename(path.c_str(), (path + ".away").c_str()) == 0);
  CHECK(maker.Make(NowTick() + 6, 3));
  CHECK(other.page->state().word == kSealed && other.page->state().last == word);
  CHECK(rename((path + ".away").c_str(), path.c_str()) == 0);
  // The same holds for a process that has none of the pages in between.
  Other third(options);
  CHECK(third.page->IsSameAs(*other.page));
  CHECK(third.page->state().word > word && third.Take(1) == 0);
  CHECK(maker.Make(NowTick() + 7, 3) && maker.home().page()->IsSameAs(*other.page));
  now_ms += 8;
  CHECK(third.Take(3) == 3 && other.Take(3) == 3);
  other.slots.insert(other.slots.end(), third.slots.begin(), third.slots.end());
  CheckApart(maker, other);
  if (!has_history) return;
  // The ticks of both pages count as used, because the marks of each page are
  // incomplete.
  SlotRange range;
  for (uint64_t tick = 1'000'000; tick + 1 < NowTick(); ++tick) {
    CHECK(ReserveUnused(other.page->state(), kLayout, tick, 1, &range) != Status::kOk);
  }
}

// Two threads have the page open; one thread opened it before it was sealed.
void AThreadThatSleptThroughThatHasThatPageAgain(Scratch& scratch) {
  const HomeOptions options = NewOptions(scratch);
  Maker sleeper(options);
  Maker maker(options);
  ++now_ms;
  CHECK(sleeper.Take(NowTick(), 3) == 3 && maker.Take(NowTick(), 3) == 3);
  const std::string path = maker.home().page()->path();
  CHECK(rename(path.c_str(), (path + ".away").c_str()) == 0);
  CHECK(maker.Make(NowTick() + 1, 3));
  CHECK(rename((path + ".away").c_str(), path.c_str()) == 0);
  CHECK(sleeper.Make(NowTick() + 2, 3) && maker.Make(NowTick() + 2, 3));
  CHECK(sleeper.home().page()->IsSameAs(*maker.home().page()));
  sleeper.slots.insert(sleeper.slots.end(), maker.slots.begin(), maker.slots.end());
  CheckNoneTwice(sleeper.slots);
}

// All at once, each with its own mapping.
void ASealedPageIsBegunOnce(Scratch& scratch) {
  constexpr int kProcesses = 6;
  const HomeOptions options = NewOptions(scratch);
  for (int round = 0; round < 20; ++round) {
    {
      Other first(options);
      ++now_ms;
      first.Take(3);
      OwnState other;
      CHECK(MoveTo(first.page->state(), other));
    }
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    ++now_ms;
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(Fork([&] {
        Other own(options);
        ++now_ms;
        CHECK(own.Take(2) == 2);
        CHECK(write(pipes[1], own.slots.data(), 16) == 16);
      }));
    }
    for (const pid_t child : children) AwaitSuccess(child);
    std::vector<uint64_t> slots(2 * kProcesses);
    CHECK(read(pipes[0], slots.data(), 16 * kProcesses) == 16 * kProcesses);
    CHECK(close(pipes[0]) == 0 && close(pipes[1]) == 0);
    CheckNoneTwice(slots);
    now_ms += 2;
  }
}

void AnInjectedClockIsNotWaitedFor(Scratch& scratch) {
  HomeOptions options = NewOptions(scratch);
  options.rules.now_ns = nullptr;
  Maker maker(options);
  CHECK(maker.Take(NowTick(), 3) == 3);
  Scratch::Remove(maker.home().page()->path());
  CHECK(maker.Take(NowTick() + 1, 3) == 3);
  CheckNoneTwice(maker.slots);
}

// The clock is real, and its ticks are long enough for deletions within a tick.
void OpeningWaitsForTheFirstTick(Scratch& scratch) {
  HomeOptions options = NewOptions(scratch);
  options.layout.tick_ms = 100;
  options.open_timeout_ms = 1000;
  options.rules.now_ns = WallNs;
  Home home;
  CHECK(OpenHome(options, &home).IsNone());
  uint64_t now_tick;
  CHECK(options.layout.ToTick(FloorMs(WallNs()), &now_tick));
  const uint64_t tick = options.layout.TickOf(home.state().word);
  CHECK(tick > 0 && tick <= now_tick, tick, now_tick);
}

// A clock that stands still, and ticks that are longer than the opening may take.
void OpeningDoesNotWaitForLong(Scratch& scratch) {
  HomeOptions options = NewOptions(scratch);
  options.open_timeout_ms = 20;
  for (const int64_t tick_ms : {1, 1000}) {
    options.layout.tick_ms = tick_ms;
    options.identity = scratch.NewIdentity();
    Home home;
    const Fault fault = OpenHome(options, &home);
    CHECK(fault.kind == Fault::Kind::kEarly, fault.kind);
    CHECK(fault.wait_ms > 0 && fault.wait_ms <= tick_ms + 1, tick_ms);
    now_ms += tick_ms;
    CHECK(OpenHome(options, &home).IsNone());
  }
}

void Deletions(int, char**) {
  Scratch scratch;
  ASealedPageIsBegunOnce(scratch);
  ANewPageBeginsAfterTheTickOfTheDeletion(scratch);
  SoDoesOneThatFollowsASealedPage(scratch);
  SoDoesOneThatFollowsAnOlderPage(scratch);
  ANewPageBeginsAboveTheFormerOne(scratch);
  for (const bool has_history : {false, true}) {
    AnOlderPageThatIsPutBackIsGoneOnWith(scratch, has_history);
  }
  AThreadThatSleptThroughThatHasThatPageAgain(scratch);
  AnInjectedClockIsNotWaitedFor(scratch);
  OpeningWaitsForTheFirstTick(scratch);
  OpeningDoesNotWaitForLong(scratch);
}

const Subcommand kDeletions{"deletion", Deletions};

}  // namespace
}  // namespace deletion
}  // namespace graupel
