#include "users.h"

#include "processes.h"

namespace graupel {
namespace {

// [users] Sequentially consistent throughout. The other engine writes a file and then
// reads this table; this engine writes the table and then looks for that file.

bool Take(User& user, uint64_t expected) {
  const uint64_t own = ThisProcess();
  if (!user.process.compare_exchange_strong(expected, own)) return false;
  user.start_time.store(StartTimeOf(static_cast<uint32_t>(own)));
  return true;
}

// An entry never has a process and the start time of another one, because the process
// would then be taken for one that has ended. So the start time is cleared first and
// stored last.
bool TakeOver(User& user) {
  const uint64_t process = user.process.load();
  if (process == Users::kMore) return false;
  uint64_t start_time = user.start_time.load();
  return HasEnded(process, start_time) &&
         user.start_time.compare_exchange_strong(start_time, 0) && Take(user, process);
}

}  // namespace

User* Users::Enter() {
  for (User& user : users_) {
    if (user.process.load() == 0 && Take(user, 0)) return &user;
  }
  for (User& user : users_) {
    if (TakeOver(user)) return &user;
  }
  users_[kMaxUsers - 1].process.store(kMore);
  return nullptr;
}

void Users::Leave(User* user) {
  if (user == nullptr) return;
  // The entry may be another process's by now: where the table was full, or where this
  // process was forked.
  uint64_t own = ThisProcess();
  if (user->process.load() != own) return;
  user->start_time.store(0);
  user->process.compare_exchange_strong(own, 0);
}

}  // namespace graupel
