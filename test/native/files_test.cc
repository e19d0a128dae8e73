// Real pages and real state files: many threads and processes open them at once, and
// damaged files are refused.

#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "../../native/core/checksum.h"
#include "../../native/core/generator.h"
#include "../../native/host/generation.h"
#include "../../native/host/page.h"
#include "../../native/host/state_file.h"
#include "scratch.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

void ThreadsAtOnceGetOnePage(Scratch& scratch) {
  constexpr int kThreads = 6;
  for (int round = 0; round < 30; ++round) {
    const Identity identity = scratch.NewIdentity();
    std::barrier start(kThreads);
    std::vector<std::shared_ptr<Page>> pages(kThreads);
    std::vector<std::thread> threads;
    for (auto& page : pages) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        CHECK(Page::Open(identity, "", nullptr, &page).IsNone());
        page->state().word.fetch_add(1, std::memory_order_relaxed);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& page : pages) {
      CHECK(page->lineage() == pages[0]->lineage() && page->IsCurrent());
      CHECK(page->state().word == kThreads, page->state().word.load());
    }
  }
}

void ProcessesAtOnceGetOnePage(Scratch& scratch) {
  constexpr int kProcesses = 6;
  for (int round = 0; round < 20; ++round) {
    const Identity identity = scratch.NewIdentity();
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(Fork([&] {
        std::shared_ptr<Page> page;
        CHECK(Page::Open(identity, "", nullptr, &page).IsNone());
        page->state().word.fetch_add(1, std::memory_order_relaxed);
        const Lineage lineage = page->lineage();
        CHECK(write(pipes[1], &lineage, sizeof lineage) == sizeof lineage);
      }));
    }
    for (const pid_t child : children) AwaitSuccess(child);
    std::shared_ptr<Page> page;
    CHECK(Page::Open(identity, "", nullptr, &page).IsNone());
    CHECK(page->state().word == kProcesses, page->state().word.load());
    for (int i = 0; i < kProcesses; ++i) {
      Lineage lineage;
      CHECK(read(pipes[0], &lineage, sizeof lineage) == sizeof lineage);
      CHECK(lineage == page->lineage(), i);
    }
    CHECK(close(pipes[0]) == 0 && close(pipes[1]) == 0);
  }
}

void NewPagesHaveNewLineages(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  std::shared_ptr<Page> first;
  std::shared_ptr<Page> second;
  CHECK(Page::Open(identity, "", nullptr, &first).IsNone());
  Scratch::Remove(first->path());
  CHECK(!first->IsCurrent());
  CHECK(Page::Open(identity, "", nullptr, &second).IsNone());
  CHECK(!(first->lineage() == second->lineage()));
  CHECK(!first->IsCurrent() && second->IsCurrent());
}

void HistoriesAreForTheCurrentPage(Scratch& scratch) {
  const Identity identity = scratch.NewIdentity();
  std::shared_ptr<Page> page;
  std::shared_ptr<Page> same;
  CHECK(Page::Open(identity, "", nullptr, &page).IsNone());
  CHECK(Page::Open(identity, "", nullptr, &same).IsNone());
  History* memory;
  CHECK(page->HistoryMemory(&memory).IsNone());
  const Layout layout = MakeLayout(41, 10, 3);
  CHECK(EnableHistory(page->state(), layout, 5, memory));
  // The distance finds the slot at the other address.
  CHECK(HistoryOf(same->state()) != memory && HistoryOf(same->state())->Usable());
  Scratch::Remove(page->path());
  CHECK(page->HistoryMemory(&memory).kind == Kind::kMoved);
  CHECK(Page::Open(identity, "", nullptr, &same).IsNone());
  CHECK(page->HistoryMemory(&memory).kind == Kind::kMoved);
}

// The differences between opening a page and opening a state file.
struct Opener {
  Header::Kind kind;
  size_t size;
  std::function<Fault(const std::string& path, const Identity&)> open;
};

Fault OpenPage(const std::string&, const Identity& identity) {
  std::shared_ptr<Page> page;
  return Page::Open(identity, "", nullptr, &page);
}

Fault OpenStateFile(const std::string& path, const Identity& identity) {
  StateFile file;
  return file.Open(path, identity);
}

const Opener kPages = {Header::kPage, Page::kBytes, OpenPage};
const Opener kStateFiles = {Header::kStateFile, StateFile::kBytes, OpenStateFile};

// Makes a valid file, its path and its bytes.
struct Sample {
  Sample(Scratch& scratch, const Opener& opener_in)
      : opener(opener_in), identity(scratch.NewIdentity()) {
    if (opener.kind == Header::kPage) {
      std::shared_ptr<Page> page;
      CHECK(Page::Open(identity, "", nullptr, &page).IsNone());
      path = page->path();
    } else {
      path = scratch.NewPath();
    }
    CHECK(Open().IsNone());
    bytes = ReadFile(path);
    CHECK(bytes.size() == opener.size, bytes.size());
  }
  Fault Open() const { return opener.open(path, identity); }
  // Returns the fault of a file with these bytes.
  Fault Try(const std::string& other) const {
    PutFile(path, other);
    const Fault fault = Open();
    CHECK(ReadFile(path) == other);
    CHECK(fault.IsNone() || fault.path == path);
    return fault;
  }
  // A file for other ids, or of another kind.
  std::string Of(Header::Kind kind, const Identity& other) const {
    std::string made = Header::Make(kind, other, {}, "");
    return made + bytes.substr(made.size());
  }

  const Opener& opener;
  const Identity identity;
  std::string path;
  std::string bytes;
};

void DamagedFilesAreRefused(const Sample& sample) {
  CHECK(sample.Try(sample.bytes).IsNone());
  for (const size_t size : {size_t{0}, size_t{1}, size_t{84}, sample.bytes.size() - 1,
                            sample.bytes.size() + 1}) {
    std::string other = sample.bytes;
    other.resize(size);
    CHECK(sample.Try(other).kind == Kind::kCorrupt, size);
  }
  // Magic, version, a length that is too long, and checksum.
  const size_t text_end = 96 + sample.identity.key.size() + 2;
  for (size_t i = 0; i < text_end; ++i) {
    std::string other = sample.bytes;
    other[i] = static_cast<char>(other[i] ^ 0x80);
    const Fault fault = sample.Try(other);
    if (i >= 88 && i < 96) {
      CHECK(fault.IsNone(), i);  // The byte is not checked.
    } else {
      const bool is_version = i >= 8 && i < 12;
      CHECK(fault.kind == (is_version ? Kind::kVersion : Kind::kCorrupt), i);
    }
  }
  std::string other = sample.bytes;
  other[8] = 2;
  CHECK(sample.Try(other).kind == Kind::kVersion && sample.Try(other).format == 2);

  const auto other_kind =
      sample.opener.kind == Header::kPage ? Header::kStateFile : Header::kPage;
  CHECK(sample.Try(sample.Of(sample.opener.kind, sample.identity)).IsNone());
  CHECK(sample.Try(sample.Of(other_kind, sample.identity)).kind == Kind::kCorrupt);
  const Fault fault = sample.Try(sample.Of(sample.opener.kind, {"another key", ""}));
  CHECK(fault.kind == Kind::kMismatch && fault.found.key == "another key");
}

void UnsafeFilesAreRefused(const Sample& sample) {
  const char* path = sample.path.c_str();
  const std::string other = sample.path + ".other";
  const auto is_refused = [&](const char* why) {
    const Fault fault = sample.Open();
    CHECK(fault.kind == Kind::kUnsafe && fault.path == sample.path, fault.kind);
    CHECK(fault.detail.find(why) != std::string::npos);
    Scratch::Remove(sample.path);
  };
  PutFile(other, sample.bytes);
  Scratch::Remove(sample.path);
  CHECK(symlink(other.c_str(), path) == 0);
  is_refused("symbolic link");
  CHECK(symlink("nowhere", path) == 0);
  is_refused("symbolic link");
  CHECK(link(other.c_str(), path) == 0);
  is_refused("hard link");
  Scratch::Remove(other);
  CHECK(mkdir(path, 0700) == 0);
  is_refused("folder");
  // Opening a pipe must not wait for a writer.
  CHECK(mkfifo(path, 0600) == 0);
  is_refused("not a plain file");
  for (const mode_t mode : {0644, 0660, 0602, 0601}) {
    PutFile(sample.path, sample.bytes, mode);
    is_refused("its mode 06");
  }
  PutFile(sample.path, sample.bytes);
  CHECK(sample.Open().IsNone());
}

// Damages each byte of a state file, one after the other, in three ways: a process with
// another memory is refused, or begins above all that was issued.
void DamagedStateFilesForgetNothing(Scratch& scratch, bool is_clean) {
  constexpr uint64_t kIssued = 0x5050;
  const Layout layout = MakeLayout(41, 10, 3);
  const Sample sample(scratch, kStateFiles);
  CeilingRecord record{};
  record.lineage = {1, 2};
  record.boot_id[0] = 'b';
  record.durable = is_clean ? kIssued : 0x4040;
  record.intended = kIssued;
  record.word = is_clean ? kIssued : 0;
  record.is_clean = is_clean ? 1 : 0;
  CeilingRecord own{};
  own.lineage = {3, 4};
  own.boot_id[0] = 'b';
  {
    StateFile file;
    CHECK(file.Open(sample.path, sample.identity).IsNone() && file.Write(record));
  }
  const std::string bytes = ReadFile(sample.path);
  int refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // In the unused part a few bytes are enough, because each byte costs a sync.
    const bool is_used = i < 96 + sample.identity.key.size() + 2 ||
                         (i >= StateFile::kRecordAt && i < StateFile::kRecordAt + 88);
    if (!is_used && i % 512 != 0) continue;
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      PutFile(sample.path, damaged);
      StateFile file;
      OwnState state;
      CeilingRecord found;
      if (!file.Open(sample.path, sample.identity).IsNone()) {
        ++refused;
        continue;
      }
      const Attached attached = Attach(file, true, own, state, layout, 8, 1, &found);
      if (attached == Attached::kFailed) {
        CHECK(file.fault().kind == Kind::kCorrupt, i, flip);
        ++refused;
      } else {
        CHECK(attached == Attached::kOk && state.word >= kIssued, i, flip);
        CHECK(!is_used || (i >= 88 && i < 96), i, flip);
      }
    }
  }
  CHECK(refused == static_cast<int>(3 * (96 + sample.identity.key.size() + 2 - 8 + 88)),
        refused);
  PutFile(sample.path, bytes);
  StateFile file;
  OwnState state;
  CHECK(file.Open(sample.path, sample.identity).IsNone());
  CHECK(Attach(file, true, own, state, layout, 8, 1, &record) == Attached::kOk);
  CHECK(state.word == kIssued && record.durable > kIssued, state.word.load());
}

// A real copy of the memory: the child of fork() has the run of its parent, and the
// rest of the state's slots.
void AForkedChildMakesNoIdOfItsParent() {
#if defined(__linux__)
  OpenGeneration();
  const Layout layout = MakeLayout(20, 0, 12);
  State state;
  ThreadAccess access(&state, layout);
  Generator generator(&access, 1, {});
  uint64_t id;
  for (int i = 0; i < 100; ++i) CHECK(generator.Next(5, &id) == Status::kOk);
  CHECK(access.run.sequence < access.run.end);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    uint64_t ids[8];
    size_t filled = 8;
    bool is_refused = generator.Next(5, &id) == Status::kCloned &&
                      generator.Next(6, &id) == Status::kCloned &&
                      generator.Fill(7, 7, ids, 8, &filled) == Status::kCloned &&
                      filled == 0;
    // A state that is acquired in the child is its own.
    Generator own(&access, 2, {});
    is_refused = is_refused && own.Next(8, &id) == Status::kOk;
    _exit(is_refused ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, status);
  CHECK(generator.Next(5, &id) == Status::kOk);
  RaiseGeneration();
  CHECK(generator.Next(5, &id) == Status::kCloned);
#endif
}

void Files(int, char**) {
  Scratch scratch;
  // Before there are any threads.
  AForkedChildMakesNoIdOfItsParent();
  ProcessesAtOnceGetOnePage(scratch);
  ThreadsAtOnceGetOnePage(scratch);
  NewPagesHaveNewLineages(scratch);
  HistoriesAreForTheCurrentPage(scratch);
  for (const Opener& opener : {kPages, kStateFiles}) {
    const Sample sample(scratch, opener);
    DamagedFilesAreRefused(sample);
    UnsafeFilesAreRefused(sample);
  }
  for (const bool is_clean : {false, true}) {
    DamagedStateFilesForgetNothing(scratch, is_clean);
  }
}

const Subcommand kFiles{"files", Files};

}  // namespace
}  // namespace graupel
