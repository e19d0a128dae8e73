#ifndef GRAUPEL_HOST_PAGE_H_
#define GRAUPEL_HOST_PAGE_H_

#include <memory>
#include <string>
#include <utility>

#include "../core/state.h"
#include "header.h"
#include "shared_file.h"
#include "users.h"

namespace graupel {

// Reads a clock, in nanoseconds since 1970. Null for an injected clock, which only its
// own thread can read.
using ClockNs = int64_t (*)();

// The link of a claim that leaves the key to the page (src/host/claim.ts).
struct PageLink {
  std::string name;    // The link's file in the claim's folder; empty: no claim.
  std::string next;    // The name that a later link would have.
  uint64_t floor = 0;  // The page issues no slot below it.
};

// A State in memory that all processes of a user map: a header, the table of the
// processes that have it open, the state, and room for its history.
class Page : public Replaceable {
 public:
  static constexpr size_t kUsersAt = Header::kBytes;
  static constexpr size_t kStateAt = 3968;
  static constexpr size_t kHistoryAt = 4096;
  static constexpr size_t kBytes = 16384;

  // Opens the page for a key, at the path of `former` or in this user's folder. If
  // there is none, makes a page that begins above all slots that `former` is known to
  // have issued. This process is then in the table of the page. CheckClaim() and
  // Begin() are called before the page is used.
  static Fault Open(const Identity& identity, const std::string& parent,
                    const Page* former, std::shared_ptr<Page>* page);
  ~Page() override;

  State& state() const {
    return *reinterpret_cast<State*>(static_cast<char*>(address_) + kStateAt);
  }
  // kClaimed if there is a claim whose latest link is not `link`.
  Fault CheckClaim(const PageLink& link);
  // The link that CheckClaim() found.
  const PageLink& link() const { return link_; }
  // Checks the numbers of the page. Then begins the word of a page that was just made,
  // or of a sealed page to which its path still leads. kMoved if the path leads
  // elsewhere.
  Fault Begin(const Layout& layout, ClockNs now_ns);

  // Frees this process's entry, at the end of the process.
  void Leave() { Users::Leave(std::exchange(user_, nullptr)); }

  const Lineage& lineage() const { return lineage_; }
  const std::string& path() const { return path_; }

  // Whether the path leads to this page, so that other processes find it now. Called
  // once in each tick, before a reservation: if the page was deleted, the next page
  // would otherwise issue the same slots.
  bool IsCurrent() const override { return file_.IsAt(path_); }
  // Whether both are mappings of one file.
  bool IsSameAs(const Page& other) const { return file_ == other.file_; }

  // The place of the history, with memory behind it. kMoved if the path leads
  // elsewhere, because the memory would then belong to no page.
  Fault HistoryMemory(History** history) const;

 private:
  Page() = default;
  Fault Map(const SharedFile& file, const Identity& identity);
  Fault CheckNumbers(const Layout& layout) const;

  Lineage lineage_;
  std::string path_;
  FileIdentity file_;
  PageLink link_;
  void* address_ = nullptr;
  Users::User* user_ = nullptr;  // This process's entry in the table.
};

static_assert(Page::kUsersAt + sizeof(Users) == Page::kStateAt);
static_assert(Page::kStateAt % alignof(State) == 0);
static_assert(Page::kStateAt + sizeof(State) <= Page::kHistoryAt);
static_assert(Page::kHistoryAt + sizeof(History) <= Page::kBytes);

}  // namespace graupel

#endif  // GRAUPEL_HOST_PAGE_H_
