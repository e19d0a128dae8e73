// Reports the latest reservation and the latest fault, for messages and debugging.

#include <system_error>

#include "calls.h"

namespace graupel {

Napi::Value Report(const Napi::CallbackInfo& info, Environment& environment) {
  const auto report = Napi::Object::New(info.Env());
  if (report.IsEmpty()) return report;
  const Handle* const handle = environment.Current();
  const auto set = [&](const char* name, uint64_t number) {
    report.Set(name, static_cast<double>(number));
  };
  set("number", handle == nullptr ? 0 : handle->generator.reservations());
  if (handle == nullptr) return report;
  const Page* const page = handle->group->home.page().get();
  if (page != nullptr) report.Set("path", page->path());
  const SlotRange& range = handle->generator.reserved();
  set("tick", handle->generator.layout().TickOf(range.first));
  set("sequence", handle->generator.layout().SequenceOf(range.first));
  set("count", range.count);
  return report;
}

Napi::Value FaultReport(const Napi::CallbackInfo& info, Environment& environment) {
  const Fault& fault = environment.fault();
  const auto result = Napi::Object::New(info.Env());
  if (result.IsEmpty()) return result;
  result.Set("kind", static_cast<uint32_t>(fault.kind));
  result.Set("error", fault.error);
  result.Set("reason", std::system_category().message(fault.error));
  result.Set("call", fault.call);
  result.Set("path", fault.path);
  result.Set("detail", fault.detail);
  result.Set("subject", static_cast<uint32_t>(fault.subject));
  const auto found = Napi::Object::New(info.Env());
  if (found.IsEmpty()) return result;
  found.Set("key", fault.found.key);
  found.Set("description", fault.found.description);
  result.Set("found", found);
  result.Set("format", fault.format);
  result.Set("waitMs", static_cast<double>(fault.wait_ms));
  return result;
}

}  // namespace graupel
