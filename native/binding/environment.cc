#include "environment.h"

namespace graupel {

GeneratorGroup* Environment::GroupFor(const HomeOptions& options, bool needs_history) {
  Home home;
  fault_ = OpenHome(options, &home);
  if (!fault_.IsNone()) return nullptr;
  const GroupKey key(home.state, home.ceiling());
  std::unique_ptr<GeneratorGroup>& group = groups_[key];
  if (group == nullptr) {
    group.reset(new GeneratorGroup(options.layout, home, DescriptionOf(options)));
  }
  if (!needs_history || AddHistory(*group, options.now_tick)) return group.get();
  // The next call must not find a group without its history.
  if (group->users == 0) DeleteGroup(group.get());
  return nullptr;
}

Text Environment::DescriptionOf(const HomeOptions& options) {
  // One text for each layout in use.
  for (const Text& text : descriptions_) {
    if (*text == options.identity.description) return text;
  }
  descriptions_.push_back(
      std::make_shared<const std::string>(options.identity.description));
  return descriptions_.back();
}

bool Environment::AddHistory(GeneratorGroup& group, uint64_t now_tick) {
  group.needs_history = true;
  fault_ = EnableHistory(group.home, group.access.layout, now_tick);
  // The page was deleted since it was opened.
  if (fault_.kind == Fault::Kind::kLost) return Follow(group, now_tick);
  return fault_.IsNone();
}

bool Environment::Follow(GeneratorGroup& group, uint64_t now_tick) {
  const Identity identity{std::string(group.home.key), *group.description};
  fault_ = FollowHome(identity, group.access.layout, &group.home);
  if (!fault_.IsNone()) return false;
  // From now on the group is found by its new state. If that state already has a group,
  // GroupFor() continues to find the other group.
  const GroupKey key(group.access.state, group.home.ceiling());
  group.UpdateAccess();
  const auto at = groups_.find(key);
  if (at != groups_.end() && at->second.get() == &group) {
    auto node = groups_.extract(at);
    node.key().first = group.home.state;
    if (groups_.count(node.key()) == 0) {
      groups_.insert(std::move(node));
    } else {
      displaced_.push_back(std::move(node.mapped()));
    }
  }
  if (!group.needs_history) return true;
  fault_ = EnableHistory(group.home, group.access.layout, now_tick);
  return fault_.IsNone();
}

uint32_t Environment::AddGenerator(GeneratorGroup* group, SequenceStart start,
                                   ClockKind clock, uint64_t generation) {
  ++group->users;
  std::unique_ptr<Handle> handle(new Handle{
      Generator(&group->access, next_id_++, start, generation), clock, group});
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
  if (--group->users == 0) DeleteGroup(group);
}

void Environment::DeleteGroup(const GeneratorGroup* group) {
  std::erase_if(groups_,
                [&](const auto& entry) { return entry.second.get() == group; });
  std::erase_if(displaced_, [&](const auto& entry) { return entry.get() == group; });
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
