#include "users.h"

#include "processes.h"

namespace graupel {

// [users] Sequentially consistent throughout. The other engine writes a file and then
// reads this table; this engine writes the table and then looks for that file.

Users::User* Users::Enter() {
  const uint64_t own = ThisProcess();
  for (User& user : users_) {
    uint64_t expected = 0;
    if (user.compare_exchange_strong(expected, own)) return &user;
  }
  users_[kMaxUsers - 1].store(kMore);
  return nullptr;
}

void Users::Leave(User* user) {
  // The entry is not this process's if kMore was stored in it, or after a fork.
  uint64_t own = ThisProcess();
  if (user != nullptr) user->compare_exchange_strong(own, 0);
}

}  // namespace graupel
