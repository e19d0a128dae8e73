#ifndef GRAUPEL_CORE_GENERATOR_H_
#define GRAUPEL_CORE_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ceiling.h"
#include "generation.h"
#include "layout.h"
#include "reuse.h"
#include "row.h"
#include "sequence_start.h"
#include "state.h"

#if defined(_MSC_VER)
#define GRAUPEL_NOINLINE __declspec(noinline)
#else
#define GRAUPEL_NOINLINE [[gnu::noinline]]
#endif

namespace graupel {

// The run of slots that a thread hands out. All generators of a thread on one state
// share it, so the ids of a thread ascend across its generators.
struct Run {
  uint64_t tick = 0;
  // How many ticks `tick` was ahead of the clock when the run was reserved; the clock
  // may be as many behind now. Zero unless a policy let the word run ahead.
  uint64_t span = 0;
  uint64_t sequence = 0;
  uint64_t end = 0;  // One past the last sequence number; empty at `sequence`.
  uint64_t base_id = 0;
  uint64_t size = 0;
  // The one generator that may use the run, because its policy obtained it; 0 if all
  // may use it.
  uint64_t holder = 0;
  bool reused = false;  // Slots of a past tick, and not from the word.
};

// One thread's access to one state. Not thread-safe; the State is.
struct ThreadAccess {
  ThreadAccess(State* state_in, const Layout& layout_in)
      : state(state_in), layout(layout_in) {}

  State* state;
  const Layout layout;
  Run run;
  Ceiling* ceiling = nullptr;                // Null: no bound.
  const Replaceable* replaceable = nullptr;  // Null: a state that stays where it is.
  uint64_t checked_tick = UINT64_MAX;        // The tick of the last IsCurrent().
};

class Generator {
 public:
  // `id` is not 0 and unique among the generators of `access`.
  // `generation` is the generation of the machine (generation.h) at which the state was
  // acquired.
  Generator(ThreadAccess* access, uint64_t id, SequenceStart start,
            uint64_t generation = Generation())
      : access_(access),
        id_(id),
        generation_(generation),
        start_(std::make_shared<SequenceStart>(start)) {}

  // The same generator with other tags: what a policy has obtained for one of them is
  // for all. `tag_bits` are the tags, shifted as in an id.
  Generator View(uint64_t tag_bits) const {
    Generator view(*this);
    view.tag_bits_ = tag_bits;
    view.issued_ = 0;
    view.reservations_ = 0;
    return view;
  }

  const Layout& layout() const { return access_->layout; }
  State& state() const { return *access_->state; }
  uint64_t issued() const { return issued_; }
  // The last reservation, and how many there were; for debugging.
  const SlotRange& reserved() const { return reserved_; }
  uint64_t reservations() const { return reservations_; }
  // False in a copy of the machine.
  bool IsOriginal() const { return Generation() == generation_; }

  // Makes one id at the tick that the clock shows.
  Status Next(uint64_t now_tick, uint64_t* id) {
    Run& run = access_->run;
    if (!Usable(run, now_tick)) [[unlikely]] {
      const Status status = Refill(now_tick);
      if (status != Status::kOk) return status;
    }
    *id = run.base_id + tag_bits_ + (run.sequence++ << layout().sequence_shift);
    if (!IsOriginal()) [[unlikely]]
      return DropRun();
    ++issued_;
    return Status::kOk;
  }

  // Reserves a run up to `limit_tick`, which the policy allows after Next() has
  // returned kAhead. Next() then hands the run out. A run ahead of the clock is for
  // this generator alone.
  Status Grant(uint64_t now_tick, uint64_t limit_tick) {
    Run& run = access_->run;
    const bool has_run = run.sequence < run.end && !run.reused &&
                         run.tick <= limit_tick && run.tick - now_tick <= run.span;
    const Status status = has_run ? Status::kOk : ReserveRun(now_tick, limit_tick);
    if (status == Status::kOk) run.holder = run.span == 0 ? 0 : id_;
    return status;
  }

  // As Grant(), from the unused slots of the past tick that the clock shows: `want`
  // slots, or the usual size of a run if `want` is 0.
  Status GrantUnused(uint64_t now_tick, uint64_t want) {
    if (!IsCurrent(now_tick)) return Status::kMoved;
    const uint64_t size = want != 0 ? want : NextSize(now_tick);
    SlotRange range;
    const Status status = ReserveUnused(state(), layout(), now_tick, size, &range);
    if (status != Status::kOk) return status;
    SetRun(range, now_tick, size);
    access_->run.holder = id_;
    access_->run.reused = true;
    return Status::kOk;
  }

  // Drops the slots of the run that lie below `slot`. Slots of a past tick are kept:
  // the policy `reuse` gives up the order.
  void DropBelow(uint64_t slot) {
    Run& run = access_->run;
    const uint64_t begin = layout().FirstSlot(run.tick);
    if (run.reused || slot <= begin + run.sequence) return;
    run.sequence = slot - begin < run.end ? slot - begin : run.end;
  }

  // Writes as many ids as there are up to `limit_tick`, at most `count`, and their
  // number to `*filled`. It uses up the current run, and then makes one reservation.
  // kOk if all `count` were written.
  Status Fill(uint64_t now_tick, uint64_t limit_tick, uint64_t* out, size_t count,
              size_t* filled) {
    const Status status = FillUnchecked(now_tick, limit_tick, out, count, filled);
    if (!IsOriginal()) {
      *filled = 0;
      return DropRun();
    }
    issued_ += *filled;
    return status;
  }

 private:
  Status FillUnchecked(uint64_t now_tick, uint64_t limit_tick, uint64_t* out,
                       size_t count, size_t* filled) {
    Run& run = access_->run;
    size_t from_run = 0;
    if (Usable(run, now_tick)) {
      const uint64_t left = run.end - run.sequence;
      from_run = left < count ? static_cast<size_t>(left) : count;
      WriteTick(out, from_run, run.base_id, run.sequence);
      run.sequence += from_run;
    }
    *filled = from_run;
    if (from_run == count) return Status::kOk;
    if (now_tick > layout().max_tick) return Status::kExpired;
    SlotRange range;
    const Status status = ReserveChecked(
        {.now_tick = now_tick, .limit_tick = limit_tick, .want = count - from_run},
        &range);
    if (status != Status::kOk) return status;
    Note(range);
    // The rest of the old run lies below this range. Handed out after a step of the
    // clock, it would break the order.
    run.sequence = run.end;
    WriteRange(out + from_run, range);
    *filled += static_cast<size_t>(range.count);
    return *filled == count ? Status::kOk : Status::kAhead;
  }

  // The other copies of the machine have this run, too.
  GRAUPEL_NOINLINE Status DropRun() {
    access_->run.sequence = access_->run.end;
    return Status::kCloned;
  }

  bool Usable(const Run& run, uint64_t now_tick) const {
    // Unsigned: if the clock has passed the run, the difference is huge.
    return run.tick - now_tick <= run.span && run.sequence < run.end &&
           (run.holder == 0 || run.holder == id_);
  }

  // Not inlined: the registers that a reservation saves and restores would cost
  // every Next() two nanoseconds.
  GRAUPEL_NOINLINE Status Refill(uint64_t now_tick) {
    if (now_tick > layout().max_tick) return Status::kExpired;
    return ReserveRun(now_tick, now_tick);
  }

  // Reserves a new run from the state word, for all generators of the thread.
  Status ReserveRun(uint64_t now_tick, uint64_t limit_tick) {
    const uint64_t size = NextSize(now_tick);
    SlotRange range;
    const Status status = ReserveChecked({.now_tick = now_tick,
                                          .limit_tick = limit_tick,
                                          .want = size,
                                          .one_tick = true},
                                         &range);
    if (status == Status::kOk) SetRun(range, now_tick, size);
    return status;
  }

  // Reserves on the current state, and below the ceiling.
  Status ReserveChecked(Request request, SlotRange* range) {
    if (!IsCurrent(request.now_tick)) return Status::kMoved;
    Ceiling* const ceiling = access_->ceiling;
    if (ceiling != nullptr) request.ceiling = ceiling->slot();
    const Status status = Reserve(state(), layout(), request, *start_, range);
    if (ceiling == nullptr) return status;
    const bool is_urgent = status == Status::kCeiling;
    if (is_urgent ||
        (status == Status::kOk && range->first + range->count > ceiling->alarm())) {
      ceiling->Ask(request.now_tick, is_urgent);
    }
    return status;
  }

  bool IsCurrent(uint64_t now_tick) {
    if (access_->replaceable == nullptr || access_->checked_tick == now_tick) {
      return true;
    }
    if (!access_->replaceable->IsCurrent()) return false;
    access_->checked_tick = now_tick;
    return true;
  }

  // Runs double within a tick. Threads that make many ids then seldom meet at the word,
  // and a thread that makes few takes no more than it uses. A thread can leave at most
  // a 64th of the tick unused.
  uint64_t NextSize(uint64_t now_tick) const {
    const Run& run = access_->run;
    if (run.size == 0 || run.tick - run.span != now_tick) return 1;
    const uint64_t max_size = layout().Capacity() / 64;
    const uint64_t twice = run.size * 2;
    return twice < max_size ? twice : max_size > 1 ? max_size : 1;
  }

  void Note(const SlotRange& range) {
    reserved_ = range;
    ++reservations_;
  }

  void SetRun(const SlotRange& range, uint64_t now_tick, uint64_t size) {
    Note(range);
    Run& run = access_->run;
    run.tick = layout().TickOf(range.first);
    run.span = run.tick - now_tick;
    run.sequence = layout().SequenceOf(range.first);
    run.end = run.sequence + range.count;
    run.base_id = layout().BaseId(run.tick);
    run.size = size;
    run.holder = 0;
    run.reused = false;
  }

  void WriteRange(uint64_t* out, const SlotRange& range) const {
    uint64_t slot = range.first;
    uint64_t left = range.count;
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
    const int shift = layout().sequence_shift;
    const uint64_t first = base_id + tag_bits_ + (sequence << shift);
    WriteRow(out, count, first, uint64_t{1} << shift);
  }

  ThreadAccess* access_;
  const uint64_t id_;
  const uint64_t generation_;
  uint64_t tag_bits_ = 0;
  std::shared_ptr<SequenceStart> start_;  // Of all views.
  uint64_t issued_ = 0;
  SlotRange reserved_;
  uint64_t reservations_ = 0;
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_GENERATOR_H_
