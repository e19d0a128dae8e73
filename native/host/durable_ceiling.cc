#include "durable_ceiling.h"

#include <chrono>
#include <utility>

#include "../core/clock.h"
#include "system.h"

namespace graupel {
namespace {

// For the thread; createGenerator has open_timeout_ms. A sync takes some milliseconds.
// A process that holds a lock for longer was stopped, or its disk does not answer.
constexpr int kLockMs = 1000;
constexpr std::chrono::milliseconds kCloseTime{2000};
// Time after a failure in which reservations that pass the alarm do not ask again.
constexpr int64_t kQuietNs = 100'000'000;

}  // namespace

DurableCeiling::DurableCeiling(const Options& options, Memory memory)
    : layout_(options.layout),
      reserve_ticks_(options.reserve_ticks),
      path_(options.path),
      file_(new StateFile()),
      memory_(std::move(memory)),
      wanted_tick_(options.now_tick) {}

Fault DurableCeiling::Open(const Options& options, std::shared_ptr<Page> page,
                           std::shared_ptr<DurableCeiling>* ceiling) {
  Memory memory;
  memory.own.lineage = page->lineage();
  memory.page = std::move(page);
  std::string boot_id;
  Fault fault = BootId(&boot_id);
  if (!fault.IsNone()) return fault;
  boot_id.copy(memory.own.boot_id, sizeof memory.own.boot_id - 1);

  const std::shared_ptr<DurableCeiling> made(
      new DurableCeiling(options, std::move(memory)));
  fault = made->file_->Open(options.path, options.identity);
  if (!fault.IsNone()) return fault;
  made->identity_ = made->file_->identity();
  fault = made->Attach(options.open_timeout_ms);
  if (!fault.IsNone()) return fault;

  auto* owned = new std::shared_ptr<DurableCeiling>(made);
  fault = StartThread(
      [](void* data) {
        auto* own_share = static_cast<std::shared_ptr<DurableCeiling>*>(data);
        (*own_share)->Work();
        delete own_share;
      },
      owned);
  if (!fault.IsNone()) {
    delete owned;
    fault.path = options.path;
    return fault;
  }
  // The thread has a share of its own: while it waits for a disk that hangs, the
  // ceiling must not be freed. The share that is handed out closes the ceiling.
  *ceiling = std::shared_ptr<DurableCeiling>(made.get(),
                                             [share = made](DurableCeiling*) mutable {
                                               share->Close();
                                               // A weak_ptr keeps this deleter, which
                                               // must not keep the page mapped.
                                               share.reset();
                                             });
  return {};
}

Fault DurableCeiling::Attach(int open_timeout_ms) {
  constexpr int64_t kNsPerMs = SteadyTime::kNsPerMs;
  const int64_t end_ns = MonotonicNs() + open_timeout_ms * kNsPerMs;
  const auto left_ms = [&] {
    const int64_t left = (end_ns - MonotonicNs()) / kNsPerMs;
    return left > 0 ? static_cast<int>(left) : 0;
  };
  Fault fault;
  fault = file_->Lock(left_ms());
  if (!fault.IsNone()) return fault;
  const bool is_exclusive = file_->TryExclusiveUse();
  // Exclusive use lasts until the first sync has ended.
  if (!is_exclusive) fault = file_->ShareUse(left_ms());
  if (fault.IsNone()) {
    CeilingRecord record;
    switch (graupel::Attach(*file_, is_exclusive, memory_.own, memory_.page->state(),
                            layout_, reserve_ticks_, wanted_tick_, &record)) {
      case Attached::kOk:
        Adopt(record.durable);
        if (is_exclusive) fault = file_->ShareUse(left_ms());
        break;
      case Attached::kOtherMemory:
        fault = Fault::Of(Fault::Kind::kInUse, path_);
        break;
      case Attached::kMoved:
        fault = Fault::Of(Fault::Kind::kMoved, memory_.page->path());
        break;
      case Attached::kFailed:
        fault = file_->fault();
        break;
    }
  }
  file_->Unlock();
  return fault;
}

void DurableCeiling::Adopt(uint64_t ceiling) {
  const uint64_t last_tick = layout_.TickOf(ceiling - 1);
  const uint64_t half = reserve_ticks_ / 2;
  Raise(ceiling, layout_.FirstSlot(last_tick > half ? last_tick - half : 0));
}

void DurableCeiling::Ask(uint64_t now_tick, bool is_urgent) {
  // Both loads are relaxed: a thread that reads an old value asks once more, or a
  // little later.
  if (is_asked_.load(std::memory_order_relaxed)) return;
  if (!is_urgent && quiet_until_ns_.load(std::memory_order_relaxed) > MonotonicNs()) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (wanted_tick_ < now_tick) wanted_tick_ = now_tick;
  is_asked_.store(true, std::memory_order_relaxed);
  wake_.notify_one();
}

DurableCeiling::Outcome DurableCeiling::Await(uint64_t now_tick, uint32_t timeout_ms,
                                              uint64_t* round, Fault* fault) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (*round == 0) {
    *round = round_;
    if (wanted_tick_ < now_tick) wanted_tick_ = now_tick;
    is_asked_.store(true, std::memory_order_relaxed);
    wake_.notify_one();
  }
  const bool has_ended = ended_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                                         [&] { return round_ != *round; });
  if (!has_ended) return Outcome::kTimeout;
  *fault = fault_;
  return fault_.IsNone() ? Outcome::kRaised : Outcome::kFailed;
}

bool DurableCeiling::IsCurrent() const { return identity_.IsAt(path_); }

void DurableCeiling::Follow(std::shared_ptr<Page> page) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (memory_.page == page) return;
  // A late thread brought this page, which the other threads have left.
  if (page->state().word.load(std::memory_order_relaxed) == kSealed) return;
  if (!(memory_.own.lineage == page->lineage())) {
    memory_.formers.push_back(memory_.own);
    memory_.own.lineage = page->lineage();
    Lower();
    // The record has to name the new page before another process opens the file.
    is_asked_.store(true, std::memory_order_relaxed);
    wake_.notify_one();
  }
  memory_.page = std::move(page);
}

void DurableCeiling::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(
        lock, [&] { return is_closing_ || is_asked_.load(std::memory_order_relaxed); });
    if (is_closing_) break;
    is_asked_.store(false, std::memory_order_relaxed);
    const uint64_t now_tick = wanted_tick_;
    const Memory memory = memory_;
    lock.unlock();
    uint64_t ceiling = 0;
    Fault fault = RaiseOnDisk(memory, now_tick, &ceiling);
    if (!fault.IsNone()) {
      quiet_until_ns_.store(MonotonicNs() + kQuietNs, std::memory_order_relaxed);
    }
    lock.lock();
    const bool is_overtaken = memory_.page != memory.page;
    // The threads have left that page, so they try again for the next page, whether
    // this round succeeded or failed.
    if (is_overtaken) {
      fault = {};
    } else if (fault.IsNone()) {
      Adopt(ceiling);
    }
    fault_ = std::move(fault);
    ++round_;
    // The round also counts for threads that asked meanwhile. They ask again if it
    // was not enough. A round for the time at which they asked would end as late.
    is_asked_.store(is_overtaken, std::memory_order_relaxed);
    ended_.notify_all();
  }
  const Memory memory = memory_;
  lock.unlock();
  WriteLastWord(memory);
  file_.reset();
  lock.lock();
  is_closed_ = true;
  ended_.notify_all();
}

Fault DurableCeiling::RaiseOnDisk(const Memory& memory, uint64_t now_tick,
                                  uint64_t* ceiling) {
  Fault fault = file_->StillThere();
  if (!fault.IsNone()) return fault;
  fault = file_->Lock(kLockMs);
  if (!fault.IsNone()) return fault;
  CeilingRecord record;
  // If the record is about a page that was lost on the way to this page, Attach()
  // brings the word to the record's floor, because the latest word of the lost page may
  // be unknown.
  const Attached attached =
      file_->Read(&record) ? graupel::Attach(*file_, memory.IsIn(record), memory.own,
                                             memory.page->state(), layout_,
                                             reserve_ticks_, now_tick, &record)
                           : Attached::kFailed;
  switch (attached) {
    case Attached::kOk:
      *ceiling = record.durable;
      break;
    case Attached::kOtherMemory:
      fault = Fault::Of(Fault::Kind::kLost, file_->path(), "overwritten");
      break;
    case Attached::kMoved:
      // A thread that finds the seal brings another page (Follow).
      fault = Fault::Of(Fault::Kind::kLost, memory.page->path(), "deleted");
      fault.subject = Fault::Subject::kPage;
      break;
    case Attached::kFailed:
      fault = file_->fault();
      break;
  }
  file_->Unlock();
  return fault;
}

void DurableCeiling::WriteLastWord(const Memory& memory) {
  if (!file_->StillThere().IsNone() || !file_->Lock(kLockMs).IsNone()) return;
  CeilingRecord record;
  if (file_->TryExclusiveUse() && file_->Read(&record) && memory.IsIn(record)) {
    // After a failure the file keeps the ceilings, from which the next process can
    // continue safely.
    Detach(*file_, memory.page->state());
  }
  file_->Unlock();
}

void DurableCeiling::Close() {
  std::unique_lock<std::mutex> lock(mutex_);
  is_closing_ = true;
  wake_.notify_one();
  ended_.wait_for(lock, kCloseTime, [&] { return is_closed_; });
}

}  // namespace graupel
