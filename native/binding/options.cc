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

}  // namespace graupel
