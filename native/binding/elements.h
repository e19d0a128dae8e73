#ifndef GRAUPEL_BINDING_ELEMENTS_H_
#define GRAUPEL_BINDING_ELEMENTS_H_

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace graupel {

// Elements of an array of 64-bit integers.
struct Elements {
  uint64_t* begin;
  size_t count;
};

// Reads the arguments `array, from, to`. None, with an exception, if the array does not
// have these elements.
std::optional<Elements> ElementsOf(napi_env env, const napi_value* argv);

// writeNumbers(array, from, to, first, stride): writes numbers that ascend by a stride,
// without a generator. True if it has.
napi_value WriteNumbers(napi_env env, napi_callback_info info);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_ELEMENTS_H_
