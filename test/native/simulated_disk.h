#ifndef GRAUPEL_TEST_SIMULATED_DISK_H_
#define GRAUPEL_TEST_SIMULATED_DISK_H_

#include <algorithm>
#include <string>
#include <vector>

#include "../../native/host/ceiling_record.h"
#include "../../native/host/fault.h"
#include "../../native/host/header.h"
#include "check.h"
#include "scheduler.h"

// Replaces page.h, state_file.h and the system by a memory and a disk that can be lost
// at any moment. So the model explores the real durable_ceiling.cc.
#define GRAUPEL_HOST_PAGE_H_
#define GRAUPEL_HOST_STATE_FILE_H_

namespace graupel {

class Page {
 public:
  explicit Page(Lineage lineage) : lineage_(lineage) {}
  State& state() const { return state_; }
  const Lineage& lineage() const { return lineage_; }
  const std::string& path() const { return path_; }

 private:
  mutable State state_;
  const Lineage lineage_;
  const std::string path_;
};

// One state file, and the processes that have it open, each at most once.
struct Disk {
  enum class Use : uint8_t { kNone, kShared, kExclusive };
  static constexpr size_t kProcesses = 8;

  // After a loss of power the record is any of these. The first is the record of the
  // last sync, and the last is the record that all processes read until then.
  std::vector<CeilingRecord> versions;
  // A sync that failed marks the data as clean, so the next sync does not write it
  // again: as on Linux.
  bool is_dirty = false;
  int failing_syncs = 0;

  size_t locked_by = SIZE_MAX;
  Use uses[kProcesses] = {};

  bool IsUsedByOthers(size_t process, Use least) const {
    for (size_t i = 0; i < kProcesses; ++i) {
      if (i != process && uses[i] >= least) return true;
    }
    return false;
  }
  void LetGo(size_t process) {
    uses[process] = Use::kNone;
    if (locked_by == process) locked_by = SIZE_MAX;
  }

  static inline Disk* current = nullptr;
};

class FileIdentity {
 public:
  bool IsAt(const std::string&) const { return true; }
};

class StateFile {
 public:
  ~StateFile() { disk_.LetGo(process_); }

  Fault Open(const std::string& path, const Identity&) {
    path_ = path;
    return {};
  }
  const std::string& path() const { return path_; }
  FileIdentity identity() const { return {}; }
  Fault StillThere() const { return {}; }

  Fault Lock(int) {
    Scheduler::Await([this] { return disk_.locked_by == SIZE_MAX; });
    disk_.locked_by = process_;
    return {};
  }
  void Unlock() {
    Scheduler::Point();
    disk_.locked_by = SIZE_MAX;
  }
  bool TryExclusiveUse() {
    Scheduler::Point();
    // flock() releases a lock that it cannot change.
    const bool is_exclusive = !disk_.IsUsedByOthers(process_, Disk::Use::kShared);
    disk_.uses[process_] = is_exclusive ? Disk::Use::kExclusive : Disk::Use::kNone;
    return is_exclusive;
  }
  Fault ShareUse(int) {
    Scheduler::Await(
        [this] { return !disk_.IsUsedByOthers(process_, Disk::Use::kExclusive); });
    disk_.uses[process_] = Disk::Use::kShared;
    return {};
  }

  bool Read(CeilingRecord* record) {
    Scheduler::Point();
    *record = disk_.versions.back();
    return true;
  }
  bool Write(const CeilingRecord& record) {
    Scheduler::Point();
    disk_.versions.push_back(record);
    disk_.is_dirty = true;
    return true;
  }
  bool Sync() {
    Scheduler::Point();
    const bool fails = disk_.failing_syncs > 0;
    if (fails) {
      --disk_.failing_syncs;
    } else if (disk_.is_dirty) {
      disk_.versions.erase(disk_.versions.begin(), disk_.versions.end() - 1);
    }
    disk_.is_dirty = false;
    fault_ = fails ? Fault::System("fdatasync", 5, path_) : Fault();
    return !fails;
  }
  const Fault& fault() const { return fault_; }

 private:
  Disk& disk_ = *Disk::current;
  const size_t process_ = Scheduler::Process();
  std::string path_;
  Fault fault_;
};

inline Fault BootId(std::string* id) {
  *id = "boot 1";
  return {};
}

inline Fault StartThread(void (*run)(void*), void* data) {
  Scheduler::Spawn([=] { run(data); });
  return {};
}

}  // namespace graupel

#endif  // GRAUPEL_TEST_SIMULATED_DISK_H_
