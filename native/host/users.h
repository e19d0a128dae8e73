#ifndef GRAUPEL_HOST_USERS_H_
#define GRAUPEL_HOST_USERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace graupel {

// The table of the processes that have a page open. It lies in the page, for an engine
// that does not map pages (docs/state-proof.md) and counts only if the table is empty.
// Only the process of an entry frees it, so the entry of a killed process stays. Zeroed
// memory is an empty table.
class Users {
 public:
  // A process as in processes.h; 0 in a free entry.
  using User = std::atomic<uint64_t>;
  static constexpr size_t kMaxUsers = 112;
  // Stored in the last entry, and never removed: there were more processes than
  // entries.
  static constexpr uint64_t kMore = UINT32_MAX;

  // Enters this process. Each copy of the module has an entry of its own. Null if there
  // is no room.
  User* Enter();
  // Frees the entry that Enter() returned.
  static void Leave(User* user);

 private:
  User users_[kMaxUsers];
};

static_assert(sizeof(Users) == 896);

}  // namespace graupel

#endif  // GRAUPEL_HOST_USERS_H_
