#include "uuids.h"

#include <optional>

#include "../core/uuid.h"
#include "elements.h"
#include "environment.h"
#include "options.h"

namespace graupel {
namespace {

// The front of a typed array; null if the array has another type, or is shorter.
template <typename Element>
Element* FrontOf(napi_env env, napi_value array, napi_typedarray_type type,
                 size_t length) {
  napi_typedarray_type given_type;
  size_t given_length;
  void* elements;
  const bool fits = napi_get_typedarray_info(env, array, &given_type, &given_length,
                                             &elements, nullptr, nullptr) == napi_ok &&
                    given_type == type && given_length >= length;
  return fits ? static_cast<Element*>(elements) : nullptr;
}

}  // namespace

napi_value WriteUuids(napi_env env, napi_callback_info info) {
  size_t argc = 6;
  napi_value argv[6];
  if (napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr) != napi_ok) {
    return nullptr;
  }
  const std::optional<Elements> ids = ElementsOf(env, argv);
  if (!ids.has_value()) return nullptr;
  const auto* const given =
      FrontOf<const UuidFrame>(env, argv[3], napi_biguint64_array, 5);
  const UuidFrame frame = given == nullptr ? UuidFrame{} : *given;
  const auto* const random = FrontOf<const uint32_t>(env, argv[4], napi_int32_array,
                                                     frame.words() * ids->count);
  auto* const out =
      FrontOf<unsigned char>(env, argv[5], napi_uint8_array, 16 * ids->count);
  if (!frame.IsSound() || random == nullptr || out == nullptr) {
    Throw(env, "ERR_ARRAY_INVALID",
          "the frame, the random words or the room does not fit these ids; this is an "
          "error of graupel: please report it");
    return nullptr;
  }
  napi_value written;
  const size_t count = PackUuids(out, ids->begin, ids->count, frame, random);
  if (napi_create_uint32(env, static_cast<uint32_t>(count), &written) != napi_ok) {
    return nullptr;
  }
  return written;
}

napi_value UuidText(napi_env env, napi_callback_info info) {
  void* data;
  if (napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data) != napi_ok) {
    return nullptr;
  }
  char text[kUuidLength];
  WriteUuidText(text, static_cast<Environment*>(data)->mailbox().uuid);
  napi_value result;
  if (napi_create_string_latin1(env, text, kUuidLength, &result) != napi_ok) {
    return nullptr;
  }
  return result;
}

}  // namespace graupel
