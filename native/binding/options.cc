#include "options.h"

#include <cmath>

namespace graupel {

bool Options::Get(const char* name, napi_value* value) {
  if (!ok()) return false;
  const napi_status status = napi_get_named_property(env_, object_, name, value);
  if (status == napi_object_expected) invalid_ = "the argument";
  is_readable_ = status == napi_ok;
  return is_readable_;
}

bool Options::IsA(napi_status status, const char* name) {
  if (status != napi_ok) invalid_ = name;
  return status == napi_ok;
}

int64_t Options::Whole(const char* name, int64_t min, int64_t max) {
  napi_value value;
  if (!Get(name, &value)) return 0;
  double number;
  if (!IsA(napi_get_value_double(env_, value, &number), name)) return 0;
  // A comparison with NaN is false.
  if (number >= static_cast<double>(min) && number <= static_cast<double>(max) &&
      number == std::trunc(number)) {
    return static_cast<int64_t>(number);
  }
  invalid_ = name;
  return 0;
}

uint64_t Options::BigInt(const char* name) {
  napi_value value;
  if (!Get(name, &value)) return 0;
  uint64_t number;
  bool is_exact;
  if (!IsA(napi_get_value_bigint_uint64(env_, value, &number, &is_exact), name)) {
    return 0;
  }
  if (is_exact) return number;
  invalid_ = name;
  return 0;
}

bool Options::Flag(const char* name) {
  napi_value value;
  bool flag;
  return Get(name, &value) && IsA(napi_get_value_bool(env_, value, &flag), name) &&
         flag;
}

std::string Options::Text(const char* name) {
  napi_value value;
  if (!Get(name, &value)) return {};
  size_t length;
  if (!IsA(napi_get_value_string_utf8(env_, value, nullptr, 0, &length), name)) {
    return {};
  }
  std::string text(length, '\0');
  // It ends the text with a zero, for which a string has room.
  if (!IsA(napi_get_value_string_utf8(env_, value, text.data(), length + 1, &length),
           name)) {
    return {};
  }
  return text;
}

void Options::Throw(const char* code) const {
  if (invalid_ == nullptr) return;
  const std::string message = std::string(invalid_) +
                              " has the wrong type or is out of range; pass what "
                              "src/engine/engine.ts says";
  napi_throw_type_error(env_, code, message.c_str());
}

}  // namespace graupel
