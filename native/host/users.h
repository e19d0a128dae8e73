#ifndef GRAUPEL_HOST_USERS_H_
#define GRAUPEL_HOST_USERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace graupel {

// A process that has a page open. `process` is as in processes.h, and 0 in a free
// entry.
struct User {
  std::atomic<uint64_t> process{0};
  std::atomic<uint64_t> start_time{0};
};

// The table of the processes that have a page open. It lies in the page, for an engine
// that does not map pages (docs/state-file.md): that engine counts only where every
// process in the table has ended. Zeroed memory is an empty table.
class Users {
 public:
  static constexpr size_t kMaxUsers = 56;
  // In the last entry, and never removed: more processes came than there is room for.
  static constexpr uint64_t kMore = UINT32_MAX;

  // Enters this process, and again for each page that a copy of the module maps. Null
  // where there is no room.
  User* Enter();
  // Frees the entry that Enter() answered.
  static void Leave(User* user);

 private:
  User users_[kMaxUsers];
};

static_assert(sizeof(Users) == 896);

}  // namespace graupel

#endif  // GRAUPEL_HOST_USERS_H_
