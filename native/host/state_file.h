#ifndef GRAUPEL_HOST_STATE_FILE_H_
#define GRAUPEL_HOST_STATE_FILE_H_

#include <string>

#include "ceiling_record.h"
#include "header.h"
#include "shared_file.h"

namespace graupel {

// A file that outlives the memory: a header that is written once, and the record of the
// ceilings in a block of its own. It is the `Storage` of ceiling_record.h; if a call of
// the storage returns false, fault() has the reason.
class StateFile {
 public:
  static constexpr size_t kRecordAt = 4096;
  static constexpr size_t kBytes = 8192;

  // Makes the file if there is none.
  Fault Open(const std::string& path, const Identity& identity);

  const std::string& path() const { return file_.path(); }
  FileIdentity identity() const { return FileIdentity(file_); }
  Fault Lock(int timeout_ms) { return file_.Lock(timeout_ms); }
  void Unlock() { file_.Unlock(); }
  bool TryExclusiveUse() { return file_.TryExclusiveUse(); }
  Fault ShareUse(int timeout_ms) { return file_.ShareUse(timeout_ms); }
  // A fault if the file was deleted or replaced, or is out of reach.
  Fault StillThere() const { return file_.StillThere(); }

  bool Read(CeilingRecord* record);
  bool Write(CeilingRecord record);
  bool Sync();
  const Fault& fault() const { return fault_; }

 private:
  SharedFile file_;
  Fault fault_;
};

static_assert(Header::kBytes <= StateFile::kRecordAt);
// A disk writes a sector whole or not at all.
static_assert(sizeof(CeilingRecord) <= 512);

}  // namespace graupel

#endif  // GRAUPEL_HOST_STATE_FILE_H_
