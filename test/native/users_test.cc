// The table of processes that have a page open, and the rule that keeps two engines
// from counting at once.

#include "../../native/host/users.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "../../native/host/home.h"
#include "../../native/host/page.h"
#include "../../native/host/processes.h"
#include "scratch.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

constexpr size_t kMaxUsers = Users::kMaxUsers;

// The entries of the table, read from the file as another engine reads them.
std::vector<uint64_t> EntriesAt(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::vector<uint64_t> entries(kMaxUsers);
  std::memcpy(entries.data(), bytes.data() + 3072, kMaxUsers * sizeof(uint64_t));
  return entries;
}

size_t CountIn(const std::string& path, uint64_t process) {
  const std::vector<uint64_t> entries = EntriesAt(path);
  return static_cast<size_t>(std::count(entries.begin(), entries.end(), process));
}

std::shared_ptr<Page> OpenPage(const Identity& identity) {
  std::shared_ptr<Page> page;
  const Fault fault = Page::Open(identity, "", nullptr, &page);
  CHECK(fault.IsNone(), fault.kind, fault.error);
  return page;
}

void APageHasAnEntryForEachProcess(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  std::shared_ptr<Page> page = OpenPage(identity);
  const std::string path = page->path();
  const uint64_t entry = EntriesAt(path)[0];
  CHECK(static_cast<uint32_t>(entry) == static_cast<uint32_t>(getpid()), entry);
#if defined(__linux__)
  struct stat stat;
  CHECK(::stat("/proc/self/ns/pid", &stat) == 0);
  CHECK(entry >> 32 == stat.st_ino, entry, stat.st_ino);
#endif
  std::shared_ptr<Page> again = OpenPage(identity);
  CHECK(CountIn(path, ThisProcess()) == 2);
  page.reset();
  CHECK(CountIn(path, ThisProcess()) == 1);
  again.reset();
  CHECK(CountIn(path, 0) == kMaxUsers);
}

// No process frees the entry of another process, even if that is long dead.
void TheEntriesOfTheKilledStay(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  for (size_t i = 0; i < kMaxUsers + 4; ++i) {
    const pid_t child = Fork([&] {
      const std::shared_ptr<Page> page = OpenPage(identity);
      CHECK(CountIn(page->path(), ThisProcess()) == (i < kMaxUsers ? 1 : 0), i);
      kill(getpid(), SIGKILL);
    });
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status), status);
  }
  std::string path;
  {
    const std::shared_ptr<Page> page = OpenPage(identity);
    path = page->path();
  }
  CHECK(CountIn(path, 0) == 0);
  CHECK(EntriesAt(path)[kMaxUsers - 1] == Users::kMore);
}

// The number of entries that a process leaves in the table, which ends by `end` with
// pages open, one of them opened by another thread.
size_t EntriesLeftBy(Scratch& scratch, void (*end)(int), bool has_thread) {
  HomeOptions options;
  options.kind = StateKind::kHost;
  options.identity = scratch.NewIdentity();
  options.layout = MakeLayout(41, 10, 12);
  const pid_t child = Fork([&] {
    static auto* const home = new Home;
    CHECK(OpenHome(options, home).IsNone());
    static auto* const other = new Home;
    if (has_thread) std::thread([&] { (void)OpenHome(options, other); }).join();
    end(0);
  });
  AwaitSuccess(child);
  const std::shared_ptr<Page> page = OpenPage(options.identity);
  return kMaxUsers - 1 - CountIn(page->path(), 0);
}

// exit() destroys no page. Before it, Node ends the JavaScript of all threads.
void AProcessLeavesAtItsEnd(Scratch& scratch) {
  CHECK(EntriesLeftBy(scratch, std::exit, false) == 0);
  CHECK(EntriesLeftBy(scratch, std::exit, true) == 0);
#if defined(__linux__)
  // By quick_exit(), other threads run on until the process is gone.
  CHECK(EntriesLeftBy(scratch, std::quick_exit, false) == 0);
  CHECK(EntriesLeftBy(scratch, std::quick_exit, true) == 1);
#endif
}

void ATableThatIsFullSaysSoForGood(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  std::vector<std::shared_ptr<Page>> pages;
  while (pages.size() < kMaxUsers) pages.push_back(OpenPage(identity));
  const std::string path = pages[0]->path();
  CHECK(CountIn(path, ThisProcess()) == kMaxUsers);
  pages.push_back(OpenPage(identity));
  CHECK(CountIn(path, ThisProcess()) == kMaxUsers - 1);
  CHECK(EntriesAt(path)[kMaxUsers - 1] == Users::kMore);
  pages.clear();
  CHECK(CountIn(path, 0) == kMaxUsers - 1);
  CHECK(EntriesAt(path)[kMaxUsers - 1] == Users::kMore);
}

void ThreadsComeAndGoAtOnce(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  const std::shared_ptr<Page> page = OpenPage(identity);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const std::shared_ptr<Page> own = OpenPage(identity);
        CHECK(CountIn(own->path(), ThisProcess()) >= 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(CountIn(page->path(), ThisProcess()) == 1);
  CHECK(CountIn(page->path(), 0) == kMaxUsers - 1);
}

void AClaimKeepsPagesFromBeingUsed(Scratch& scratch) {
  HomeOptions options;
  options.kind = StateKind::kHost;
  options.identity = scratch.NewIdentity();
  options.layout = MakeLayout(41, 10, 12);
  const std::shared_ptr<Page> first = OpenPage(options.identity);
  const std::string& path = first->path();
  const std::string claim = path.substr(0, path.rfind('.')) + ".claim";
  Home home;
  const auto check_claimed = [&] {
    const Fault fault = OpenHome(options, &home);
    CHECK(fault.kind == Fault::Kind::kClaimed && home.page() == nullptr, fault.kind);
    CHECK(fault.path == claim && fault.detail.empty());
    CHECK(CountIn(path, ThisProcess()) == 1);
  };
  PutFile(claim, "{}");
  check_claimed();
  Scratch::Remove(claim);
  CHECK(mkdir(claim.c_str(), 0700) == 0);
  check_claimed();
  // The link that leaves the key to the page is missing, is the latest, has a
  // successor.
  options.rules.link = {"6.a5", "7.a6", 5'000'000};
  check_claimed();
  PutFile(claim + "/6.a5", "{}");
  PutFile(claim + "/7.a6", "{}");
  check_claimed();
  Scratch::Remove(claim + "/7.a6");
  CHECK(OpenHome(options, &home).IsNone() && home.page() != nullptr);
  CHECK(home.state().word == 5'000'000, home.state().word.load());
  CHECK(home.state().high_tick == options.layout.TickOf(4'999'999));
  // A page that replaces this page has the link, too.
  options.rules.link = {};
  Home other;
  CHECK(OpenHome(options, &other).IsNone() && other.page() == home.page());
  Scratch::Remove(path);
  CHECK(FollowHome(&other).IsNone());
  Scratch::Remove(path);
  PutFile(claim + "/7.a6", "{}");
  const Fault fault = FollowHome(&other);
  CHECK(fault.kind == Fault::Kind::kClaimed, fault.kind);
  // Without a claim there is no link.
  for (const char* link : {"/6.a5", "/7.a6"}) Scratch::Remove(claim + link);
  Scratch::Remove(claim);
  CHECK(FollowHome(&other).IsNone());
}

// The page is gone for this process, as after a change of its user.
void AProcessRemembersTheWordOfAPageThatItHasClosed(Scratch& scratch) {
  HomeOptions options;
  options.kind = StateKind::kHost;
  options.identity = scratch.NewIdentity();
  options.layout = MakeLayout(41, 10, 12);
  uint64_t word;
  {
    Home home;
    CHECK(OpenHome(options, &home).IsNone());
    CHECK(RaiseFloor(home.state(), 777'000).has_value());
    RaiseTo(home.state().high_tick, 500);
    word = home.state().word;
    Scratch::Remove(home.page()->path());
    home.pages.Remember();
  }
  Home home;
  CHECK(OpenHome(options, &home).IsNone());
  CHECK(home.state().word == word, home.state().word.load(), word);
  CHECK(home.state().high_tick == 500);
}

// If each opening kept a mapping, the process would fail after some 65 000 openings.
void APageIsMappedOnlyWhileItIsOpen(Scratch& scratch) {
#if defined(__linux__)
  HomeOptions options;
  options.kind = StateKind::kHost;
  options.layout = MakeLayout(41, 10, 12);
  const auto count_mappings = [] {
    size_t count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++count;
    return count;
  };
  const size_t before = count_mappings();
  for (int i = 0; i < 200; ++i) {
    options.identity = scratch.NewIdentity();
    Home home;
    CHECK(OpenHome(options, &home).IsNone());
    Scratch::Remove(home.page()->path());
  }
  CHECK(count_mappings() <= before + 20, count_mappings());
#else
  (void)scratch;
#endif
}

void AllOfUsers(int, char**) {
  Scratch scratch;
  // Before there are any threads.
  TheEntriesOfTheKilledStay(scratch);
  AProcessLeavesAtItsEnd(scratch);
  APageHasAnEntryForEachProcess(scratch);
  ATableThatIsFullSaysSoForGood(scratch);
  ThreadsComeAndGoAtOnce(scratch);
  AClaimKeepsPagesFromBeingUsed(scratch);
  AProcessRemembersTheWordOfAPageThatItHasClosed(scratch);
  APageIsMappedOnlyWhileItIsOpen(scratch);
}

const Subcommand kAllOfUsers{"users", AllOfUsers};

}  // namespace
}  // namespace graupel
