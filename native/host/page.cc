#include "page.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "../core/checksum.h"
#include "../core/clock.h"
#include "../core/succession.h"
#include "memory_folder.h"
#include "system.h"

namespace graupel {
namespace {

// Attempts, because other processes may make or delete the page meanwhile.
constexpr int kMaxAttempts = 16;
// Another process that begins the same page holds its lock for a few instructions.
constexpr int kMaxBeginMs = 1000;

constexpr char kPageEnd[] = ".page";
// The folder with which an engine that maps no pages claims a key.
constexpr char kClaimEnd[] = ".claim";

// The name of a page and its claim, without what follows the dot.
std::string NameOf(const std::string& key) {
  const NameHash hash(key.data(), key.size());
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return name;
}

// The first bytes of a new page.
std::string NewPage(const Identity& identity, const Page* former,
                    const std::string& boot_id) {
  Lineage lineage;
  RandomBytes(&lineage, sizeof lineage);
  // The word is 0 until Begin().
  uint64_t state[4] = {};
  static_assert(offsetof(State, high_tick) == 8 && offsetof(State, last) == 24);
  if (former != nullptr) {
    const uint64_t word = former->state().word.load(std::memory_order_acquire);
    state[1] = former->state().high_tick.load(std::memory_order_relaxed);
    state[3] = word != kSealed ? word : former->state().last.load();
    // A lineage says that the word in its page is the truth, so the word and the
    // lineage are copied together. If the word is sealed, the page to which it moved is
    // gone with its last word.
    if (word != kSealed) lineage = former->lineage();
  }
  std::string bytes = Header::Make(Header::kPage, identity, lineage, boot_id);
  bytes.resize(Page::kStateAt);
  return bytes.append(reinterpret_cast<const char*>(state), sizeof state);
}

}  // namespace

Page::~Page() {
  Leave();
  if (address_ != nullptr) Unmap(address_, kBytes);
}

Fault Page::Open(const Identity& identity, const std::string& parent,
                 const Page* former, std::shared_ptr<Page>* page) {
  std::string path;
  Fault fault;
  if (former != nullptr) {
    // The path, not the folder of the user for whom the process acts now, because the
    // other processes use this path.
    path = former->path();
  } else {
    fault = MemoryFolder(parent, &path);
    path.append("/").append(NameOf(identity.key)).append(kPageEnd);
  }
  std::string boot_id;
  if (fault.IsNone()) fault = BootId(&boot_id);
  for (int i = 0; fault.IsNone() && i < kMaxAttempts; ++i) {
    SharedFile file;
    fault = file.Open(path);
    if (fault.IsNone()) {
      std::shared_ptr<Page> found(new Page());
      fault = found->Map(file, identity);
      if (!fault.IsNone()) return fault;
      *page = std::move(found);
      return {};
    }
    if (fault.kind != Fault::Kind::kMissing) return fault;
    fault = CreateFileWith(path, NewPage(identity, former, boot_id), kBytes, false);
    if (fault.kind == Fault::Kind::kExists) fault = {};
  }
  if (fault.IsNone()) fault = Fault::Of(Fault::Kind::kBusy, path);
  return fault;
}

Fault Page::Begin(const Layout& layout, ClockNs now_ns) {
  Fault fault = CheckNumbers(layout);
  if (!fault.IsNone()) return fault;
  const auto begin = [&](uint64_t expected) {
    // [begin] The clock is read after the page was found at its path.
    uint64_t now_tick = 0;
    const bool has_clock =
        now_ns != nullptr && layout.ToTick(FloorMs(now_ns()), &now_tick);
    if (now_tick > layout.max_tick) now_tick = layout.max_tick;
    BeginAt(state(), expected,
            BeginningOf(state(), layout, has_clock ? &now_tick : nullptr));
    // [high] A clock that later shows less has stepped back.
    if (has_clock) RaiseTo(state().high_tick, now_tick);
  };
  const auto word = [&] { return state().word.load(std::memory_order_acquire); };
  if (word() == 0) begin(0);
  if (word() != kSealed) return {};
  SharedFile file;
  fault = file.Open(path_);
  if (fault.kind == Fault::Kind::kMissing) fault.kind = Fault::Kind::kMoved;
  if (!fault.IsNone()) return fault;
  if (!(FileIdentity(file) == file_)) return Fault::Of(Fault::Kind::kMoved, path_);
  // [begin] Under the lock, so that no other process begins the page, and that a later
  // seal is not mistaken for this seal.
  for (int waited_ms = 0; !file.TryExclusiveUse(); ++waited_ms) {
    if (waited_ms == kMaxBeginMs) return Fault::Of(Fault::Kind::kBusy, path_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (word() == kSealed) begin(kSealed);
  return {};
}

Fault Page::Map(const SharedFile& file, const Identity& identity) {
  path_ = file.path();
  file_ = FileIdentity(file);
  Header header;
  // A file of another size is not mapped: touching a mapping beyond the end of its file
  // ends the process.
  Fault fault = header.Read(file, kBytes, Header::kPage, identity);
  if (fault.IsNone()) fault = file.Map(kBytes, &address_);
  if (!fault.IsNone()) return fault;
  lineage_ = header.lineage;
  user_ = reinterpret_cast<Users*>(static_cast<char*>(address_) + kUsersAt)->Enter();
  return {};
}

Fault Page::CheckNumbers(const Layout& layout) const {
  const uint64_t word = state().word.load(std::memory_order_relaxed);
  const uint64_t high_tick = state().high_tick.load(std::memory_order_relaxed);
  const int64_t history_at = state().history_at.load(std::memory_order_relaxed);
  const uint64_t last = state().last.load(std::memory_order_relaxed);
  const auto is_slot = [&](uint64_t slot) {
    return slot == 0 || layout.TickOf(slot - 1) <= layout.max_tick;
  };
  const bool has_sound_history =
      history_at == 0 || history_at == static_cast<int64_t>(kHistoryAt - kStateAt);
  if ((word == kSealed || is_slot(word)) && is_slot(last) && has_sound_history &&
      high_tick <= layout.max_tick) {
    return {};
  }
  return Fault::Of(Fault::Kind::kCorrupt, path_, "its numbers do not fit the layout");
}

// [users] This process is already in the table. An engine that claims looks at the
// table after its link, so of two that come at once at least one sees the other.
Fault Page::CheckClaim(const PageLink& link) {
  std::string claim = path_.substr(0, path_.size() - (sizeof kPageEnd - 1)) + kClaimEnd;
  bool is_claimed = false;
  Fault fault = IsThere(claim, &is_claimed);
  if (!is_claimed) return fault;
  bool is_there = false;
  bool is_followed = true;
  if (!link.name.empty()) {
    fault = IsThere(claim + "/" + link.name, &is_there);
    if (fault.IsNone()) fault = IsThere(claim + "/" + link.next, &is_followed);
    if (!fault.IsNone()) return fault;
  }
  if (!is_there || is_followed) {
    return Fault::Of(Fault::Kind::kClaimed, std::move(claim));
  }
  link_ = link;
  return {};
}

Fault Page::HistoryMemory(History** history) const {
  SharedFile file;
  Fault fault = file.Open(path_);
  if (fault.kind == Fault::Kind::kMissing) fault.kind = Fault::Kind::kMoved;
  if (fault.IsNone()) fault = file.Allocate(kHistoryAt, kBytes - kHistoryAt);
  if (fault.IsNone() && !IsCurrent()) fault = Fault::Of(Fault::Kind::kMoved, path_);
  *history = reinterpret_cast<History*>(static_cast<char*>(address_) + kHistoryAt);
  return fault;
}

}  // namespace graupel
