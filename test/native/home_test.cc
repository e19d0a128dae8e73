// Homes with real pages and real state files, in many threads and processes, while
// pages and files are deleted or replaced and processes are killed.

#include "../../native/host/home.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "maker.h"
#include "random.h"
#include "scratch.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

constexpr uint64_t kReserve = 16;
// Ticks have eight slots: a window is soon over.
const Layout kLayout = MakeLayout(41, 10, 3, 5);

// On a page, and below the ceiling of a state file if `kind` says so.
HomeOptions OptionsFor(Scratch& scratch, StateKind kind) {
  HomeOptions options;
  options.kind = kind;
  // The key has the facade's form: the clock, and then the identity.
  options.file_key = scratch.NewIdentity().key;
  options.identity = {"real " + options.file_key, "{}"};
  options.layout = kLayout;
  options.path = kind == StateKind::kFile ? scratch.NewPath() : "";
  options.reserve_ticks = kReserve;
  options.now_tick = 1;
  // No test is about a disk that other programs keep busy.
  options.open_timeout_ms = 60'000;
  return options;
}

void OpenFileOf(const HomeOptions& options, StateFile* file) {
  const Identity identity{options.file_key, options.identity.description};
  CHECK(file->Open(options.path, identity).IsNone());
}

CeilingRecord RecordIn(const HomeOptions& options) {
  StateFile file;
  OpenFileOf(options, &file);
  CeilingRecord record;
  // The file is read without its lock, even while it is written.
  while (!file.Read(&record)) CHECK(file.fault().kind == Kind::kCorrupt);
  return record;
}

// The record after the last user has left. If other programs keep the disk busy, a
// write may take longer than a ceiling waits for at its end; the next user then writes
// the word.
CeilingRecord RecordAfterUse(const HomeOptions& options) {
  CeilingRecord record = RecordIn(options);
  for (int i = 0; i < 5 && record.is_clean == 0; ++i) {
    { const Maker next(options); }
    record = RecordIn(options);
  }
  CHECK(record.is_clean == 1);
  return record;
}

// Runs four threads that make `count` runs each, and an event sixteen times meanwhile.
std::vector<uint64_t> MakeInThreads(
    const HomeOptions& options, size_t count, const std::function<void()>& meanwhile,
    const std::function<void(Maker&)>& each = [](Maker&) {}) {
  std::atomic<uint64_t> clock{1};
  std::vector<std::unique_ptr<Maker>> makers;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) makers.push_back(std::make_unique<Maker>(options));
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, &maker = *makers[i], i] {
      for (size_t n = 0; n < count; ++n) {
        if (i == 0 && n % (count / 16) == 0) meanwhile();
        if (n % 8 == 0) clock.fetch_add(1, std::memory_order_relaxed);
        CHECK(maker.Make(clock.load(std::memory_order_relaxed), 1 + n % (i + 3)));
        each(maker);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> slots;
  for (const auto& maker : makers) {
    slots.insert(slots.end(), maker->slots.begin(), maker->slots.end());
  }
  CheckNoneTwice(slots);
  return slots;
}

void ThreadsNeverPassTheDurableCeiling(Scratch& scratch) {
  const HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  const auto slots = MakeInThreads(
      options, 600, [] {},
      [&](Maker& maker) {
        const CeilingRecord record = RecordIn(options);
        CHECK(maker.slots.back() < record.durable && record.is_clean == 0,
              maker.slots.back(), record.durable, record.is_clean);
      });
  CHECK(slots.size() > 2400 && *std::max_element(slots.begin(), slots.end()) > 1000);
  // The last of them has closed the file.
  const CeilingRecord record = RecordAfterUse(options);
  CHECK(record.word == record.durable, record.word, record.durable);
  CHECK(record.word == *std::max_element(slots.begin(), slots.end()) + 1);
}

// Another window makes another ceiling, as in another process.
void TheLastOneLeavesTheExactWord(Scratch& scratch) {
  HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  auto first = std::make_unique<Maker>(options);
  options.reserve_ticks = 40;
  auto second = std::make_unique<Maker>(options);
  CHECK(&first->home().state() == &second->home().state());
  CHECK(first->home().file_ceiling != second->home().file_ceiling);
  CHECK(first->Make(3, 5) && second->Make(3, 7) && first->Make(2, 4));
  std::vector<uint64_t> slots = first->slots;
  slots.insert(slots.end(), second->slots.begin(), second->slots.end());
  CheckNoneTwice(slots);
  const std::string page = first->home().page()->path();
  first.reset();
  CHECK(RecordIn(options).is_clean == 0);
  CHECK(second->Make(3, 1));
  const uint64_t word = second->home().state().word;
  const auto closed = std::chrono::steady_clock::now();
  second.reset();
  // A ceiling may wait for a disk this long without a write.
  const bool was_slow =
      std::chrono::steady_clock::now() - closed >= std::chrono::milliseconds(900);
  CHECK(RecordIn(options).is_clean == 1 || was_slow);
  CHECK(RecordAfterUse(options).word == word, word);
  // The same holds after a loss of the memory, with a clock that was set back.
  Scratch::Remove(page);
  Maker next(options);
  CHECK(next.Make(1, 1) && next.slots[0] == word, next.slots[0], word);
}

// The wait is shorter than a fixed time.
void OpeningWaitsForLocksAsLongAsItMay(Scratch& scratch) {
  HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  StateFile file;
  OpenFileOf(options, &file);
  CHECK(file.Lock(0).IsNone());
  Home home;
  options.open_timeout_ms = 0;
  CHECK(OpenHome(options, &home).kind == Kind::kBusy);
  options.open_timeout_ms = 60'000;
  std::thread unlocking([&] {
    usleep(1'300'000);
    file.Unlock();
  });
  const Fault fault = OpenHome(options, &home);
  CHECK(fault.IsNone(), fault.kind);
  unlocking.join();
}

void AnotherMemoryIsRefusedWhileTheFileIsInUse(Scratch& scratch) {
  const HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  auto maker = std::make_unique<Maker>(options);
  CHECK(maker->Make(5, 3));
  std::shared_ptr<Page> page;
  CHECK(Page::Open(scratch.NewIdentity(), "", nullptr, &page).IsNone());
  const Identity identity{options.file_key, options.identity.description};
  const DurableCeiling::Options other = {options.path, identity, kLayout, kReserve, 1};
  std::shared_ptr<DurableCeiling> ceiling;
  const Fault fault = DurableCeiling::Open(other, page, &ceiling);
  CHECK(fault.kind == Kind::kInUse && ceiling == nullptr, fault.kind);
  CHECK(page->state().word == 0);
  const uint64_t word = maker->home().state().word;
  maker.reset();
  CHECK(DurableCeiling::Open(other, page, &ceiling).IsNone());
  CHECK(page->state().word == word, page->state().word.load(), word);
}

// The page is unlinked again and again, or replaced by another one.
void ThreadsFollowTheirPage(Scratch& scratch, StateKind kind, bool is_replaced) {
  const HomeOptions options = OptionsFor(scratch, kind);
  std::string path;
  {
    Maker maker(options);
    path = maker.home().page()->path();
  }
  uint64_t foreign_end = 0;
  const auto change = [&] {
    if (!is_replaced) return Scratch::Remove(path);
    // The word includes what others have issued on the other page.
    foreign_end += 3000;
    CHECK(rename(path.c_str(), (path + ".away").c_str()) == 0);
    std::shared_ptr<Page> page;
    CHECK(Page::Open(options.identity, "", nullptr, &page).IsNone());
    CHECK(RaiseFloor(page->state(), foreign_end));
  };
  MakeInThreads(options, 4000, change);
  Scratch::Remove(path + ".away");
  Maker last(options);
  CHECK(last.home().page()->IsCurrent() && last.Make(1, 1));
  CHECK(last.slots[0] >= foreign_end, last.slots[0], foreign_end);
}

// A page was deleted. Its users followed it to a second page and ended, and the second
// page was deleted too. Then a process that still has the first page looks for the
// current page. The slots of the second page are unknown, so a third page must not
// count as its successor: the state file decides, or, without a state file, the clock.
void AProcessThatMissedTwoDeletionsRepeatsNothing(Scratch& scratch, StateKind kind) {
  HomeOptions options = OptionsFor(scratch, kind);
  Maker sleeper(options);
  // The home has its own ceiling, as in another process.
  options.reserve_ticks = 40;
  auto other = std::make_unique<Maker>(options);
  const std::string path = other->home().page()->path();
  CHECK(sleeper.Make(5, 3) && other->Make(5, 4));
  const Lineage first = sleeper.home().page()->lineage();
  Scratch::Remove(path);
  CHECK(other->Make(6, 3));
  CHECK(&other->home().state() != &sleeper.home().state());
  CHECK(other->home().page()->lineage() == first);
  // Far ahead of the clock: only the file has a record of this.
  if (kind == StateKind::kFile) CHECK(other->Make(6, 40));
  std::vector<uint64_t> slots = other->slots;
  const std::weak_ptr<Page> second = other->home().page();
  other.reset();
  // The thread of its ceiling releases the file later.
  while (!second.expired()) std::this_thread::yield();
  Scratch::Remove(path);
  // While a process holds the lock of the file, no id is made.
  StateFile file;
  std::atomic<bool> is_locked{kind == StateKind::kFile};
  if (is_locked) {
    OpenFileOf(options, &file);
    CHECK(file.Lock(1000).IsNone());
  }
  std::thread unlocking([&] {
    usleep(100'000);
    if (is_locked.exchange(false)) file.Unlock();
  });
  CHECK(sleeper.Make(7, 6));
  CHECK(!is_locked);
  unlocking.join();
  CHECK(!(sleeper.home().page()->lineage() == first));
  slots.insert(slots.end(), sleeper.slots.begin(), sleeper.slots.end());
  CheckNoneTwice(slots);
}

enum class Loss { kDeleted, kReplaced, kOverwritten, kCut };

void LostFilesStopAtTheCeiling(Scratch& scratch, Loss loss) {
  HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  Maker maker(options);
  CHECK(maker.Make(1, 1));
  DurableCeiling& ceiling = *maker.home().file_ceiling;
  CHECK(ceiling.IsCurrent());
  std::string bytes = ReadFile(options.path);
  switch (loss) {
    case Loss::kDeleted:
      Scratch::Remove(options.path);
      break;
    case Loss::kReplaced:
      PutFile(options.path + ".new", bytes);
      CHECK(rename((options.path + ".new").c_str(), options.path.c_str()) == 0);
      break;
    case Loss::kOverwritten: {
      CeilingRecord record = RecordIn(options);
      ++record.lineage.low;
      StateFile file;
      OpenFileOf(options, &file);
      CHECK(file.Write(record));
      break;
    }
    case Loss::kCut:
      CHECK(truncate(options.path.c_str(), StateFile::kRecordAt) == 0);
      break;
  }
  CHECK(ceiling.IsCurrent() == (loss != Loss::kDeleted && loss != Loss::kReplaced));
  const uint64_t bound = ceiling.slot();
  while (maker.Make(1, 7)) CHECK(maker.slots.size() <= bound);
  CHECK(maker.slots.back() == bound - 1, maker.slots.back(), bound);
  CHECK(ceiling.slot() == bound, ceiling.slot(), bound);
  const Kind kind = maker.fault.kind;
  CHECK(kind == (loss == Loss::kCut ? Kind::kCorrupt : Kind::kLost), kind);
  CHECK(maker.fault.path == options.path);
  if (loss != Loss::kDeleted && loss != Loss::kReplaced) return;
  // A new home goes on with the present file.
  Maker next(options);
  CHECK(next.Make(1, 1) && next.slots[0] == bound, next.slots[0], bound);
}

// Processes that are killed one after the other, while the clock stands still. The
// memory is lost after every second one. Their ids are in memory that they share with
// this process.
void KilledProcessesRepeatNothing(Scratch& scratch, uint64_t seed) {
  struct Made {
    std::atomic<uint64_t> next_slot;
    std::atomic<uint64_t> count;
  };
  const HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  const std::string page = scratch.last_page();
  auto* const made =
      static_cast<Made*>(mmap(nullptr, sizeof(Made), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(made != MAP_FAILED);
  Random random(seed);
  for (int round = 0; round < 30; ++round) {
    const uint64_t before = made->count;
    const pid_t child = Fork([&] {
      Maker maker(options);
      for (;;) {
        maker.slots.clear();
        CHECK(maker.Make(1, 1 + made->count % 5));
        CHECK(maker.slots.front() >= made->next_slot, maker.slots.front());
        made->next_slot = maker.slots.back() + 1;
        ++made->count;
      }
    });
    while (made->count == before) CHECK(waitpid(child, nullptr, WNOHANG) == 0);
    usleep(static_cast<useconds_t>(random.Below(8000)));
    CHECK(kill(child, SIGKILL) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status), status);
    if (round % 2 == 1) Scratch::Remove(page);
  }
  munmap(made, sizeof(Made));
}

// Several processes run at once, and one of them is killed while the others go on.
void ProcessesShareOneFile(Scratch& scratch) {
  constexpr size_t kMost = 4000;
  struct Made {
    std::atomic<size_t> count;
    uint64_t slots[kMost];
  };
  const HomeOptions options = OptionsFor(scratch, StateKind::kFile);
  const size_t size = 4 * sizeof(Made);
  auto* const made = static_cast<Made*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(made != MAP_FAILED);
  std::vector<pid_t> children;
  for (size_t i = 0; i < 4; ++i) {
    children.push_back(Fork([&, i] {
      Maker maker(options);
      for (uint64_t now = 1; maker.slots.size() < kMost; ++now) {
        CHECK(maker.Make(now / 4, 1));
        made[i].slots[maker.slots.size() - 1] = maker.slots.back();
        made[i].count = maker.slots.size();
      }
    }));
  }
  while (made[0].count < kMost / 8) usleep(100);
  CHECK(kill(children[0], SIGKILL) == 0);
  CHECK(waitpid(children[0], nullptr, 0) == children[0]);
  for (size_t i = 1; i < 4; ++i) AwaitSuccess(children[i]);
  std::vector<uint64_t> slots;
  for (size_t i = 0; i < 4; ++i) {
    slots.insert(slots.end(), made[i].slots, made[i].slots + made[i].count);
  }
  munmap(made, size);
  CHECK(slots.size() > 3 * kMost, slots.size());
  CheckNoneTwice(slots);
  const uint64_t word = RecordAfterUse(options).word;
  CHECK(word > *std::max_element(slots.begin(), slots.end()), word);
}

void Homes(int argc, char** argv) {
  test_seed = Argument(argc, argv, "--seed", std::random_device()());
  Scratch scratch;
  // Before there are any threads.
  KilledProcessesRepeatNothing(scratch, test_seed);
  ProcessesShareOneFile(scratch);
  ThreadsNeverPassTheDurableCeiling(scratch);
  TheLastOneLeavesTheExactWord(scratch);
  OpeningWaitsForLocksAsLongAsItMay(scratch);
  AnotherMemoryIsRefusedWhileTheFileIsInUse(scratch);
  for (const StateKind kind : {StateKind::kHost, StateKind::kFile}) {
    for (const bool is_replaced : {false, true}) {
      ThreadsFollowTheirPage(scratch, kind, is_replaced);
    }
  }
  for (const StateKind kind : {StateKind::kHost, StateKind::kFile}) {
    AProcessThatMissedTwoDeletionsRepeatsNothing(scratch, kind);
  }
  for (const Loss loss :
       {Loss::kDeleted, Loss::kReplaced, Loss::kOverwritten, Loss::kCut}) {
    LostFilesStopAtTheCeiling(scratch, loss);
  }
}

const Subcommand kHomes{"home", Homes};

}  // namespace
}  // namespace graupel
