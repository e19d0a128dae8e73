#ifndef GRAUPEL_HOST_USERS_H_
#define GRAUPEL_HOST_USERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace graupel {

// The table of the processes that have a page open. It lies in the page, for an engine
// that does not map pages (docs/state-proof.md): that engine counts only if the table is
// empty. So an entry is freed by its process alone, and the entry of a process that was
// killed stays. Zeroed memory is an empty table.
class Users {
 public:
  // A process as in processes.h; 0 in a free entry.
  using User = std::atomic<uint64_t>;
  static constexpr size_t kMaxUsers = 112;
  // In the last entry, and never removed: more processes came than there is room for.
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
