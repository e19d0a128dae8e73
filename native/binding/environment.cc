#include "environment.h"

namespace graupel {

GeneratorGroup* Environment::GroupFor(const HomeOptions& options, bool needs_history) {
  Home home;
  fault_ = OpenHome(options, &home);
  if (!fault_.IsNone()) return nullptr;
  const auto at = groups_.try_emplace(GeneratorGroup::KeyOf(home)).first;
  std::unique_ptr<GeneratorGroup>& group = at->second;
  bool has_moved = false;
  if (group == nullptr) {
    group.reset(new GeneratorGroup(options.layout, std::move(home)));
  } else if (group->access.state != &home.state()) {
    // The word has moved since the group's last reservation.
    group->home = std::move(home);
    group->UpdateAccess();
    has_moved = true;
  }
  const bool had_history = group->needs_history;
  if (!needs_history && !(had_history && has_moved)) return group.get();
  group->needs_history = true;
  const uint64_t now_tick = options.now_tick;
  fault_ = group->home.pages.EnableHistory(now_tick);
  if (fault_.kind == Fault::Kind::kMoved) {
    Follow(*group, now_tick, [] { return Status::kOk; });
  }
  if (fault_.IsNone()) return group.get();
  // The next call must not find a group without its history.
  group->needs_history = had_history;
  if (group->users == 0) groups_.erase(at);
  return nullptr;
}

Status Environment::Follow(GeneratorGroup& group, uint64_t now_tick,
                           const std::function<Status()>& use) {
  Status status = Status::kUnavailable;
  fault_ = FollowHome(&group.home, [&] {
    group.UpdateAccess();
    Fault fault;
    if (group.needs_history) fault = group.home.pages.EnableHistory(now_tick);
    if (!fault.IsNone()) return fault;
    status = use();
    if (status != Status::kMoved) return fault;
    return Fault::Of(Fault::Kind::kMoved, group.home.page()->path());
  });
  // The home may have moved once more, and failed before it called the function above.
  group.UpdateAccess();
  return fault_.IsNone() ? status : Status::kUnavailable;
}

uint32_t Environment::AddGenerator(GeneratorGroup* group, SequenceStart start,
                                   ClockKind clock, uint64_t generation) {
  return Add({Generator(&group->access, next_id_++, start, generation), clock, group});
}

uint32_t Environment::AddView(const Handle& base, uint64_t tag_bits) {
  return Add({base.generator.View(tag_bits), base.clock, base.group});
}

uint32_t Environment::Add(Handle added) {
  ++added.group->users;
  auto handle = std::make_unique<Handle>(std::move(added));
  if (free_handles_.empty()) {
    handles_.push_back(std::move(handle));
    return static_cast<uint32_t>(handles_.size() - 1);
  }
  const uint32_t index = free_handles_.back();
  free_handles_.pop_back();
  handles_[index] = std::move(handle);
  return index;
}

void Environment::CloseGenerator(uint32_t handle) {
  if (handle >= handles_.size() || handles_[handle] == nullptr) return;
  GeneratorGroup* const group = handles_[handle]->group;
  handles_[handle].reset();
  if (--group->users == 0) groups_.erase(GeneratorGroup::KeyOf(group->home));
}

void Environment::FreeHandle(uint32_t handle) {
  CloseGenerator(handle);
  free_handles_.push_back(handle);
}

void Environment::CloseFiles() {
  for (uint32_t handle = 0; handle < handles_.size(); ++handle) {
    if (handles_[handle] != nullptr &&
        handles_[handle]->group->home.file_ceiling != nullptr) {
      CloseGenerator(handle);
    }
  }
}

}  // namespace graupel
