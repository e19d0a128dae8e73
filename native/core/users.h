#ifndef GRAUPEL_CORE_USERS_H_
#define GRAUPEL_CORE_USERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace graupel {

// A process that has a page open. `process` is as in processes.h, 0 in an entry that
// is free.
struct User {
  std::atomic<uint64_t> process{0};
  std::atomic<uint64_t> start_time{0};
};

// The processes that have a page open, in the page, for an engine that does not map
// it (docs/state-file.md): it counts only where every process in here has ended. Zeroed
// memory is an empty table.
class Users {
 public:
  static constexpr size_t kMost = 56;
  // In the last entry, and for good: there were more than fit.
  static constexpr uint64_t kMore = UINT32_MAX;

  // Enters this process, once more if it is in there already: each page that a copy of
  // the module maps has an entry. Null where there is no room.
  User* Enter();
  // Takes back what Enter() answered.
  static void Leave(User* user);

 private:
  User users_[kMost];
};

static_assert(sizeof(Users) == 896);

}  // namespace graupel

#endif  // GRAUPEL_CORE_USERS_H_
