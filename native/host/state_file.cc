#include "state_file.h"

#include <cstddef>

#include "../core/checksum.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

constexpr int kMaxOpens = 16;

uint32_t ChecksumOf(const CeilingRecord& record) {
  return Checksum(&record, offsetof(CeilingRecord, checksum));
}

// The bytes of a file for which no slot was issued.
std::string NewFile(const Identity& identity) {
  std::string bytes = Header::Make(Header::kStateFile, identity, {}, {});
  bytes.resize(StateFile::kRecordAt);
  CeilingRecord record{};
  record.is_clean = 1;
  record.checksum = ChecksumOf(record);
  bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
  return bytes;
}

}  // namespace

Fault StateFile::Open(const std::string& path, const Identity& identity) {
  Fault fault = file_.Open(path);
  for (int i = 0; fault.kind == Kind::kMissing && i < kMaxOpens; ++i) {
    fault = CreateFileWith(path, NewFile(identity), kBytes, true);
    if (fault.IsNone() || fault.kind == Kind::kExists) fault = file_.Open(path);
  }
  if (fault.kind == Kind::kMissing) fault.kind = Kind::kBusy;
  if (fault.IsNone()) {
    fault = Header().Read(file_, kBytes, Header::kStateFile, identity);
  }
  // Before any ceiling in the file counts: the process that created the file may have
  // been killed before this call, and a loss of power would remove name and ceilings.
  return fault.IsNone() ? file_.SyncName() : fault;
}

bool StateFile::Read(CeilingRecord* record) {
  fault_ = file_.Read(kRecordAt, record, sizeof *record);
  if (!fault_.IsNone()) return false;
  const char* wrong = nullptr;
  if (record->checksum != ChecksumOf(*record)) {
    wrong = "the checksum of its record is wrong";
  } else if (record->durable > record->intended || record->is_clean > 1) {
    wrong = "the numbers of its record contradict each other";
  }
  if (wrong != nullptr) fault_ = Fault::Of(Kind::kCorrupt, file_.path(), wrong);
  return wrong == nullptr;
}

bool StateFile::Write(CeilingRecord record) {
  record.checksum = ChecksumOf(record);
  fault_ = file_.Write(kRecordAt, &record, sizeof record);
  return fault_.IsNone();
}

bool StateFile::Sync() {
  fault_ = file_.Sync();
  return fault_.IsNone();
}

}  // namespace graupel
