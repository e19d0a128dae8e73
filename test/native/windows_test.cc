// The files, pages and locks of native/platform/windows, in one process and in several:
// the program starts itself again.

#include <windows.h>
// After windows.h, whose types it needs.
#include <aclapi.h>

#include <string>

#include "../../native/core/state.h"
#include "../../native/host/durable_ceiling.h"
#include "../../native/host/memory_folder.h"
#include "../../native/host/page.h"
#include "../../native/host/shared_file.h"
#include "../../native/host/system.h"
#include "check.h"
#include "setup.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

constexpr uint64_t kNow = 1000;
constexpr uint64_t kReserve = 3000;
constexpr uint64_t kReservations = 20'000;

std::string this_run;  // A name for objects of this run.
std::string folder;    // For this run, with a backslash.

const Layout& TestLayout() {
  static const Layout layout = MakeLayout(41, 10, 12);
  return layout;
}

Identity IdentityFor(const std::string& name) { return {"windows_test " + name, "{}"}; }

// Starts this program with other arguments.
HANDLE StartSelf(const std::string& arguments) {
  char program[MAX_PATH];
  GetModuleFileNameA(nullptr, program, MAX_PATH);
  std::string line = "\"" + std::string(program) + "\" " + arguments;
  STARTUPINFOA startup{};
  startup.cb = sizeof startup;
  PROCESS_INFORMATION process;
  CHECK(CreateProcessA(nullptr, line.data(), nullptr, nullptr, FALSE, 0, nullptr,
                       nullptr, &startup, &process),
        GetLastError());
  CloseHandle(process.hThread);
  return process.hProcess;
}

void ExpectSuccess(HANDLE process) {
  WaitForSingleObject(process, INFINITE);
  DWORD code = 0;
  CHECK(GetExitCodeProcess(process, &code));
  CHECK(code == 0, code);
  CloseHandle(process);
}

std::string NewFile(const std::string& name, size_t size = 100) {
  const std::string path = folder + name;
  const Fault fault = CreateFileWith(path, "head", size, true);
  CHECK(fault.IsNone(), fault.kind, fault.error);
  return path;
}

Fault OpenFault(const std::string& path) {
  SharedFile file;
  return file.Open(path);
}

void ExpectUnsafe(const std::string& path, const std::string& detail) {
  const Fault fault = OpenFault(path);
  CHECK(fault.kind == Kind::kUnsafe, fault.kind, fault.error);
  if (fault.detail.find(detail) == std::string::npos) {
    std::fprintf(stderr, "'%s' and not '%s'\n", fault.detail.c_str(), detail.c_str());
    CHECK(false);
  }
}

int FilesIn(const std::string& pattern) {
  WIN32_FIND_DATAA found;
  const HANDLE search = FindFirstFileA((folder + pattern).c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return 0;
  int count = 1;
  while (FindNextFileA(search, &found)) ++count;
  FindClose(search);
  return count;
}

void AFileIsMadeWholeAndOnlyOnce() {
  const std::string path = NewFile("once", 8192);
  CHECK(CreateFileWith(path, "other", 8192, true).kind == Kind::kExists);
  SharedFile file;
  CHECK(file.Open(path).IsNone());
  uint64_t size = 0;
  CHECK(file.Size(&size).IsNone() && size == 8192, size);
  char bytes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(file.Read(0, bytes, sizeof bytes).IsNone());
  CHECK(std::memcmp(bytes, "head\0\0\0\0", sizeof bytes) == 0);
  CHECK(file.Write(5000, "there", 5).IsNone() && file.Sync().IsNone());
  CHECK(file.SyncName().IsNone());
  CHECK(file.Read(5000, bytes, 5).IsNone() && std::memcmp(bytes, "there", 5) == 0);
  CHECK(file.Read(8190, bytes, 3).kind == Kind::kCorrupt);
  CHECK(file.Read(9000, bytes, 3).kind == Kind::kCorrupt);
  CHECK(FilesIn(".*.new") == 0);
}

void PathsAreInUtf8() {
  NewFile("caf\xc3\xa9 \xe9\x9b\xaa.state");
  const std::wstring wide(folder.begin(), folder.end());
  const DWORD found = GetFileAttributesW((wide + L"caf\u00e9 \u96ea.state").c_str());
  CHECK(found != INVALID_FILE_ATTRIBUTES, GetLastError());
}

void WhatIsMissingIsToldFromWhatFails() {
  CHECK(OpenFault(folder + "none").kind == Kind::kMissing);
  CHECK(OpenFault(folder + "none\\none").kind == Kind::kMissing);
  const Fault fault = CreateFileWith(folder + "none\\none", "", 1, true);
  CHECK(fault.kind == Kind::kSystem && fault.error == ERROR_PATH_NOT_FOUND, fault.kind,
        fault.error);
}

void OpeningWaitsForAScannerThatHasTheFile() {
  const std::string path = NewFile("scanned");
  const auto scan = [&] {
    const HANDLE scanner =
        CreateFileA(path.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr);
    CHECK(scanner != INVALID_HANDLE_VALUE, GetLastError());
    return scanner;
  };
  HANDLE scanner = scan();
  const Fault fault = OpenFault(path);
  CHECK(fault.kind == Kind::kSystem && fault.error == ERROR_SHARING_VIOLATION,
        fault.kind, fault.error);
  CloseHandle(scanner);
  scanner = scan();
  const auto finish = [](void* handle) {
    Sleep(100);
    CloseHandle(handle);
  };
  CHECK(StartThread(finish, scanner).IsNone());
  CHECK(OpenFault(path).IsNone());
}

void OpenToAllUsers(const std::string& path) {
  SID_IDENTIFIER_AUTHORITY world = SECURITY_WORLD_SID_AUTHORITY;
  PSID all_users = nullptr;
  CHECK(AllocateAndInitializeSid(&world, 1, SECURITY_WORLD_RID, 0, 0, 0, 0, 0, 0, 0,
                                 &all_users));
  EXPLICIT_ACCESSA access{};
  access.grfAccessPermissions = GENERIC_ALL;
  access.grfAccessMode = SET_ACCESS;
  access.Trustee.TrusteeForm = TRUSTEE_IS_SID;
  access.Trustee.ptstrName = static_cast<LPSTR>(all_users);
  ACL* list = nullptr;
  CHECK(SetEntriesInAclA(1, &access, nullptr, &list) == ERROR_SUCCESS);
  std::string name = path;
  const DWORD error =
      SetNamedSecurityInfoA(name.data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                            nullptr, nullptr, list, nullptr);
  CHECK(error == ERROR_SUCCESS, error);
  LocalFree(list);
  FreeSid(all_users);
}

void OnlyAPlainFileOfThisUserAloneIsOpened() {
  const std::string path = NewFile("plain");
  CHECK(OpenFault(path).IsNone());
  const std::string link = folder + "link";
  CHECK(CreateHardLinkA(link.c_str(), path.c_str(), nullptr), GetLastError());
  ExpectUnsafe(path, "hard link");
  CHECK(DeleteFileA(link.c_str()));
  CHECK(OpenFault(path).IsNone());
  ExpectUnsafe(folder + ".", "a folder");
  ExpectUnsafe("NUL", "not a plain file");
  OpenToAllUsers(path);
  ExpectUnsafe(path, "open to S-1-1-0");
}

void AFileIsMissedWhenItIsGone() {
  const std::string path = NewFile("gone");
  const std::string other = NewFile("other");
  SharedFile file;
  CHECK(file.Open(path).IsNone());
  const FileIdentity identity(file);
  CHECK(file.StillThere().IsNone() && identity.IsAt(path));
  CHECK(MoveFileA(path.c_str(), (path + ".old").c_str()), GetLastError());
  CHECK(!identity.IsAt(path) && identity.IsAt(path + ".old"));
  Fault fault = file.StillThere();
  CHECK(fault.kind == Kind::kLost && fault.detail == "deleted", fault.kind);
  CHECK(MoveFileA(other.c_str(), path.c_str()));
  CHECK(!identity.IsAt(path));
  fault = file.StillThere();
  CHECK(fault.kind == Kind::kLost && fault.detail != "deleted", fault.kind);
}

void ExclusiveUseTurnsIntoSharedUseWithoutAGap() {
  const std::string path = NewFile("use");
  SharedFile one;
  SharedFile two;
  CHECK(one.Open(path).IsNone() && two.Open(path).IsNone());
  CHECK(one.TryExclusiveUse());
  CHECK(!two.TryExclusiveUse());
  CHECK(two.ShareUse(20).kind == Kind::kBusy);
  CHECK(one.ShareUse(0).IsNone());
  CHECK(!two.TryExclusiveUse());
  CHECK(two.ShareUse(0).IsNone());
  CHECK(!one.TryExclusiveUse());  // The call also gives up the shared lock.
  CHECK(two.TryExclusiveUse());
  CHECK(two.ShareUse(0).IsNone() && two.ShareUse(0).IsNone());
  CHECK(two.TryExclusiveUse());
}

void TheLockIsNotTheUse() {
  const std::string path = NewFile("lock");
  SharedFile one;
  SharedFile two;
  CHECK(one.Open(path).IsNone() && two.Open(path).IsNone());
  CHECK(one.Lock(0).IsNone());
  CHECK(two.Lock(20).kind == Kind::kBusy);
  CHECK(two.TryExclusiveUse());
  char byte;
  CHECK(two.Read(0, &byte, 1).IsNone() && two.Write(0, &byte, 1).IsNone());
  one.Unlock();
  CHECK(two.Lock(0).IsNone());
}

void LocksEndWithTheirProcess() {
  const std::string path = NewFile("killed");
  const std::string name = "graupel-test-" + this_run;
  const HANDLE is_held = CreateEventA(nullptr, TRUE, FALSE, name.c_str());
  const HANDLE process = StartSelf("hold \"" + path + "\" " + name);
  const HANDLE both[] = {is_held, process};
  CHECK(WaitForMultipleObjects(2, both, FALSE, INFINITE) == WAIT_OBJECT_0);
  SharedFile file;
  CHECK(file.Open(path).IsNone());
  CHECK(!file.TryExclusiveUse());
  CHECK(file.Lock(20).kind == Kind::kBusy);
  CHECK(TerminateProcess(process, 1));
  WaitForSingleObject(process, INFINITE);
  CHECK(file.Lock(5000).IsNone());
  CHECK(file.TryExclusiveUse());
  CloseHandle(process);
  CloseHandle(is_held);
}

int Hold(const char* path, const char* name) {
  SharedFile file;
  CHECK(file.Open(path).IsNone());
  CHECK(file.ShareUse(0).IsNone() && file.Lock(0).IsNone());
  CHECK(SetEvent(OpenEventA(EVENT_MODIFY_STATE, FALSE, name)));
  Sleep(INFINITE);
  return 1;
}

void PagesAreInOneFolderInEveryEnvironment() {
  std::string usual;
  std::string other;
  CHECK(MemoryFolder("", &usual).IsNone());
  for (const char* name : {"TMP", "TEMP", "USERPROFILE", "LOCALAPPDATA"}) {
    CHECK(SetEnvironmentVariableA(name, folder.c_str()));
  }
  CHECK(MemoryFolder("", &other).IsNone());
  CHECK(usual == other);
  std::string boot_id;
  CHECK(BootId(&boot_id).IsNone());
  CHECK(boot_id.size() == 25, boot_id.size());
  ExpectSuccess(StartSelf("same \"" + usual + "\" " + boot_id));
}

int Same(const char* usual, const char* id) {
  std::string own_folder;
  std::string boot_id;
  CHECK(MemoryFolder("", &own_folder).IsNone() && BootId(&boot_id).IsNone());
  CHECK(own_folder == usual);
  CHECK(boot_id == id);
  return 0;
}

std::shared_ptr<Page> OpenPage(const std::string& name) {
  std::shared_ptr<Page> page;
  const Fault fault = Page::Open(IdentityFor(name), "", nullptr, &page);
  CHECK(fault.IsNone(), fault.kind, fault.error);
  return page;
}

void ForgetPage(std::shared_ptr<Page> page) {
  const std::string path = page->path();
  page.reset();
  CHECK(DeleteFileA(path.c_str()), GetLastError());
}

int ReserveMany(const char* name) {
  const std::shared_ptr<Page> page = OpenPage(name);
  Request request;
  request.now_tick = kNow;
  request.limit_tick = TestLayout().max_tick;
  SequenceStart start;
  for (uint64_t i = 0; i < kReservations; ++i) {
    SlotRange range;
    CHECK(Reserve(page->state(), TestLayout(), request, start, &range) == Status::kOk);
  }
  return 0;
}

void ProcessesShareAPageThatOutlivesThem() {
  const std::string name = "page-" + this_run;
  const HANDLE first = StartSelf("reserve " + name);
  const HANDLE second = StartSelf("reserve " + name);
  ExpectSuccess(first);
  ExpectSuccess(second);
  ExpectSuccess(StartSelf("reserve " + name));
  std::shared_ptr<Page> page = OpenPage(name);
  const uint64_t word = page->state().word.load();
  CHECK(word == TestLayout().FirstSlot(kNow) + 3 * kReservations, word);
  CHECK(page->IsCurrent());
  History* history = nullptr;
  CHECK(page->HistoryMemory(&history).IsNone() && history != nullptr);
  ForgetPage(std::move(page));
}

CeilingRecord RecordOf(const std::string& path, const Identity& identity) {
  StateFile file;
  CeilingRecord record{};
  CHECK(file.Open(path, identity).IsNone());
  CHECK(file.Read(&record));
  return record;
}

void ACeilingRisesAndLeavesTheWord() {
  const std::string name = "ceiling-" + this_run;
  const std::string path = folder + "ids.state";
  const Identity identity = IdentityFor(name);
  const Layout& layout = TestLayout();
  std::shared_ptr<Page> page = OpenPage(name);
  std::shared_ptr<DurableCeiling> ceiling;
  const auto open = [&] {
    const Fault fault =
        DurableCeiling::Open({path, identity, layout, kReserve, kNow}, page, &ceiling);
    CHECK(fault.IsNone() && ceiling != nullptr, fault.kind, fault.error);
  };
  open();
  uint64_t expected = CeilingFrom(layout, 0, kNow, kReserve);
  CHECK(ceiling->slot() == expected, ceiling->slot(), expected);
  uint64_t attempt = 0;
  Fault fault;
  CHECK(ceiling->Await(kNow + kReserve, 60'000, &attempt, &fault) ==
        DurableCeiling::Outcome::kRaised);
  expected = CeilingFrom(layout, 0, kNow + kReserve, kReserve);
  CHECK(ceiling->slot() == expected, ceiling->slot(), expected);
  CeilingRecord record = RecordOf(path, identity);
  CHECK(record.durable == expected && record.is_clean == 0, record.durable);

  const uint64_t word = layout.FirstSlot(kNow) + 77;
  page->state().word.store(word);
  SharedFile other;
  CHECK(other.Open(path).IsNone() && other.ShareUse(0).IsNone());
  ceiling.reset();
  CHECK(RecordOf(path, identity).is_clean == 0);
  open();
  CHECK(other.TryExclusiveUse() == false);  // The call also gives up the shared lock.
  ceiling.reset();
  record = RecordOf(path, identity);
  CHECK(record.is_clean == 1 && record.word == word, record.is_clean, record.word);
  ForgetPage(std::move(page));
}

int Test() {
  uint64_t random;
  RandomBytes(&random, sizeof random);
  this_run = std::to_string(random);
  char temporary[MAX_PATH];
  CHECK(GetTempPathA(MAX_PATH, temporary) != 0);
  folder = std::string(temporary) + "graupel-windows-test-" + this_run + "\\";
  CHECK(CreateDirectoryA(folder.c_str(), nullptr), GetLastError());
  AFileIsMadeWholeAndOnlyOnce();
  PathsAreInUtf8();
  WhatIsMissingIsToldFromWhatFails();
  OpeningWaitsForAScannerThatHasTheFile();
  OnlyAPlainFileOfThisUserAloneIsOpened();
  AFileIsMissedWhenItIsGone();
  ExclusiveUseTurnsIntoSharedUseWithoutAGap();
  TheLockIsNotTheUse();
  LocksEndWithTheirProcess();
  PagesAreInOneFolderInEveryEnvironment();
  ProcessesShareAPageThatOutlivesThem();
  ACeilingRisesAndLeavesTheWord();
  std::puts("done");
  return 0;
}

}  // namespace
}  // namespace graupel

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "hold" && argc == 4) return graupel::Hold(argv[2], argv[3]);
  if (what == "same" && argc == 4) return graupel::Same(argv[2], argv[3]);
  if (what == "reserve" && argc == 3) return graupel::ReserveMany(argv[2]);
  return argc == 1 ? graupel::Test() : 2;
}
