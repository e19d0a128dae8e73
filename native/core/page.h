#ifndef GRAUPEL_CORE_PAGE_H_
#define GRAUPEL_CORE_PAGE_H_

#include <memory>
#include <string>

#include "header.h"
#include "shared_state.h"
#include "state.h"
#include "users.h"

namespace graupel {

// Reads a clock afresh, in nanoseconds since 1970. Null for one that only its owner can
// read.
using ClockNs = int64_t (*)();

// A State in memory that all processes of a user map: a header, the processes that
// have it open, the state, and room for its history.
class Page : public Whereabouts {
 public:
  static constexpr size_t kUsersAt = Header::kBytes;
  static constexpr size_t kStateAt = 3968;
  static constexpr size_t kHistoryAt = 4096;
  static constexpr size_t kBytes = 16384;

  // The page for a key at the path of `former`, or in this user's folder, made where
  // there is none: then with what `former` counts, if that can be known. This process
  // is among its users then. To be looked at by CheckClaim(), and then begun, before it
  // is used.
  static Fault Open(const Identity& identity, const std::string& parent,
                    const Page* former, std::shared_ptr<Page>* page);
  ~Page() override;

  State& state() const {
    return *reinterpret_cast<State*>(static_cast<char*>(address_) + kStateAt);
  }
  // kClaimed where an engine that maps no pages counts this key.
  Fault CheckClaim() const;
  // Lets a page be used that has just been made, or that is sealed although it is the
  // one at its path. kLost where it is not that one. Where `stands_still` says so of
  // the clock, a page that follows no other begins with its tick, as that does not end.
  Fault Begin(const Layout& layout, ClockNs now_ns, bool (*stands_still)() = nullptr);

  const Identity& identity() const { return identity_; }
  const Lineage& lineage() const { return lineage_; }
  const std::string& path() const { return path_; }

  // Whether this page is what others find who come now. Somebody who deletes it
  // would otherwise leave two: asked once in each tick, before a reservation.
  bool IsCurrent() const override { return file_.IsAt(path_); }
  // Whether both are mappings of one file.
  bool IsSameAs(const Page& other) const { return file_ == other.file_; }

  // Where a history goes, with memory behind it.
  Fault HistoryMemory(History** history) const;

 private:
  Page() = default;
  Fault Map(const SharedFile& file);

  Identity identity_;
  Lineage lineage_;
  std::string path_;
  FileIdentity file_;
  void* address_ = nullptr;
  User* user_ = nullptr;  // This page's entry among its users.
};

static_assert(Page::kUsersAt + sizeof(Users) == Page::kStateAt);
static_assert(Page::kStateAt % alignof(State) == 0);
static_assert(Page::kStateAt + sizeof(State) <= Page::kHistoryAt);
static_assert(Page::kHistoryAt + sizeof(History) <= Page::kBytes);

}  // namespace graupel

#endif  // GRAUPEL_CORE_PAGE_H_
