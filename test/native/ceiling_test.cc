// The protocol of word, floor and ceilings, in every interleaving with few preemptions,
// with processes that die and power that fails at every step: the real state.h,
// ceiling.h, ceiling_record.h, generator.h and durable_ceiling.cc on a simulated disk.

#include <chrono>
#include <cstdio>
#include <memory>
#include <set>

#include "scheduled_atomic.h"
#include "scheduled_mutex.h"
#include "simulated_disk.h"
// The core has to come after them.
#include "../../native/core/generator.h"
#include "../../native/host/durable_ceiling.cc"
#include "setup.h"
#include "subcommand.h"

#if defined(__SANITIZE_ADDRESS__)
// The memory of a process that dies in the middle of a schedule is not freed.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

namespace graupel {

int64_t MonotonicNs() { return 0; }

namespace ceiling_model {
namespace {

constexpr uint64_t kReserve = 2;
// Ticks have four slots.
const Layout kLayout = MakeLayout(20, 0, 2);

CeilingRecord RecordOf(const char* boot_id, Lineage lineage) {
  CeilingRecord record{};
  record.lineage = lineage;
  std::memcpy(record.boot_id, boot_id, std::strlen(boot_id));
  return record;
}

// A disk after the power has failed, or the memory was lost in another way; it may
// fail again at each step.
class Aftermath {
 public:
  // For every content of the disk, the next process begins above all issued slots.
  static void Check(const std::vector<CeilingRecord>& versions, uint64_t issued_end,
                    int more_failures) {
    // Thousands of schedules end with the same disks.
    static std::set<std::string> done;
    std::string key(reinterpret_cast<const char*>(versions.data()),
                    versions.size() * sizeof versions[0]);
    key += std::to_string(issued_end) + ' ' + std::to_string(more_failures);
    if (!done.insert(std::move(key)).second) return;
    for (const CeilingRecord& version : versions) {
      // After a failure, the memory, the boot or both differ.
      for (const int what : {1, 2, 3}) {
        CeilingRecord own = version;
        if ((what & 1) != 0) ++own.lineage.low;
        if ((what & 2) != 0) ++own.boot_id[5];
        Aftermath disk(version, issued_end, more_failures);
        disk.Begin(own);
      }
    }
  }

  bool Read(CeilingRecord* record) {
    FailAgain();
    *record = versions_.back();
    return true;
  }
  bool Write(const CeilingRecord& record) {
    FailAgain();
    versions_.push_back(record);
    return true;
  }
  bool Sync() {
    FailAgain();
    versions_ = {versions_.back()};
    return true;
  }

 private:
  Aftermath(const CeilingRecord& version, uint64_t issued_end, int more_failures)
      : versions_{version}, issued_end_(issued_end), more_failures_(more_failures) {}

  void Begin(const CeilingRecord& own) {
    State state;
    CeilingRecord record;
    // A clock that has stepped back as far as it can.
    const Attached attached =
        graupel::Attach(*this, true, own, state, kLayout, kReserve, 0, &record);
    CHECK(attached == Attached::kOk, attached);
    const uint64_t word = state.word.load();
    CHECK(word >= issued_end_, word, issued_end_);
    CHECK(record.durable > word, record.durable, word);
    // The process issues all allowed slots until the next failure.
    issued_end_ = record.durable;
    FailAgain();
  }

  void FailAgain() {
    if (more_failures_ > 0) Check(versions_, issued_end_, more_failures_ - 1);
  }

  std::vector<CeilingRecord> versions_;
  uint64_t issued_end_;
  const int more_failures_;
};

// One schedule: the disk, two pages of memory (the second follows the first), and the
// issued slots.
struct World {
  explicit World(uint64_t foreign) : issued_end(foreign), foreign_below(foreign) {
    Disk::current = &disk;
  }

  void Issue(uint64_t slot) {
    CHECK(slot >= foreign_below, slot, foreign_below);
    CHECK(issued.insert(slot).second, slot);
    if (issued_end <= slot) issued_end = slot + 1;
  }

  void Observe() const { Aftermath::Check(disk.versions, issued_end, 1); }

  Disk disk;
  const std::shared_ptr<Page> pages[2] = {std::make_shared<Page>(Lineage{1, 1}),
                                          std::make_shared<Page>(Lineage{1, 2})};
  std::set<uint64_t> issued;
  uint64_t issued_end;
  const uint64_t foreign_below;
  int deaths = 0;
  bool may_fail = false;
  bool is_followed = false;
};

// One process of a scene: a thread that makes ids, and the thread of its ceiling.
class Actor {
 public:
  explicit Actor(World* world) : world_(*world) {}
  ~Actor() {
    // Its process has died: nothing is closed.
    if (ceiling_ != nullptr) new std::shared_ptr<DurableCeiling>(std::move(ceiling_));
  }

  // Opens the page `page`, or the next page if that is sealed. False if a process with
  // another memory has the file in use.
  bool Open(uint64_t now, size_t page = 0) {
    for (; ceiling_ == nullptr; ++page) {
      CHECK(page < 2);
      const Fault fault = DurableCeiling::Open({"", {}, kLayout, kReserve, now},
                                               world_.pages[page], &ceiling_);
      if (fault.kind == Fault::Kind::kInUse) return false;
      // The first sync may fail, and then the process cannot begin.
      if (world_.may_fail && fault.kind == Fault::Kind::kSystem) return false;
      if (fault.kind == Fault::Kind::kMoved) continue;
      CHECK(fault.IsNone(), fault.kind);
      SetThread(page);
    }
    return true;
  }

  void Fill(uint64_t now, size_t count) {
    if (ceiling_ == nullptr) return;
    uint64_t attempt = 0;
    for (int rounds = 0; count > 0; ++rounds) {
      // After the ceiling has risen, the actor finds it high enough, unless others were
      // faster; and there are few others.
      CHECK(rounds < 6, now, count);
      uint64_t ids[16];
      size_t filled;
      const Status status = generator_->Fill(now, now + 20, ids, count, &filled);
      for (size_t i = 0; i < filled; ++i) Take(ids[i]);
      count -= filled;
      if (status == Status::kMoved) Follow();
      if (status == Status::kAhead) CHECK(filled > 0);
      if (status != Status::kCeiling) continue;
      Fault fault;
      const auto outcome = ceiling_->Await(now, 1000, &attempt, &fault);
      attempt = 0;
      if (outcome == DurableCeiling::Outcome::kRaised) continue;
      // The processes have left this page; the next attempt finds the current page.
      if (generator_->state().word.load() == kSealed) continue;
      return CHECK(world_.may_fail, fault.kind);
    }
  }

  // The page was deleted: moves its word to the next page.
  void Follow() {
    if (ceiling_ == nullptr) return;
    world_.is_followed = true;
    Scheduler::Point();
    CHECK(MoveTo(world_.pages[0]->state(), world_.pages[1]->state()));
    ceiling_->Follow(world_.pages[1]);
    SetThread(1);
  }

  // Waits for another actor to find the next page, or to die.
  void AwaitFollowing() {
    Scheduler::Await([this] { return world_.is_followed || world_.deaths > 0; });
  }

  void Close() { ceiling_.reset(); }

 private:
  void SetThread(size_t page) {
    access_.reset(new ThreadAccess(&world_.pages[page]->state(), kLayout));
    access_->ceiling = ceiling_.get();
    generator_.reset(new Generator(access_.get(), 1, {}));
  }

  void Take(uint64_t id) {
    bool is_own;
    world_.Issue(SlotOfId(kLayout, id, &is_own));
    CHECK(is_own, id);
  }

  World& world_;
  std::shared_ptr<DurableCeiling> ceiling_;
  std::unique_ptr<ThreadAccess> access_;
  std::unique_ptr<Generator> generator_;
};

using Play = std::function<void(Actor&)>;

struct Scene {
  const char* name;
  std::vector<Play> plays;
  bool begins_clean = false;
  int failing_syncs = 0;
  // Whether the last actor to close has the current page, and its sync succeeds.
  bool ends_clean = true;
  int more_preemptions = 0;
};

// The record that the former boot left: with ids up to a ceiling that was only
// intended, or with an exact word.
CeilingRecord FormerRecord(bool is_clean) {
  CeilingRecord record = RecordOf("boot 0", {9, 9});
  record.durable = is_clean ? 10 : 8;
  record.intended = is_clean ? 10 : 12;
  record.word = 10;
  record.is_clean = is_clean ? 1 : 0;
  return record;
}

size_t Explore(const Scene& scene, int preemptions) {
  std::unique_ptr<World> world;
  std::vector<std::unique_ptr<Actor>> actors;
  Scheduler::Scene scheduled;
  scheduled.prepare = [&] {
    actors.clear();
    const CeilingRecord former = FormerRecord(scene.begins_clean);
    world = std::make_unique<World>(former.Floor());
    world->disk.versions = {former};
    world->disk.failing_syncs = scene.failing_syncs;
    world->may_fail = scene.failing_syncs > 0;
    std::vector<Scheduler::Body> bodies;
    for (const Play& play : scene.plays) {
      actors.push_back(std::make_unique<Actor>(world.get()));
      bodies.push_back([&play, &actor = *actors.back()] { play(actor); });
    }
    return bodies;
  };
  scheduled.observe = [&] { world->Observe(); };
  scheduled.died = [&](size_t process) {
    world->disk.LetGo(process);
    ++world->deaths;
  };
  scheduled.deaths = 1;
  scheduled.check = [&] {
    world->Observe();
    const Disk& disk = world->disk;
    // Every actor has closed, so the next boot goes on where this one ended.
    if (world->deaths == 0 && scene.ends_clean) {
      CHECK(disk.versions.size() == 1 && disk.versions[0].is_clean == 1);
      CHECK(disk.versions[0].Floor() == world->issued_end, disk.versions[0].Floor(),
            world->issued_end);
    }
  };
  return Scheduler::Explore(scheduled, preemptions + scene.more_preemptions);
}

const Scene kScenes[] = {
    {"two processes share a state file",
     {[](Actor& actor) {
        actor.Open(3), actor.Fill(3, 3), actor.Fill(8, 2), actor.Close();
      },
      [](Actor& actor) { actor.Open(4), actor.Fill(4, 9), actor.Close(); }}},
    {"the clock of one is far ahead",
     {[](Actor& actor) { actor.Open(3), actor.Fill(8, 1), actor.Fill(16, 1); },
      [](Actor& actor) { actor.Open(12), actor.Fill(20, 1); }},
     false,
     0,
     false},
    {"the ceiling rises ahead of need",
     {[](Actor& actor) {
       actor.Open(3), actor.Fill(4, 2), actor.Fill(6, 2), actor.Close();
     }},
     false,
     0,
     true,
     1},
    {"both begin where a clean close ended, and one opens again",
     {[](Actor& actor) {
        actor.Open(1), actor.Fill(1, 3), actor.Close();
        actor.Open(2), actor.Fill(2, 3), actor.Close();
      },
      [](Actor& actor) { actor.Open(1), actor.Fill(1, 4), actor.Close(); }},
     true},
    {"the memory is another one in the same boot",
     {[](Actor& actor) { actor.Open(3), actor.Fill(3, 5), actor.Close(); },
      [](Actor& actor) { actor.Open(0, 1), actor.Fill(0, 5), actor.Close(); }}},
    {"a sync fails",
     {[](Actor& actor) {
        actor.Open(3), actor.Fill(3, 3), actor.Fill(8, 2), actor.Fill(8, 2);
        actor.Close();
      },
      [](Actor& actor) {
        actor.Open(3) || actor.Open(3), actor.Fill(3, 9), actor.Close();
      }},
     false,
     1,
     false},
    {"the page is deleted, and both follow",
     {[](Actor& actor) {
        actor.Open(3), actor.Fill(3, 2), actor.Follow(), actor.Fill(6, 3);
        actor.Close();
      },
      [](Actor& actor) {
        actor.Open(3), actor.Fill(3, 6), actor.Fill(9, 2), actor.Close();
      }},
     false,
     0,
     false},
    {"the page is deleted, and the next one is found by another process",
     {[](Actor& actor) {
        actor.Open(3), actor.Fill(3, 2), actor.Follow(), actor.Fill(6, 3);
        actor.Close();
      },
      [](Actor& actor) {
        actor.AwaitFollowing(), actor.Open(3, 1), actor.Fill(3, 6), actor.Close();
      }},
     false,
     0,
     false},
};

void Ceilings(int argc, char** argv) {
  const auto preemptions = static_cast<int>(Argument(argc, argv, "--preemptions", 2));
  const uint64_t only = Argument(argc, argv, "--scene", 0);
  uint64_t number = 0;
  for (const Scene& scene : kScenes) {
    if (++number != only && only != 0) continue;
    const size_t count = Explore(scene, preemptions);
    CHECK(count > 0 && (count > 1 || preemptions == 0), count);
    std::printf("%6zu schedules: %2d %s\n", count, static_cast<int>(number),
                scene.name);
    std::fflush(stdout);
  }
  CHECK(only <= number && "there is no such scene", only);
}

const Subcommand kCeilings{"ceiling", Ceilings};

}  // namespace
}  // namespace ceiling_model
}  // namespace graupel
