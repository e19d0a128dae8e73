#include "options.h"

#include <cmath>

namespace graupel {

void Throw(Napi::Env env, const char* code, const std::string& message) {
  // ThrowAsJavaScriptException() ends the process if the error could not be made and is
  // empty, or if another exception is pending. Set() fails in the second case.
  const Napi::TypeError error = Napi::TypeError::New(env, message);
  if (error.IsEmpty() || !error.Set("code", code)) return;
  error.ThrowAsJavaScriptException();
}

namespace {

// Reads the properties of an object. A property that is missing, or has the wrong type
// or a value out of range, makes a TypeError with `code` that names the property. That
// property is read as zero or empty, and so is every one after it. The caller asks ok()
// after the last one.
class Options {
 public:
  Options(const Napi::CallbackInfo& info, const char* code);

  // False if something is thrown, or the thread ends.
  bool ok() const { return is_ok_; }

  // A whole number that a double holds exactly.
  int64_t Whole(const char* name, int64_t min = -kMaxWhole, int64_t max = kMaxWhole);
  uint64_t BigInt(const char* name);
  bool Flag(const char* name);
  std::string Text(const char* name);

 private:
  static constexpr int64_t kMaxWhole = (int64_t{1} << 53) - 1;

  // Empty if the property is not of that type.
  Napi::Value Get(const char* name, napi_valuetype type);
  void Refuse(const char* name);

  const Napi::Env env_;
  const Napi::Value object_;
  const char* const code_;
  bool is_ok_ = true;
};

Options::Options(const Napi::CallbackInfo& info, const char* code)
    : env_(info.Env()), object_(info[0]), code_(code) {
  if (!object_.IsObject()) Refuse("the argument");
}

Napi::Value Options::Get(const char* name, napi_valuetype type) {
  napi_value value = nullptr;
  // Plain, because Object::Get() ends the process if the timeout of node:vm is over in
  // a getter. It can then make no error, and neither define prevents that.
  is_ok_ = is_ok_ && napi_get_named_property(env_, object_, name, &value) == napi_ok;
  if (is_ok_ && Napi::Value(env_, value).Type() != type) Refuse(name);
  return {env_, value};
}

int64_t Options::Whole(const char* name, int64_t min, int64_t max) {
  const Napi::Value value = Get(name, napi_number);
  if (!is_ok_) return 0;
  const double number = value.As<Napi::Number>().DoubleValue();
  // A comparison with NaN is false.
  if (number >= static_cast<double>(min) && number <= static_cast<double>(max) &&
      number == std::trunc(number)) {
    return static_cast<int64_t>(number);
  }
  Refuse(name);
  return 0;
}

uint64_t Options::BigInt(const char* name) {
  const Napi::Value value = Get(name, napi_bigint);
  if (!is_ok_) return 0;
  bool is_exact = false;
  const uint64_t number = value.As<Napi::BigInt>().Uint64Value(&is_exact);
  if (!is_exact) Refuse(name);
  return number;
}

bool Options::Flag(const char* name) {
  const Napi::Value value = Get(name, napi_boolean);
  return is_ok_ && value.As<Napi::Boolean>().Value();
}

std::string Options::Text(const char* name) {
  const Napi::Value value = Get(name, napi_string);
  return is_ok_ ? value.As<Napi::String>().Utf8Value() : std::string();
}

void Options::Refuse(const char* name) {
  is_ok_ = false;
  Throw(env_, code_,
        std::string(name) +
            " has the wrong type or is out of range; pass the type and range of "
            "CoreSpec in src/state/engine.ts");
}

// False if something is thrown, or the thread ends.
bool ReadLayout(const Napi::CallbackInfo& info, Layout* layout) {
  constexpr const char* kCode = "ERR_LAYOUT_INVALID";
  Options options(info, kCode);
  layout->epoch_ms = options.Whole("epochMs");
  layout->tick_ms = options.Whole("tickMs", 1);
  layout->max_tick = options.BigInt("maxTick");
  layout->node_bits = options.BigInt("nodeBits");
  layout->sequence_bits = static_cast<uint8_t>(options.Whole("sequenceBits", 1, 63));
  layout->sequence_shift = static_cast<uint8_t>(options.Whole("sequenceShift", 0, 63));
  layout->timestamp_shift =
      static_cast<uint8_t>(options.Whole("timestampShift", 0, 63));
  if (!options.ok()) return false;
  if (layout->IsSound()) return true;
  Throw(info.Env(), kCode,
        "the parts of the layout overlap, or do not fit 64 bits; pass a layout that "
        "defineLayout has made");
  return false;
}

}  // namespace

bool ReadOptions(const Napi::CallbackInfo& info, OpenOptions* read) {
  if (!ReadLayout(info, &read->home.layout)) return false;
  Options options(info, "ERR_OPTION_INVALID");
  read->home.identity = {options.Text("key"), options.Text("description")};
  read->home.kind = static_cast<StateKind>(options.Whole("kind", 0, 4));
  read->home.path = options.Text("path");
  read->home.file_key = options.Text("fileKey");
  read->home.reserve_ticks = static_cast<uint64_t>(options.Whole("reserveTicks", 0));
  read->history = options.Flag("history");
  const auto mode =
      static_cast<SequenceStart::Mode>(options.Whole("sequenceStart", 0, 2));
  read->start =
      SequenceStart(mode, static_cast<uint32_t>(options.Whole("seed", 0, UINT32_MAX)));
  read->clock = static_cast<ClockKind>(options.Whole("clock", 0, 2));
  read->generation = static_cast<uint64_t>(options.Whole("generation", 0));
  read->home.open_timeout_ms =
      static_cast<int>(options.Whole("openTimeoutMs", 0, INT32_MAX));
  read->home.rules.parent = options.Text("stateFolder");
  if (read->clock != ClockKind::kInjected) {
    read->home.rules.now_ns = WallNs;
  }
  read->home.rules.link.name = options.Text("claimLink");
  read->home.rules.link.next = options.Text("claimNext");
  read->home.rules.link.floor = options.BigInt("claimFloor");
  return options.ok();
}

}  // namespace graupel
