#ifndef GRAUPEL_HOST_DURABLE_CEILING_H_
#define GRAUPEL_HOST_DURABLE_CEILING_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../core/ceiling.h"
#include "ceiling_record.h"
#include "page.h"
#include "state_file.h"

namespace graupel {

// A ceiling that a state file holds, with a thread that raises it. All calls that may
// wait for the disk are made in that thread, except those of Open().
class DurableCeiling : public Ceiling {
 public:
  struct Options {
    std::string path;
    Identity identity;
    Layout layout;
    uint64_t reserve_ticks = 1;
    uint64_t now_tick = 0;
    int open_timeout_ms = 1000;  // For the locks of the file, all together.
  };

  // kMoved if the page is sealed. When the last owner releases the ceiling, the file
  // gets the exact word, unless another process has the file in use.
  static Fault Open(const Options& options, std::shared_ptr<Page> page,
                    std::shared_ptr<DurableCeiling>* ceiling);

  void Ask(uint64_t now_tick, bool is_urgent) override;

  // Asks, and blocks until a round of raising the ceiling has ended, for at most
  // `timeout_ms`. For kFailed, `*fault` has the reason. `*round` is 0 at first; the
  // call sets it, and a caller that continues to wait passes it again.
  enum class Outcome : uint32_t { kRaised = 0, kFailed = 1, kTimeout = 2 };
  Outcome Await(uint64_t now_tick, uint32_t timeout_ms, uint64_t* round, Fault* fault);

  // Whether the path still leads to this file.
  bool IsCurrent() const;

  // Called after the word has moved to another page, because its page was deleted.
  void Follow(std::shared_ptr<Page> page);

 private:
  // The memory whose word is the truth, and its names in the record.
  struct Memory {
    std::shared_ptr<Page> page;
    CeilingRecord own{};
    std::vector<CeilingRecord> formers;  // The sealed ones before it.
    bool IsIn(const CeilingRecord& record) const {
      if (record.IsOf(own)) return true;
      for (const auto& former : formers) {
        if (record.IsOf(former)) return true;
      }
      return false;
    }
  };

  DurableCeiling(const Options& options, Memory memory);

  Fault Attach(int open_timeout_ms);
  void Work();
  Fault RaiseOnDisk(const Memory& memory, uint64_t now_tick, uint64_t* ceiling);
  void WriteLastWord(const Memory& memory);
  void Adopt(uint64_t ceiling);
  void Close();

  const Layout layout_;
  const uint64_t reserve_ticks_;
  const std::string path_;
  std::unique_ptr<StateFile> file_;
  FileIdentity identity_;

  // Read without the mutex, so that asking often costs nothing.
  std::atomic<bool> is_asked_{false};
  std::atomic<int64_t> quiet_until_ns_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  Memory memory_;
  uint64_t wanted_tick_;
  uint64_t round_ = 1;  // Counts the times that the thread has tried to raise it.
  Fault fault_;
  bool is_closing_ = false;
  bool is_closed_ = false;
};

}  // namespace graupel

#endif  // GRAUPEL_HOST_DURABLE_CEILING_H_
