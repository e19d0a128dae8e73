#include "page.h"

#include <cstdio>
#include <cstring>

#include "checksum.h"

namespace graupel {
namespace {

// Between finding no page and making one, others make and delete theirs.
constexpr int kMostAttempts = 16;

constexpr char kPageEnd[] = ".page";
// The file or folder by which an engine that maps no pages says that it counts a key.
constexpr char kClaimEnd[] = ".claim";

// Without an end.
std::string NameOf(const std::string& key) {
  const NameHash hash(key.data(), key.size());
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return name;
}

}  // namespace

Page::~Page() {
  Users::Leave(user_);
  if (address_ != nullptr) Unmap(address_, kBytes);
}

Fault Page::Open(const Identity& identity, const Page* former,
                 std::shared_ptr<Page>* page) {
  std::string path;
  Fault fault = MemoryFolder(&path);
  std::string boot_id;
  if (fault.IsNone()) fault = BootId(&boot_id);
  path.append("/").append(NameOf(identity.key)).append(kPageEnd);
  for (int i = 0; fault.IsNone() && i < kMostAttempts; ++i) {
    SharedFile file;
    fault = file.Open(path);
    if (fault.IsNone()) {
      std::shared_ptr<Page> found(new Page());
      found->path_ = path;
      fault = found->Map(file);
      if (!fault.IsNone()) return fault;
      if (found->identity_.key != identity.key) {
        return Fault::Of(Fault::Kind::kMismatch, path, found->identity_.ToText());
      }
      fault = found->Enter();
      if (fault.IsNone()) *page = std::move(found);
      return fault;
    }
    if (fault.kind != Fault::Kind::kMissing) return fault;
    Lineage fresh;
    RandomBytes(&fresh, sizeof fresh);
    // The lineage says that the word in the page is the truth, so the two come
    // together. What a sealed page counted is in one that is gone: unknown.
    uint64_t words[2] = {0, 0};
    if (former != nullptr) {
      words[0] = former->state().word.load(std::memory_order_acquire);
      words[1] = former->state().high_tick.load(std::memory_order_relaxed);
    }
    const bool goes_on = former != nullptr && words[0] != kSealed;
    std::string head = Header::Make(Header::kPage, identity,
                                    goes_on ? former->lineage() : fresh, boot_id);
    if (goes_on) {
      head.resize(kStateAt);
      head.append(reinterpret_cast<const char*>(words), sizeof words);
    }
    fault = CreateFileWith(path, head, kBytes, false);
    if (fault.kind == Fault::Kind::kExists) fault = {};
  }
  if (fault.IsNone()) fault = Fault::Of(Fault::Kind::kBusy, path);
  return fault;
}

Fault Page::Map(const SharedFile& file) {
  uint64_t size = 0;
  Fault fault = file.Size(&size);
  if (!fault.IsNone()) return fault;
  // Never mapped if it is short: a mapping that reaches beyond its file ends the
  // process that touches it.
  if (size != kBytes) {
    return Fault::Of(
        Fault::Kind::kCorrupt, path_,
        "it has " + std::to_string(size) + " bytes and not " + std::to_string(kBytes));
  }
  char bytes[Header::kBytes];
  fault = file.Read(0, bytes, sizeof bytes);
  if (!fault.IsNone()) return fault;
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  fault = header.Check(bytes, Header::kPage, path_, &identity_);
  if (!fault.IsNone()) return fault;
  lineage_ = header.lineage;
  file_ = FileIdentity(file);
  return file.Map(kBytes, &address_);
}

// [users] First entered, then looked: an engine that claims looks after its claim, so
// of two that come at once, one sees the other at least.
Fault Page::Enter() {
  user_ = reinterpret_cast<Users*>(static_cast<char*>(address_) + kUsersAt)->Enter();
  std::string claim = path_.substr(0, path_.size() - (sizeof kPageEnd - 1)) + kClaimEnd;
  bool is_there = false;
  const Fault fault = IsThere(claim, &is_there);
  return is_there ? Fault::Of(Fault::Kind::kClaimed, std::move(claim)) : fault;
}

Fault Page::HistoryMemory(History** history) const {
  SharedFile file;
  Fault fault = file.Open(path_);
  if (fault.kind == Fault::Kind::kMissing) fault.kind = Fault::Kind::kLost;
  if (fault.IsNone()) fault = file.Allocate(kHistoryAt, kBytes - kHistoryAt);
  // What was allocated is this page's memory only if the path still leads there.
  if (fault.IsNone() && !IsCurrent()) fault = Fault::Of(Fault::Kind::kLost, path_);
  *history = reinterpret_cast<History*>(static_cast<char*>(address_) + kHistoryAt);
  return fault;
}

}  // namespace graupel
