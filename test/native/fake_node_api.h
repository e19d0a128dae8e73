#ifndef GRAUPEL_TEST_FAKE_NODE_API_H_
#define GRAUPEL_TEST_FAKE_NODE_API_H_

// As much of Node-API as native/binding calls, without Node, so that each call can be
// made to fail. To be included once in a program.

#include <node_api.h>

#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

struct napi_value__ {
  std::map<std::string, napi_value> properties;
  bool is_object = false;
  double number = 0;
  uint64_t bigint = 0;
  std::string text;
  std::vector<uint64_t> elements;
  napi_callback call = nullptr;
  void* data = nullptr;
  napi_finalize finalize = nullptr;
  void* hint = nullptr;
};

struct napi_callback_info__ {
  std::vector<napi_value> arguments;
  void* data;
};

// One environment, which fails at the call of that number: in it alone, or, as where
// the thread ends, in all from then on.
struct napi_env__ {
  napi_env__(int fail_at_in, bool is_final_in)
      : fail_at(fail_at_in), is_final(is_final_in) {}
  // Node may free its data before or after what JavaScript holds.
  ~napi_env__() {
    const bool is_data_first = fail_at % 2 == 0;
    if (is_data_first) FreeData();
    for (napi_value__& value : values) {
      if (value.finalize != nullptr) value.finalize(this, value.data, value.hint);
    }
    if (!is_data_first) FreeData();
  }

  napi_status Status() {
    const int call = ++calls;
    return call == fail_at || (is_final && call > fail_at) ? napi_generic_failure
                                                           : napi_ok;
  }
  napi_status Make(napi_value value, napi_value* result) {
    const napi_status status = Status();
    // What fails leaves no result.
    if (status == napi_ok) *result = &values.emplace_back(*value);
    return status;
  }
  napi_value Call(napi_value function, std::vector<napi_value> arguments = {}) {
    napi_callback_info__ info{std::move(arguments), function->data};
    return function->call(this, &info);
  }
  void FreeData() {
    if (drop != nullptr) drop(this, instance_data, nullptr);
  }

  const int fail_at;
  const bool is_final;
  int calls = 0;
  std::string thrown;  // The last code.
  std::deque<napi_value__> values;
  void* instance_data = nullptr;
  napi_finalize drop = nullptr;
};

#define FAIL_IF_TOLD                                 \
  if (const napi_status s = env->Status(); s != 0) { \
    return s;                                        \
  }

extern "C" {

napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t* argc,
                             napi_value* argv, napi_value*, void** data) {
  FAIL_IF_TOLD
  if (data != nullptr) *data = info->data;
  static napi_value__ undefined;
  for (size_t i = 0; argc != nullptr && i < *argc; ++i) {
    argv[i] = i < info->arguments.size() ? info->arguments[i] : &undefined;
  }
  return napi_ok;
}

napi_status napi_get_boolean(napi_env env, bool value, napi_value* result) {
  napi_value__ made;
  made.number = value;
  return env->Make(&made, result);
}

napi_status napi_create_uint32(napi_env env, uint32_t value, napi_value* result) {
  napi_value__ made;
  made.number = value;
  return env->Make(&made, result);
}

napi_status napi_create_int32(napi_env env, int32_t value, napi_value* result) {
  napi_value__ made;
  made.number = value;
  return env->Make(&made, result);
}

napi_status napi_create_double(napi_env env, double value, napi_value* result) {
  napi_value__ made;
  made.number = value;
  return env->Make(&made, result);
}

napi_status napi_create_bigint_uint64(napi_env env, uint64_t value,
                                      napi_value* result) {
  napi_value__ made;
  made.bigint = value;
  return env->Make(&made, result);
}

napi_status napi_create_string_utf8(napi_env env, const char* text, size_t length,
                                    napi_value* result) {
  napi_value__ made;
  made.text.assign(text, length);
  return env->Make(&made, result);
}

napi_status napi_create_object(napi_env env, napi_value* result) {
  napi_value__ made;
  made.is_object = true;
  return env->Make(&made, result);
}

napi_status napi_create_function(napi_env env, const char*, size_t, napi_callback call,
                                 void* data, napi_value* result) {
  napi_value__ made;
  made.call = call;
  made.data = data;
  return env->Make(&made, result);
}

napi_status napi_create_external(napi_env env, void* data, napi_finalize finalize,
                                 void* hint, napi_value* result) {
  napi_value__ made;
  made.data = data;
  made.finalize = finalize;
  made.hint = hint;
  return env->Make(&made, result);
}

napi_status napi_create_arraybuffer(napi_env env, size_t length, void** data,
                                    napi_value* result) {
  napi_value__ made;
  const napi_status status = env->Make(&made, result);
  if (status != napi_ok) return status;
  (*result)->elements.resize((length + 7) / 8);
  *data = (*result)->elements.data();
  return napi_ok;
}

napi_status napi_create_reference(napi_env env, napi_value, uint32_t, napi_ref*) {
  return env->Status();
}

napi_status napi_set_instance_data(napi_env env, void* data, napi_finalize drop,
                                   void*) {
  FAIL_IF_TOLD
  env->instance_data = data;
  env->drop = drop;
  return napi_ok;
}

napi_status napi_set_named_property(napi_env env, napi_value object, const char* name,
                                    napi_value value) {
  FAIL_IF_TOLD
  object->properties[name] = value;
  return napi_ok;
}

napi_status napi_get_named_property(napi_env env, napi_value object, const char* name,
                                    napi_value* value) {
  FAIL_IF_TOLD
  if (!object->is_object) return napi_object_expected;
  *value = object->properties.at(name);
  return napi_ok;
}

napi_status napi_get_value_double(napi_env env, napi_value value, double* result) {
  FAIL_IF_TOLD
  *result = value->number;
  return napi_ok;
}

napi_status napi_get_value_uint32(napi_env env, napi_value value, uint32_t* result) {
  FAIL_IF_TOLD
  *result = static_cast<uint32_t>(value->number);
  return napi_ok;
}

napi_status napi_get_value_int64(napi_env env, napi_value value, int64_t* result) {
  FAIL_IF_TOLD
  *result = static_cast<int64_t>(value->number);
  return napi_ok;
}

napi_status napi_get_value_bool(napi_env env, napi_value value, bool* result) {
  FAIL_IF_TOLD
  *result = value->number != 0;
  return napi_ok;
}

napi_status napi_get_value_bigint_uint64(napi_env env, napi_value value,
                                         uint64_t* result, bool* is_exact) {
  FAIL_IF_TOLD
  *result = value->bigint;
  *is_exact = true;
  return napi_ok;
}

napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char* buffer,
                                       size_t size, size_t* result) {
  FAIL_IF_TOLD
  if (buffer != nullptr) std::memcpy(buffer, value->text.c_str(), size);
  *result = value->text.size();
  return napi_ok;
}

napi_status napi_get_typedarray_info(napi_env env, napi_value array,
                                     napi_typedarray_type* type, size_t* length,
                                     void** data, napi_value*, size_t*) {
  FAIL_IF_TOLD
  *type = napi_biguint64_array;
  *length = array->elements.size();
  *data = array->elements.data();
  return napi_ok;
}

napi_status napi_throw_type_error(napi_env env, const char* code, const char*) {
  FAIL_IF_TOLD
  env->thrown = code;
  return napi_ok;
}

}  // extern "C"

#endif  // GRAUPEL_TEST_FAKE_NODE_API_H_
