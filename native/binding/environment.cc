#include "environment.h"

namespace graupel {

Seat* Environment::SeatFor(const HomeOptions& options, bool remembers) {
  Home home;
  fault_ = OpenHome(options, &home);
  if (!fault_.IsNone()) return nullptr;
  const SeatKey key(home.state, home.ceiling.get());
  std::unique_ptr<Seat>& seat = seats_[key];
  if (seat == nullptr) {
    seat.reset(new Seat(options.layout, home, DescriptionOf(options)));
  }
  if (!remembers || Remember(*seat, options.now_tick)) return seat.get();
  // Not to be found by the next one half made.
  if (seat->users == 0) Forget(seat.get());
  return nullptr;
}

Text Environment::DescriptionOf(const HomeOptions& options) {
  // As many as there are layouts in use.
  for (const Text& text : descriptions_) {
    if (*text == options.identity.description) return text;
  }
  descriptions_.push_back(
      std::make_shared<const std::string>(options.identity.description));
  return descriptions_.back();
}

bool Environment::Remember(Seat& seat, uint64_t now_tick) {
  seat.remembers = true;
  fault_ = RememberTicks(seat.home, seat.thread.layout, now_tick);
  // Deleted since it was opened.
  if (fault_.kind == Fault::Kind::kLost) return Follow(seat, now_tick);
  return fault_.IsNone();
}

bool Environment::Follow(Seat& seat, uint64_t now_tick) {
  const Identity identity{std::string(seat.home.key), *seat.description};
  fault_ = FollowHome(identity, seat.thread.layout, &seat.home);
  if (!fault_.IsNone()) return false;
  // Found by the state that it has from now on. Should there be a seat already,
  // that one is for those who come later.
  const SeatKey key(seat.thread.state, seat.home.ceiling.get());
  seat.Settle();
  const auto at = seats_.find(key);
  if (at != seats_.end() && at->second.get() == &seat) {
    auto node = seats_.extract(at);
    node.key().first = seat.home.state;
    if (seats_.count(node.key()) == 0) {
      seats_.insert(std::move(node));
    } else {
      displaced_.push_back(std::move(node.mapped()));
    }
  }
  if (!seat.remembers) return true;
  fault_ = RememberTicks(seat.home, seat.thread.layout, now_tick);
  return fault_.IsNone();
}

uint32_t Environment::Add(Seat* seat, SequenceStart start, ClockKind clock) {
  ++seat->users;
  std::unique_ptr<Handle> handle(
      new Handle{Generator(&seat->thread, next_id_++, start), clock, seat});
  if (free_handles_.empty()) {
    handles_.push_back(std::move(handle));
    return static_cast<uint32_t>(handles_.size() - 1);
  }
  const uint32_t index = free_handles_.back();
  free_handles_.pop_back();
  handles_[index] = std::move(handle);
  return index;
}

void Environment::Remove(uint32_t handle) {
  if (handle >= handles_.size() || handles_[handle] == nullptr) return;
  Seat* const seat = handles_[handle]->seat;
  handles_[handle].reset();
  if (--seat->users == 0 && seat->home.ceiling != nullptr) Forget(seat);
}

void Environment::Forget(const Seat* seat) {
  std::erase_if(seats_, [&](const auto& entry) { return entry.second.get() == seat; });
  std::erase_if(displaced_, [&](const auto& entry) { return entry.get() == seat; });
}

void Environment::Release(uint32_t handle) {
  Remove(handle);
  free_handles_.push_back(handle);
}

void Environment::Leave() {
  for (uint32_t handle = 0; handle < handles_.size(); ++handle) {
    if (handles_[handle] != nullptr &&
        handles_[handle]->seat->home.ceiling != nullptr) {
      Remove(handle);
    }
  }
}

}  // namespace graupel
