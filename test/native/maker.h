#ifndef GRAUPEL_TEST_MAKER_H_
#define GRAUPEL_TEST_MAKER_H_

#include <algorithm>
#include <memory>
#include <vector>

#include "../../native/core/generator.h"
#include "../../native/host/home.h"
#include "check.h"
#include "setup.h"

namespace graupel {

// Makes the ids of one thread in the same way as native/binding.
class Maker {
 public:
  explicit Maker(const HomeOptions& options) : options_(options) {
    const Fault fault = OpenHome(options, &home_);
    // The home is open although a clock of the test does not reach its first tick.
    CHECK(fault.IsNone() || fault.kind == Fault::Kind::kEarly, fault.kind, fault.error);
    UpdateAccess();
  }

  // Makes some ids, from the tick of the clock on. False if no id can be made.
  bool Make(uint64_t now, size_t count) {
    uint64_t ids[64];
    size_t filled = 0;
    for (int tries = 0; filled == 0; ++tries) {
      CHECK(tries < 1000, now);
      const Status status =
          generator_->Fill(now, options_.layout.max_tick, ids, count, &filled);
      if (status == Status::kMoved) Follow();
      if (status != Status::kCeiling) continue;
      uint64_t attempt = 0;
      if (home_.file_ceiling->Await(now, 20'000, &attempt, &fault) ==
          DurableCeiling::Outcome::kRaised)
        continue;
      // Another process holds the lock, and its disk is slow.
      if (fault.kind == Fault::Kind::kBusy) continue;
      // If only the page was deleted, the next page is tried.
      if (home_.page()->IsCurrent()) return false;
      Follow();
    }
    Keep(ids, filled);
    return true;
  }

  // Makes the ids that are left in the clock's tick, up to `count`; returns their
  // number.
  size_t Take(uint64_t now, size_t count) {
    uint64_t ids[64];
    size_t filled = 0;
    Status status = generator_->Fill(now, now, ids, count, &filled);
    if (status == Status::kMoved) {
      Follow();
      status = generator_->Fill(now, now, ids, count, &filled);
    }
    CHECK(status == Status::kOk || status == Status::kAhead, status);
    Keep(ids, filled);
    return filled;
  }

  const HomeOptions& options() const { return options_; }
  Home& home() { return home_; }

  std::vector<uint64_t> slots;
  Fault fault;  // The reason why Make() failed.

 private:
  void Keep(const uint64_t* ids, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      bool is_own;
      slots.push_back(SlotOfId(options_.layout, ids[i], &is_own));
      CHECK(is_own, ids[i]);
    }
  }
  void Follow() {
    const Fault fault = FollowHome(&home_);
    CHECK(fault.IsNone(), fault.kind, fault.error);
    UpdateAccess();
  }
  void UpdateAccess() {
    if (access_ == nullptr) {
      access_.reset(new ThreadAccess(&home_.state(), options_.layout));
      generator_.reset(new Generator(access_.get(), 1, {}));
    }
    access_->state = &home_.state();
    access_->ceiling = home_.ceiling();
    access_->replaceable = home_.page().get();
  }

  const HomeOptions options_;
  Home home_;
  std::unique_ptr<ThreadAccess> access_;
  std::unique_ptr<Generator> generator_;
};

inline void CheckNoneTwice(std::vector<uint64_t> slots) {
  std::sort(slots.begin(), slots.end());
  const auto twice = std::adjacent_find(slots.begin(), slots.end());
  CHECK(twice == slots.end() && "a slot was issued twice", *twice);
}

}  // namespace graupel

#endif  // GRAUPEL_TEST_MAKER_H_
