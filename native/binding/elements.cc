#include "elements.h"

#include "../core/row.h"
#include "options.h"

namespace graupel {

std::optional<Elements> ElementsOf(napi_env env, const napi_value* argv) {
  napi_typedarray_type type;
  size_t length;
  void* elements;
  uint32_t from;
  uint32_t to;
  if (napi_get_typedarray_info(env, argv[0], &type, &length, &elements, nullptr,
                               nullptr) != napi_ok ||
      napi_get_value_uint32(env, argv[1], &from) != napi_ok ||
      napi_get_value_uint32(env, argv[2], &to) != napi_ok ||
      (type != napi_biguint64_array && type != napi_bigint64_array) || from > to ||
      to > length) {
    Throw(
        env, "ERR_ARRAY_INVALID",
        "the array has no room for these elements, for example because its buffer was "
        "transferred meanwhile; pass an array of 64-bit integers that keeps its buffer "
        "until the call returns");
    return std::nullopt;
  }
  return Elements{static_cast<uint64_t*>(elements) + from, to - from};
}

napi_value WriteNumbers(napi_env env, napi_callback_info info) {
  size_t argc = 5;
  napi_value argv[5];
  if (napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr) != napi_ok) {
    return nullptr;
  }
  const std::optional<Elements> elements = ElementsOf(env, argv);
  uint64_t first;
  bool is_exact;
  uint32_t stride;
  if (!elements.has_value() ||
      napi_get_value_bigint_uint64(env, argv[3], &first, &is_exact) != napi_ok ||
      napi_get_value_uint32(env, argv[4], &stride) != napi_ok) {
    return nullptr;
  }
  WriteRow(elements->begin, elements->count, first, stride);
  napi_value is_written;
  if (napi_get_boolean(env, true, &is_written) != napi_ok) return nullptr;
  return is_written;
}

}  // namespace graupel
