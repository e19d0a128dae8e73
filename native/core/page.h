#ifndef GRAUPEL_CORE_PAGE_H_
#define GRAUPEL_CORE_PAGE_H_

#include <memory>
#include <string>

#include "header.h"
#include "shared_state.h"
#include "state.h"
#include "users.h"

namespace graupel {

// A State in memory that all processes of a user map: a header, the processes that
// have it open, the state, and room for its history.
class Page : public Whereabouts {
 public:
  static constexpr size_t kUsersAt = Header::kBytes;
  static constexpr size_t kStateAt = 3968;
  static constexpr size_t kHistoryAt = 4096;
  static constexpr size_t kBytes = 16384;

  // The page for a key, made where there is none: then with what `former` counts, if
  // that can be known. kClaimed where an engine that maps no pages counts this key.
  static Fault Open(const Identity& identity, const Page* former,
                    std::shared_ptr<Page>* page);
  ~Page() override;

  State& state() const {
    return *reinterpret_cast<State*>(static_cast<char*>(address_) + kStateAt);
  }
  const Identity& identity() const { return identity_; }
  const Lineage& lineage() const { return lineage_; }
  const std::string& path() const { return path_; }

  // Whether this page is what others find who come now. Somebody who deletes it
  // would otherwise leave two: asked once in each tick, before a reservation.
  bool IsCurrent() const override { return file_.IsAt(path_); }

  // Where a history goes, with memory behind it.
  Fault HistoryMemory(History** history) const;

 private:
  Page() = default;
  Fault Map(const SharedFile& file);
  Fault Enter();

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
