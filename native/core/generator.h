#ifndef GRAUPEL_CORE_GENERATOR_H_
#define GRAUPEL_CORE_GENERATOR_H_

#include <cstddef>
#include <cstdint>

#include "ceiling.h"
#include "layout.h"
#include "sequence_start.h"
#include "state.h"

#if defined(_MSC_VER)
#define GRAUPEL_NOINLINE __declspec(noinline)
#else
#define GRAUPEL_NOINLINE [[gnu::noinline]]
#endif

namespace graupel {

// The numbers are the ones of src/engine/engine.ts.
enum class Status : uint32_t {
  kOk = 0,
  kAhead = 1,        // The state word is ahead of the clock: ask the policy.
  kBeforeEpoch = 2,  // The clock shows a time before the layout's epoch.
  kExpired = 3,      // The clock shows a time that no longer fits the layout.
  kClosed = 4,
  kCeiling = 5,      // The next slot lies above the ceiling: wait for it to rise.
  kUnavailable = 6,  // The state was lost, and no other can be had.
  kMoved = 7,        // The state word is somewhere else now; only inside of C++.
};

// The run of slots a thread is handing out. All generators of a thread on one
// state share it, so what the thread sees is in order whichever it asks.
struct Lease {
  uint64_t tick = 0;
  // Ticks that the clock may be behind `tick`: the lease was granted then.
  // Zero unless a policy let the word run ahead.
  uint64_t span = 0;
  uint64_t sequence = 0;
  uint64_t end = 0;  // One past the last sequence number; empty at `sequence`.
  uint64_t base_id = 0;
  uint64_t size = 0;
  // The one generator whose policy obtained it, or 0: anybody's.
  uint64_t holder = 0;
  bool reused = false;  // Slots of a past tick, not of the word's.
};

// One thread's access to one state. Not thread-safe; the State is.
struct Thread {
  Thread(State* state_in, const Layout& layout_in)
      : state(state_in), layout(layout_in) {}

  State* state;
  const Layout layout;
  Lease lease;
  Ceiling* ceiling = nullptr;                // Null: no bound.
  const Whereabouts* whereabouts = nullptr;  // Null: where it always is.
  uint64_t checked_tick = UINT64_MAX;        // When it was last asked.
};

class Generator {
 public:
  // `id` is not 0 and unique among the generators of `thread`.
  Generator(Thread* thread, uint64_t id, SequenceStart start)
      : thread_(thread), id_(id), start_(start) {}

  const Layout& layout() const { return thread_->layout; }
  State& state() const { return *thread_->state; }
  uint64_t issued() const { return issued_; }

  // One id at the tick the clock shows.
  Status Next(uint64_t now_tick, uint64_t* id) {
    Lease& lease = thread_->lease;
    if (!Usable(lease, now_tick)) [[unlikely]] {
      const Status status = Refill(now_tick);
      if (status != Status::kOk) return status;
    }
    *id = lease.base_id + (lease.sequence++ << layout().sequence_shift);
    ++issued_;
    return Status::kOk;
  }

  // What the policy allows where Next() said kAhead: a lease for this
  // generator alone, up to `limit_tick`. Next() then hands it out.
  Status Grant(uint64_t now_tick, uint64_t limit_tick) {
    Lease& lease = thread_->lease;
    if (lease.sequence < lease.end && !lease.reused && lease.tick <= limit_tick &&
        lease.tick - now_tick <= lease.span) {
      lease.holder = lease.span == 0 ? 0 : id_;
      return Status::kOk;
    }
    const Status status = LeaseUpTo(now_tick, limit_tick);
    if (status == Status::kOk) lease.holder = lease.span == 0 ? 0 : id_;
    return status;
  }

  // The same from what was left unused in the past tick that the clock shows;
  // `want` slots, or as many as a lease usually has for 0.
  Status GrantUnused(uint64_t now_tick, uint64_t want) {
    if (!IsCurrent(now_tick)) return Status::kMoved;
    const uint64_t size = want != 0 ? want : NextSize(now_tick);
    Run run;
    const Reserved reserved = ReserveUnused(state(), layout(), now_tick, size, &run);
    if (reserved != Reserved::kRun) return StatusOf(reserved);
    SetLease(run, now_tick, size);
    thread_->lease.holder = id_;
    thread_->lease.reused = true;
    return Status::kOk;
  }

  // As many ids as there are up to `limit_tick`, at most `count`; `*filled` says how
  // many. One reservation, after what is left of the lease. kOk if it is all of them.
  Status Fill(uint64_t now_tick, uint64_t limit_tick, uint64_t* out, size_t count,
              size_t* filled) {
    Lease& lease = thread_->lease;
    size_t from_lease = 0;
    if (Usable(lease, now_tick)) {
      const uint64_t left = lease.end - lease.sequence;
      from_lease = left < count ? static_cast<size_t>(left) : count;
      WriteTick(out, from_lease, lease.base_id, lease.sequence);
      lease.sequence += from_lease;
      issued_ += from_lease;
    }
    *filled = from_lease;
    if (from_lease == count) return Status::kOk;
    if (now_tick > layout().max_tick) return Status::kExpired;
    Request request;
    request.now_tick = now_tick;
    request.limit_tick = limit_tick;
    request.want = count - from_lease;
    Run run;
    const Status status = ReserveChecked(&request, &run);
    if (status != Status::kOk) return status;
    // What an old lease still holds lies below this run: handing it out after a
    // step of the clock would go back in order.
    lease.sequence = lease.end;
    WriteRun(out + from_lease, run);
    *filled += static_cast<size_t>(run.count);
    issued_ += run.count;
    return *filled == count ? Status::kOk : Status::kAhead;
  }

 private:
  bool Usable(const Lease& lease, uint64_t now_tick) const {
    // Unsigned: a clock that has passed the lease makes a huge difference.
    return lease.tick - now_tick <= lease.span && lease.sequence < lease.end &&
           (lease.holder == 0 || lease.holder == id_);
  }

  // Not inlined: the registers that a reservation saves and restores would cost
  // every Next() two nanoseconds.
  GRAUPEL_NOINLINE Status Refill(uint64_t now_tick) {
    if (now_tick > layout().max_tick) return Status::kExpired;
    return LeaseUpTo(now_tick, now_tick);
  }

  // A new lease, anybody's, from the state word.
  Status LeaseUpTo(uint64_t now_tick, uint64_t limit_tick) {
    Request request;
    request.now_tick = now_tick;
    request.limit_tick = limit_tick;
    request.want = NextSize(now_tick);
    request.one_tick = true;
    Run run;
    const Status status = ReserveChecked(&request, &run);
    if (status == Status::kOk) SetLease(run, now_tick, request.want);
    return status;
  }

  // Reserves where others would, and below the ceiling.
  Status ReserveChecked(Request* request, Run* run) {
    if (!IsCurrent(request->now_tick)) return Status::kMoved;
    Ceiling* const ceiling = thread_->ceiling;
    if (ceiling == nullptr) {
      return StatusOf(Reserve(state(), layout(), *request, start_, run));
    }
    request->ceiling = ceiling->slot();
    const Reserved reserved = Reserve(state(), layout(), *request, start_, run);
    if (reserved == Reserved::kCeiling) {
      ceiling->Ask(request->now_tick, true);
    } else if (reserved == Reserved::kRun &&
               run->first + run->count > ceiling->alarm()) {
      ceiling->Ask(request->now_tick, false);
    }
    return StatusOf(reserved);
  }

  bool IsCurrent(uint64_t now_tick) {
    if (thread_->whereabouts == nullptr || thread_->checked_tick == now_tick) {
      return true;
    }
    if (!thread_->whereabouts->IsCurrent()) return false;
    thread_->checked_tick = now_tick;
    return true;
  }

  static Status StatusOf(Reserved reserved) {
    switch (reserved) {
      case Reserved::kRun:
        return Status::kOk;
      case Reserved::kAhead:
        return Status::kAhead;
      case Reserved::kCeiling:
        return Status::kCeiling;
      case Reserved::kMoved:
        break;
    }
    return Status::kMoved;
  }

  // Leases double within a tick, so that threads which make many ids seldom
  // meet at the word, and one that makes few takes no more than it uses. A
  // 64th of the tick is the most a thread can leave unused.
  uint64_t NextSize(uint64_t now_tick) const {
    const Lease& lease = thread_->lease;
    if (lease.size == 0 || lease.tick - lease.span != now_tick) return 1;
    const uint64_t most = layout().Capacity() / 64;
    const uint64_t twice = lease.size * 2;
    return twice < most ? twice : most > 1 ? most : 1;
  }

  void SetLease(const Run& run, uint64_t now_tick, uint64_t size) {
    Lease& lease = thread_->lease;
    lease.tick = layout().TickOf(run.first);
    lease.span = lease.tick - now_tick;
    lease.sequence = layout().SequenceOf(run.first);
    lease.end = lease.sequence + run.count;
    lease.base_id = layout().BaseId(lease.tick);
    lease.size = size;
    lease.holder = 0;
    lease.reused = false;
  }

  void WriteRun(uint64_t* out, const Run& run) const {
    uint64_t slot = run.first;
    uint64_t left = run.count;
    while (left > 0) {
      const uint64_t sequence = layout().SequenceOf(slot);
      const uint64_t room = layout().Capacity() - sequence;
      const uint64_t count = left < room ? left : room;
      WriteTick(out, static_cast<size_t>(count), layout().BaseId(layout().TickOf(slot)),
                sequence);
      out += count;
      slot += count;
      left -= count;
    }
  }

  void WriteTick(uint64_t* out, size_t count, uint64_t base_id,
                 uint64_t sequence) const {
    const uint64_t step = uint64_t{1} << layout().sequence_shift;
    uint64_t id = base_id + (sequence << layout().sequence_shift);
    // This shape is what compilers turn into vector stores; with first + i * step
    // they multiply, which takes twice the time. AVX2 would halve it again, for
    // programs that only some processors can run.
    for (size_t i = 0; i < count; ++i, id += step) out[i] = id;
  }

  Thread* thread_;
  const uint64_t id_;
  SequenceStart start_;
  uint64_t issued_ = 0;
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_GENERATOR_H_
