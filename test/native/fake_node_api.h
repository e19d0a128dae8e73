#ifndef GRAUPEL_TEST_FAKE_NODE_API_H_
#define GRAUPEL_TEST_FAKE_NODE_API_H_

// The part of Node-API that native/binding and node-addon-api call, without Node, so
// that each call can be made to fail. A program includes this header once.

#include <node_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

struct napi_value__ {
  napi_valuetype type = napi_undefined;
  std::map<std::string, napi_value> properties{};
  double number = 0;  // Also the value of a boolean.
  uint64_t bigint = 0;
  std::string text{};
  std::vector<uint64_t> elements{};
  napi_typedarray_type array_type = napi_biguint64_array;
  bool is_throwing_getter = false;
  napi_callback call = nullptr;
  void* data = nullptr;
  napi_finalize finalize = nullptr;
  void* hint = nullptr;
};

struct napi_callback_info__ {
  std::vector<napi_value> arguments;
  void* data;
};

// One environment, which fails at the call of that number: in that call alone, or, as
// when the thread ends, in all later calls that may run JavaScript. Node refuses these
// calls by napi_pending_exception, although no exception is pending. All other calls
// only check their arguments, and succeed. (If they failed as well, node-addon-api
// could not make an error, and would end the process.)
struct napi_env__ {
  napi_env__(int fail_at_in, bool is_final_in)
      : fail_at(fail_at_in), is_final(is_final_in) {}
  // Node may free its data before or after the objects of JavaScript.
  ~napi_env__() {
    const bool is_data_first = fail_at % 2 == 0;
    if (is_data_first) FreeData();
    for (napi_value__& value : values) {
      if (value.finalize != nullptr) value.finalize(this, value.data, value.hint);
    }
    if (!is_data_first) FreeData();
  }

  // The status of a call that only checks its arguments.
  napi_status Status() {
    return ++calls == fail_at && !is_final ? napi_generic_failure : napi_ok;
  }
  // The status of a call that may run JavaScript.
  napi_status StatusOfScript() {
    const int call = ++calls;
    const bool is_failing = call == fail_at || (is_final && call > fail_at);
    return is_failing || exception != nullptr ? napi_pending_exception : napi_ok;
  }
  napi_status Make(napi_status status, napi_value value, napi_value* result) {
    // A call that fails leaves no result.
    if (status == napi_ok) *result = &values.emplace_back(*value);
    return status;
  }
  napi_value Call(napi_value function, std::vector<napi_value> arguments = {}) {
    napi_callback_info__ info{std::move(arguments), function->data};
    const napi_value result = function->call(this, &info);
    thrown.clear();
    if (exception == nullptr) return result;
    const auto code = exception->properties.find("code");
    thrown = code == exception->properties.end() ? "no code" : code->second->text;
    exception = nullptr;
    return nullptr;
  }
  void FreeData() {
    if (drop != nullptr) drop(this, instance_data, nullptr);
  }

  const int fail_at;
  const bool is_final;
  int calls = 0;
  int references = 0;
  int scopes = 0;
  napi_value exception = nullptr;  // The pending exception.
  std::string thrown;              // The code of the last call's error.
  std::deque<napi_value__> values;
  void* instance_data = nullptr;
  napi_finalize drop = nullptr;
};

#define RETURN_IF_FAILED(status)                \
  if (const napi_status s = (status); s != 0) { \
    return s;                                   \
  }
#define FAIL_IF_TOLD RETURN_IF_FAILED(env->Status())
#define FAIL_SCRIPT_IF_TOLD RETURN_IF_FAILED(env->StatusOfScript())
#define REFUSE_UNLESS(condition) \
  if (!(condition)) return napi_invalid_arg;

extern "C" {

napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t* argc,
                             napi_value* argv, napi_value*, void** data) {
  FAIL_IF_TOLD
  if (data != nullptr) *data = info->data;
  if (argc == nullptr) return napi_ok;
  static napi_value__ undefined;
  for (size_t i = 0; i < *argc; ++i) {
    argv[i] = i < info->arguments.size() ? info->arguments[i] : &undefined;
  }
  *argc = info->arguments.size();
  return napi_ok;
}

napi_status napi_get_undefined(napi_env env, napi_value* result) {
  napi_value__ made;
  return env->Make(env->Status(), &made, result);
}

napi_status napi_get_boolean(napi_env env, bool value, napi_value* result) {
  napi_value__ made{.type = napi_boolean, .number = value ? 1.0 : 0.0};
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_double(napi_env env, double value, napi_value* result) {
  napi_value__ made{.type = napi_number, .number = value};
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_uint32(napi_env env, uint32_t value, napi_value* result) {
  return napi_create_double(env, value, result);
}

napi_status napi_create_bigint_uint64(napi_env env, uint64_t value,
                                      napi_value* result) {
  napi_value__ made{.type = napi_bigint, .bigint = value};
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_string_latin1(napi_env env, const char* text, size_t length,
                                      napi_value* result) {
  napi_value__ made{.type = napi_string};
  made.text.assign(text, length);
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_string_utf8(napi_env env, const char* text, size_t length,
                                    napi_value* result) {
  napi_value__ made{.type = napi_string};
  made.text.assign(text, length == NAPI_AUTO_LENGTH ? std::strlen(text) : length);
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_object(napi_env env, napi_value* result) {
  napi_value__ made{.type = napi_object};
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_error(napi_env env, napi_value, napi_value message,
                              napi_value* result) {
  REFUSE_UNLESS(message != nullptr)
  napi_value__ made{.type = napi_object};
  made.properties["message"] = message;
  return env->Make(env->Status(), &made, result);
}

napi_status napi_create_type_error(napi_env env, napi_value code, napi_value message,
                                   napi_value* result) {
  return napi_create_error(env, code, message, result);
}

napi_status napi_create_function(napi_env env, const char*, size_t, napi_callback call,
                                 void* data, napi_value* result) {
  napi_value__ made{.type = napi_function, .call = call, .data = data};
  return env->Make(env->StatusOfScript(), &made, result);
}

napi_status napi_create_external(napi_env env, void* data, napi_finalize finalize,
                                 void* hint, napi_value* result) {
  napi_value__ made{.type = napi_external, .data = data};
  made.finalize = finalize;
  made.hint = hint;
  return env->Make(env->StatusOfScript(), &made, result);
}

napi_status napi_create_arraybuffer(napi_env env, size_t length, void** data,
                                    napi_value* result) {
  napi_value__ made{.type = napi_object};
  RETURN_IF_FAILED(env->Make(env->StatusOfScript(), &made, result))
  (*result)->elements.resize((length + 7) / 8);
  *data = (*result)->elements.data();
  return napi_ok;
}

napi_status napi_get_arraybuffer_info(napi_env env, napi_value buffer, void** data,
                                      size_t*) {
  FAIL_IF_TOLD
  *data = buffer->elements.data();
  return napi_ok;
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
  FAIL_SCRIPT_IF_TOLD
  REFUSE_UNLESS(object != nullptr && value != nullptr)
  object->properties[name] = value;
  return napi_ok;
}

napi_status napi_define_properties(napi_env env, napi_value object, size_t count,
                                   const napi_property_descriptor* all) {
  FAIL_SCRIPT_IF_TOLD
  for (size_t i = 0; i < count; ++i) {
    REFUSE_UNLESS(all[i].value != nullptr)
    object->properties[all[i].utf8name] = all[i].value;
  }
  return napi_ok;
}

napi_status napi_has_property(napi_env env, napi_value object, napi_value key,
                              bool* result) {
  FAIL_SCRIPT_IF_TOLD
  REFUSE_UNLESS(key != nullptr)
  *result = object->properties.count(key->text) > 0;
  return napi_ok;
}

napi_status napi_get_property(napi_env env, napi_value object, napi_value key,
                              napi_value* value) {
  FAIL_SCRIPT_IF_TOLD
  REFUSE_UNLESS(key != nullptr)
  *value = object->properties.at(key->text);
  return napi_ok;
}

napi_status napi_get_named_property(napi_env env, napi_value object, const char* name,
                                    napi_value* value) {
  FAIL_SCRIPT_IF_TOLD
  if (object->type != napi_object) return napi_object_expected;
  *value = object->properties.at(name);
  if (!(*value)->is_throwing_getter) return napi_ok;
  env->exception = *value;
  return napi_pending_exception;
}

napi_status napi_get_value_double(napi_env env, napi_value value, double* result) {
  FAIL_IF_TOLD
  if (value->type != napi_number) return napi_number_expected;
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
  if (buffer != nullptr) value->text.copy(buffer, size - 1);
  if (result != nullptr) *result = value->text.size();
  return napi_ok;
}

napi_status napi_get_typedarray_info(napi_env env, napi_value array,
                                     napi_typedarray_type* type, size_t* length,
                                     void** data, napi_value*, size_t*) {
  FAIL_IF_TOLD
  *type = array->array_type;
  const size_t width =
      *type == napi_uint8_array ? 1 : (*type == napi_int32_array ? 4 : 8);
  *length = array->elements.size() * 8 / width;
  *data = array->elements.data();
  return napi_ok;
}

napi_status napi_throw(napi_env env, napi_value error) {
  FAIL_SCRIPT_IF_TOLD
  REFUSE_UNLESS(error != nullptr)
  env->exception = error;
  return napi_ok;
}

napi_status napi_create_reference(napi_env env, napi_value value, uint32_t,
                                  napi_ref* result) {
  FAIL_IF_TOLD
  ++env->references;
  *result = reinterpret_cast<napi_ref>(value);
  return napi_ok;
}

// node-addon-api calls these functions to throw an error, and ends the process if a
// call fails. They only check their arguments, and do not fail in Node.

napi_status napi_typeof(napi_env, napi_value value, napi_valuetype* result) {
  REFUSE_UNLESS(value != nullptr)
  *result = value->type;
  return napi_ok;
}

napi_status napi_get_reference_value(napi_env, napi_ref reference, napi_value* result) {
  *result = reinterpret_cast<napi_value>(reference);
  return napi_ok;
}

napi_status napi_delete_reference(napi_env env, napi_ref) {
  --env->references;
  return napi_ok;
}

napi_status napi_open_handle_scope(napi_env env, napi_handle_scope*) {
  ++env->scopes;
  return napi_ok;
}

napi_status napi_close_handle_scope(napi_env env, napi_handle_scope) {
  --env->scopes;
  return napi_ok;
}

napi_status napi_get_last_error_info(node_api_nogc_env,
                                     const napi_extended_error_info** result) {
  static const napi_extended_error_info kNothing{};
  *result = &kNothing;
  return napi_ok;
}

napi_status napi_is_exception_pending(napi_env env, bool* result) {
  *result = env->exception != nullptr;
  return napi_ok;
}

napi_status napi_get_and_clear_last_exception(napi_env env, napi_value* result) {
  *result = env->exception;
  env->exception = nullptr;
  return napi_ok;
}

// Virtual functions of node-addon-api name these, but nothing calls them.

napi_status napi_async_destroy(napi_env, napi_async_context) { std::abort(); }
napi_status napi_call_function(napi_env, napi_value, napi_value, size_t,
                               const napi_value*, napi_value*) {
  std::abort();
}
napi_status napi_close_callback_scope(napi_env, napi_callback_scope) { std::abort(); }
napi_status napi_open_escapable_handle_scope(napi_env, napi_escapable_handle_scope*) {
  std::abort();
}
napi_status napi_close_escapable_handle_scope(napi_env, napi_escapable_handle_scope) {
  std::abort();
}
napi_status napi_escape_handle(napi_env, napi_escapable_handle_scope, napi_value,
                               napi_value*) {
  std::abort();
}

void napi_fatal_error(const char* location, size_t, const char* message, size_t) {
  std::fprintf(stderr, "%s: %s\n", location, message);
  std::abort();
}

}  // extern "C"

#endif  // GRAUPEL_TEST_FAKE_NODE_API_H_
