#include "environment.h"

#include <utility>

#include "../core/process_state.h"

namespace graupel {

Environment::Environment(Napi::Env env, Napi::Object exports) {
  Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(env, sizeof(Mailbox));
  mailbox_ = static_cast<Mailbox*>(buffer.Data());
  // Lives exactly as long as the environment, which frees it itself.
  mailbox_reference_ = Napi::Persistent(buffer);
  mailbox_reference_.SuppressDestruct();
  exports.Set("mailbox", buffer);
}

Thread* Environment::ThreadFor(const std::string& key, const Layout& layout,
                               bool history) {
  State& state = ProcessState(key);
  // A map's values stay where they are.
  Thread& thread = threads_.try_emplace(&state, &state, layout).first->second;
  if (history) {
    uint64_t now_tick = 0;
    const auto now_ms = static_cast<int64_t>(mailbox_->now);
    layout.ToTick(now_ms, &now_tick);
    EnableHistory(state, layout, now_tick);
  }
  return &thread;
}

uint32_t Environment::Add(Thread* thread, SequenceStart start, ClockKind clock) {
  std::unique_ptr<Handle> handle(
      new Handle{Generator(thread, next_id_++, start), clock});
  if (free_handles_.empty()) {
    handles_.push_back(std::move(handle));
    return static_cast<uint32_t>(handles_.size() - 1);
  }
  const uint32_t index = free_handles_.back();
  free_handles_.pop_back();
  handles_[index] = std::move(handle);
  return index;
}

void Environment::Remove(uint32_t handle) { handles_[handle].reset(); }

void Environment::Release(uint32_t handle) {
  Remove(handle);
  free_handles_.push_back(handle);
}

}  // namespace graupel
