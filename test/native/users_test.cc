// The table of processes that have a page open, and the rule that keeps two engines
// from counting at once.

#include "../../native/host/users.h"

#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "../../native/host/home.h"
#include "../../native/host/page.h"
#include "../../native/host/processes.h"
#include "scratch.h"
#include "setup.h"

namespace graupel {
namespace {

constexpr size_t kMaxUsers = Users::kMaxUsers;

// An entry of the table, read from the file as another engine does.
struct Entry {
  uint32_t pid = 0;
  uint32_t pid_namespace = 0;
  uint64_t start_time = 0;
  uint64_t process() const { return uint64_t{pid_namespace} << 32 | pid; }
};
static_assert(sizeof(Entry) == 16);

std::vector<Entry> EntriesAt(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::vector<Entry> entries(kMaxUsers);
  std::memcpy(entries.data(), bytes.data() + 3072, kMaxUsers * sizeof(Entry));
  return entries;
}

void PutEntry(const std::string& path, size_t index, const Entry& entry) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  const auto at = static_cast<off_t>(3072 + index * sizeof entry);
  CHECK(pwrite(fd, &entry, sizeof entry, at) == sizeof entry && close(fd) == 0);
}

size_t CountIn(const std::string& path, const Entry& one) {
  size_t count = 0;
  for (const Entry& entry : EntriesAt(path)) {
    if (entry.process() == one.process()) ++count;
  }
  return count;
}

Entry Own() {
  const uint64_t process = ThisProcess();
  const auto pid = static_cast<uint32_t>(process);
  return {pid, static_cast<uint32_t>(process >> 32), StartTimeOf(pid)};
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
  const Entry entry = EntriesAt(path)[0];
  CHECK(entry.pid == static_cast<uint32_t>(getpid()), entry.pid);
#if defined(__linux__)
  struct stat stat;
  CHECK(::stat("/proc/self/ns/pid", &stat) == 0);
  CHECK(entry.pid_namespace == stat.st_ino, entry.pid_namespace, stat.st_ino);
  CHECK(entry.start_time != 0);
#endif
  std::shared_ptr<Page> again = OpenPage(identity);
  CHECK(CountIn(path, Own()) == 2);
  page.reset();
  CHECK(CountIn(path, Own()) == 1);
  again.reset();
  CHECK(CountIn(path, {}) == kMaxUsers);
}

// Killed, so that they free no entry.
void TheEntriesOfTheDeadAreTaken(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  for (size_t i = 0; i < kMaxUsers + 4; ++i) {
    const pid_t child = Fork([&] {
      const std::shared_ptr<Page> page = OpenPage(identity);
      CHECK(CountIn(page->path(), Own()) == 1);
      kill(getpid(), SIGKILL);
    });
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status), status);
  }
  const std::shared_ptr<Page> page = OpenPage(identity);
  CHECK(CountIn(page->path(), Own()) == 1);
  for (const Entry& entry : EntriesAt(page->path())) CHECK(entry.pid != UINT32_MAX);
}

// As above, where another process has the number by now.
void AProcessWithTheNumberOfADeadOneIsNotTakenForIt(Scratch& scratch) {
#if defined(__linux__)
  const Identity identity = scratch.NewIdentity();
  std::shared_ptr<Page> page = OpenPage(identity);
  const std::string path = page->path();
  page.reset();
  Entry entry = Own();
  for (size_t i = 0; i < kMaxUsers; ++i) PutEntry(path, i, entry);
  // A process whose start time is unknown may be alive.
  entry.start_time = 0;
  PutEntry(path, 0, entry);
  entry.start_time = Own().start_time + 1;
  PutEntry(path, 1, entry);
  page = OpenPage(identity);
  CHECK(EntriesAt(path)[0].start_time == 0);
  CHECK(EntriesAt(path)[1].start_time == Own().start_time);
#else
  (void)scratch;
#endif
}

void ATableThatIsFullSaysSoForGood(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  std::vector<std::shared_ptr<Page>> pages;
  while (pages.size() < kMaxUsers) pages.push_back(OpenPage(identity));
  const std::string path = pages[0]->path();
  CHECK(CountIn(path, Own()) == kMaxUsers);
  pages.push_back(OpenPage(identity));
  CHECK(CountIn(path, Own()) == kMaxUsers - 1);
  CHECK(EntriesAt(path)[kMaxUsers - 1].process() == Users::kMore);
  pages.clear();
  CHECK(CountIn(path, {}) == kMaxUsers - 1);
  CHECK(EntriesAt(path)[kMaxUsers - 1].process() == Users::kMore);
}

void AProcessOfAnotherNamespaceIsNotTakenForDead(Scratch& scratch) {
#if defined(__linux__)
  const Identity identity = scratch.NewIdentity();
  const pid_t child = Fork([] {});
  AwaitSuccess(child);
  Entry entry = Own();
  entry.pid = static_cast<uint32_t>(child);
  entry.pid_namespace += 1;
  std::shared_ptr<Page> page = OpenPage(identity);
  const std::string path = page->path();
  page.reset();
  for (size_t i = 0; i < kMaxUsers; ++i) PutEntry(path, i, entry);
  page = OpenPage(identity);
  CHECK(CountIn(path, entry) == kMaxUsers - 1);
  CHECK(EntriesAt(path)[kMaxUsers - 1].pid == UINT32_MAX);
#else
  (void)scratch;
#endif
}

void ThreadsComeAndGoAtOnce(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  const std::shared_ptr<Page> page = OpenPage(identity);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const std::shared_ptr<Page> own = OpenPage(identity);
        CHECK(CountIn(own->path(), Own()) >= 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(CountIn(page->path(), Own()) == 1);
  CHECK(CountIn(page->path(), {}) == kMaxUsers - 1);
}

void AClaimKeepsPagesFromBeingUsed(Scratch& scratch) {
  HomeOptions options;
  options.place = Place::kHost;
  options.identity = scratch.NewIdentity();
  options.layout = MakeLayout(41, 10, 12);
  const std::shared_ptr<Page> first = OpenPage(options.identity);
  const std::string& path = first->path();
  const std::string claim = path.substr(0, path.rfind('.')) + ".claim";
  for (const bool is_folder : {false, true}) {
    if (is_folder) {
      CHECK(mkdir(claim.c_str(), 0700) == 0);
    } else {
      PutFile(claim, "{}");
    }
    Home home;
    const Fault fault = OpenHome(options, &home);
    CHECK(fault.kind == Fault::Kind::kClaimed && home.page == nullptr, fault.kind);
    CHECK(fault.path == claim && fault.detail.empty());
    CHECK(CountIn(path, Own()) == 1);
    options.rules.ignores_claim = true;
    CHECK(OpenHome(options, &home).IsNone() && home.page != nullptr);
    options.rules.ignores_claim = false;
    home = {};
    Scratch::Remove(claim);
    CHECK(OpenHome(options, &home).IsNone() && home.page != nullptr);
  }
}

}  // namespace
}  // namespace graupel

int main() {
  using namespace graupel;
  Scratch scratch;
  // Before there are any threads.
  TheEntriesOfTheDeadAreTaken(scratch);
  APageHasAnEntryForEachProcess(scratch);
  AProcessWithTheNumberOfADeadOneIsNotTakenForIt(scratch);
  ATableThatIsFullSaysSoForGood(scratch);
  AProcessOfAnotherNamespaceIsNotTakenForDead(scratch);
  ThreadsComeAndGoAtOnce(scratch);
  AClaimKeepsPagesFromBeingUsed(scratch);
}
