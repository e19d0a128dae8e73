// The binding if any one call of Node-API fails: it releases what it has allocated, and
// can be called again. The sanitizer reports memory that is leaked or freed twice.

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "../../native/core/generation.h"
#include "../../native/host/generation.h"
#include "check.h"
#include "fake_node_api.h"
#include "subcommand.h"

extern "C" napi_value napi_register_module_v1(napi_env env, napi_value exports);

namespace graupel {
namespace {

// The fields of environment.h.
constexpr int kWord32OfStatus = 2;
constexpr int kWord32OfHandle = 3;
constexpr int kWord32OfUuid = 24;
constexpr int kNumberOfLimit = 3;
constexpr int kNumberOfGeneration = 11;
constexpr int kNumberOfObservedTick = 14;
constexpr uint32_t kOk = 0;
constexpr uint32_t kAhead = 1;
constexpr uint32_t kClosed = 4;
constexpr uint32_t kRaised = 9;

napi_value__ Number(double number) { return {.type = napi_number, .number = number}; }

napi_value__ BigInt(uint64_t number) { return {.type = napi_bigint, .bigint = number}; }

napi_value__ Text(const char* text) { return {.type = napi_string, .text = text}; }

// A thread that calls everything that JavaScript can call, once and in a row.
class Life {
 public:
  Life(int fail_at, bool is_final) : env_(fail_at, is_final) {}

  // The number of calls of Node-API.
  int Live() {
    napi_value__ exports{.type = napi_object};
    if (napi_register_module_v1(&env_, &exports) == nullptr) {
      CHECK(IsFailing());
      return env_.calls;
    }
    const auto call = [&](const char* name, std::vector<napi_value> arguments = {}) {
      const napi_value result =
          env_.Call(exports.properties.at(name), std::move(arguments));
      // The reference of the mailbox is never released.
      CHECK(env_.references == 1 && env_.scopes == 0);
      return result;
    };
    std::vector<uint64_t>& mailbox = exports.properties.at("mailbox")->elements;
    auto* const words = reinterpret_cast<uint32_t*>(mailbox.data());
    auto* const numbers = reinterpret_cast<double*>(mailbox.data());
    MakeOptions();
    words[kWord32OfHandle] = 7;
    bool is_open = call("open", {&options_}) != nullptr;
    CHECK(is_open || IsFailing(), env_.calls);
    CHECK(is_open || words[kWord32OfHandle] == 7, words[kWord32OfHandle]);
    // A failed call has given its handle back.
    if (!is_open) is_open = call("open", {&options_}) != nullptr;
    CHECK(is_open || env_.is_final);
    if (is_open) CHECK(words[kWord32OfHandle] == 0, words[kWord32OfHandle]);

    for (const char* name : {"next", "observe", "report", "fault"}) call(name);
    if (!IsFailing()) CHECK(words[kWord32OfStatus] == kOk, words[kWord32OfStatus]);
    napi_value__ array;
    array.elements.resize(8);
    napi_value__ from = Number(2);
    napi_value__ to = Number(8);
    numbers[kNumberOfLimit] = -1;
    const napi_value filled = call("fill", {&array, &from, &to});
    CHECK(filled == nullptr ? IsFailing() : filled->number == (is_open ? 6 : 0));
    CHECK(array.elements[0] == 0 && array.elements[1] == 0);
    napi_value__ first = BigInt(0xffff'ffff);
    napi_value__ stride = Number(3);
    const napi_value is_written =
        call("writeNumbers", {&array, &from, &to, &first, &stride});
    CHECK(is_written == nullptr ? IsFailing() : is_written->number == 1, env_.calls);
    CHECK(is_written == nullptr ||
          (array.elements[2] == 0xffff'ffff && array.elements[7] == 0x1'0000'000e));
    CHECK(array.elements[0] == 0 && array.elements[1] == 0);
    // The count exceeds the room in the array.
    to.number = 9;
    for (const char* name : {"fill", "writeNumbers"}) {
      CHECK(call(name, {&array, &from, &to, &first, &stride}) == nullptr);
      CHECK(IsFailing() || env_.thrown == "ERR_ARRAY_INVALID");
    }
    MakeViews(words, call);
    WriteUuids(call);
    for (uint32_t i = 0; i < 4; ++i) words[kWord32OfUuid + i] = 0x0123'4567 + i;
    const napi_value uuid = call("uuidText");
    CHECK(uuid == nullptr ? IsFailing()
                          : uuid->text == "01234567-0123-4568-0123-45690123456a");
    napi_value__ slot = BigInt(1);
    napi_value__ tick = Number(0);
    // The result is at most the count of fill().
    const napi_value former = call("raiseFloor", {&slot, &tick, &tick});
    CHECK(former == nullptr ? IsFailing() : former->bigint > 1, env_.calls);
    // The generator was opened without a ceiling.
    const napi_value has_ceiling = call("raiseCeiling", {&slot});
    CHECK(has_ceiling == nullptr ? IsFailing() : has_ceiling->number == 0, env_.calls);
    call("generation");
    CHECK(IsFailing() ||
          numbers[kNumberOfGeneration] == static_cast<double>(Generation()));
    call("generationDevice");
    const napi_value wall_ms = call("wallMs");
    CHECK(wall_ms == nullptr ? IsFailing() : wall_ms->number > 1.7e12, env_.calls);
    napi_value__ key = Text("real key");
    napi_value__ engine = Number(2);
    const napi_value kept = call("keepEngine", {&key, &engine});
    CHECK(kept == nullptr ? IsFailing() : kept->number == 2);
    AskWhereNothingIs(words, call);
    PassWhatIsForged(call);
    ObserveIds(mailbox, call);
    call("close");
    call("closeFiles");
    return env_.calls;
  }

 private:
  bool IsFailing() const { return env_.calls >= env_.fail_at; }

  // A view whose ids have a tag at the highest bit, which the layout leaves free.
  template <typename Calls>
  void MakeViews(uint32_t* words, Calls call) {
    constexpr uint64_t kTag = uint64_t{1} << 63;
    napi_value__ tag = BigInt(kTag);
    words[kWord32OfHandle] = 0;
    napi_value owner = call("view", {&tag});
    CHECK(owner != nullptr || IsFailing(), env_.calls);
    CHECK(owner != nullptr || words[kWord32OfHandle] == 0, words[kWord32OfHandle]);
    // A failed call has given its handle back.
    if (owner == nullptr) owner = call("view", {&tag});
    if (owner != nullptr) {
      CHECK(words[kWord32OfHandle] == 1, words[kWord32OfHandle]);
      napi_value__ array{.elements = {0, 0}};
      napi_value__ from = Number(0);
      napi_value__ to = Number(2);
      const napi_value filled = call("fill", {&array, &from, &to});
      CHECK(filled == nullptr ? IsFailing() : filled->number == 2, env_.calls);
      CHECK(filled == nullptr || (array.elements[0] & array.elements[1] & kTag) != 0);
      // One of the two calls may fail.
      call("close");
      call("close");
    }
    words[kWord32OfHandle] = 0;
    // Bits of the node, bits of the sequence, and no bigint.
    for (napi_value__ wrong : {BigInt(1 << 12), BigInt(1), Number(1)}) {
      CHECK(call("view", {&wrong}) == nullptr);
      CHECK(IsFailing() || env_.thrown == "ERR_OPTION_INVALID", env_.calls);
    }
    for (const uint32_t handle : {uint32_t{1}, UINT32_MAX}) {
      words[kWord32OfHandle] = handle;
      CHECK(call("view", {&tag}) == nullptr);
      CHECK(env_.thrown.empty() || IsFailing(), env_.calls);
    }
    words[kWord32OfHandle] = 0;
  }

  // Two ids of a tick and one of the next. Their sequence is the lowest four bits.
  template <typename Calls>
  void WriteUuids(Calls call) {
    napi_value__ ids{.elements = {0x7e, 0x7f, 0x80}};
    napi_value__ from = Number(0);
    napi_value__ to = Number(3);
    napi_value__ frame{.elements = {0xf, 0x7000, uint64_t{1} << 63, 0xff, 0x3ff}};
    napi_value__ random{.elements = {0, 0, 0, 0, 0}, .array_type = napi_int32_array};
    napi_value__ uuids{.elements = {1, 1, 1, 1, 1, 1}, .array_type = napi_uint8_array};
    const auto write = [&] {
      return call("writeUuids", {&ids, &from, &to, &frame, &random, &uuids});
    };
    const napi_value written = write();
    CHECK(written == nullptr ? IsFailing() : written->number == 2, env_.calls);
    const auto* const bytes =
        reinterpret_cast<const unsigned char*>(uuids.elements.data());
    CHECK(written == nullptr || (bytes[6] == 0x7e && bytes[22] == 0x7f));
    // Nothing is written behind the last.
    CHECK(uuids.elements[4] == 1 && uuids.elements[5] == 1);

    const auto refused = [&](napi_value__& array, napi_value__ wrong) {
      std::swap(array, wrong);
      CHECK(write() == nullptr);
      CHECK(IsFailing() || env_.thrown == "ERR_ARRAY_INVALID", env_.calls);
      std::swap(array, wrong);
    };
    // Three UUIDs take nine random words and 48 bytes.
    refused(random, {.elements = {0, 0, 0, 0}, .array_type = napi_int32_array});
    refused(random, {.elements = std::vector<uint64_t>(9)});
    refused(uuids, {.elements = {1, 1, 1, 1, 1}, .array_type = napi_uint8_array});
    refused(uuids, {.elements = std::vector<uint64_t>(48)});
    refused(frame, {.elements = {0xf, 0, 0, 0}});
    refused(frame, {.elements = {0xf, 0, 0, 0, 0}, .array_type = napi_uint8_array});
    refused(frame, {.elements = {0, 0, 0, 0, 0}});
    refused(frame, {.elements = {UINT64_MAX, 0, 0, 0, 0}});
    refused(ids, {.elements = {1, 2}});
    ids.elements.clear();
    to.number = 0;
    const napi_value none = write();
    CHECK(none == nullptr ? IsFailing() : none->number == 0, env_.calls);
  }

  // Ids of a generator whose clock is ahead.
  template <typename Calls>
  void ObserveIds(std::vector<uint64_t>& mailbox, Calls call) {
    constexpr uint64_t kMinute = uint64_t{60'000} << 22;
    auto* const words = reinterpret_cast<uint32_t*>(mailbox.data());
    auto* const numbers = reinterpret_cast<double*>(mailbox.data());
    // A key of its own, whose word stays ahead of the clock.
    napi_value__ key = Text("observed key");
    napi_value& option = options_.properties.at("key");
    const napi_value former_key = std::exchange(option, &key);
    const bool is_open = call("open", {&options_}) != nullptr;
    option = former_key;
    CHECK(is_open || IsFailing(), env_.calls);
    if (!is_open) return;
    const napi_value now = call("wallMs");
    if (now == nullptr) return CHECK(IsFailing(), env_.calls);
    const auto now_tick = static_cast<uint64_t>(now->number - 1.7e12);
    napi_value__ floor = BigInt(now_tick << 12);
    napi_value__ tick = Number(0);
    const napi_value former = call("raiseFloor", {&floor, &tick, &tick});
    if (former == nullptr) return CHECK(IsFailing(), env_.calls);
    // The sequence has 12 bits, and the 10 bits above it are the node's.
    const uint64_t word = std::max(former->bigint, floor.bigint);
    const uint64_t last = (word >> 12 << 22) + (word & 0xfff);
    const auto exceed = [&](uint64_t id, double limit) {
      mailbox[0] = id;
      numbers[kNumberOfLimit] = limit;
      call("exceed");
      return words[kWord32OfStatus];
    };
    const auto expect = [&](uint32_t status, uint32_t expected) {
      CHECK(status == expected || IsFailing(), status, expected, env_.calls);
    };
    expect(exceed(last - (uint64_t{1} << 22), 0), kOk);
    expect(exceed(last + kMinute, 1000), kAhead);
    expect(exceed(last + kMinute, 1e9), kRaised);
    expect(exceed(last + kMinute, 0), kOk);
    call("observe");
    const auto observed = static_cast<uint64_t>(numbers[kNumberOfObservedTick]);
    const uint64_t raised = (last + kMinute) >> 22;
    CHECK(IsFailing() || observed - raised <= 1, observed, raised);
    call("close");
    words[kWord32OfHandle] = 0;
  }

  // Every call with an invalid handle returns, and changes nothing.
  template <typename Calls>
  void AskWhereNothingIs(uint32_t* words, Calls call) {
    for (const uint32_t handle : {uint32_t{1}, UINT32_MAX}) {
      words[kWord32OfHandle] = handle;
      for (const char* name :
           {"next", "observe", "grant", "grantUnused", "report", "close"}) {
        call(name);
      }
      call("exceed");
      CHECK(words[kWord32OfStatus] == kClosed || IsFailing(), words[kWord32OfStatus]);
      napi_value__ slot = BigInt(1);
      napi_value__ tick = Number(0);
      CHECK(call("raiseFloor", {&slot, &tick, &tick}) == nullptr);
      CHECK(env_.thrown.empty() || IsFailing(), env_.calls);
      const napi_value is_raised = call("raiseCeiling", {&slot});
      CHECK(is_raised == nullptr ? IsFailing() : is_raised->number == 0);
      Await(call);
    }
    words[kWord32OfHandle] = 0;
    // There is no ceiling to wait for.
    Await(call);
  }

  // Each call is refused with its code.
  template <typename Calls>
  void PassWhatIsForged(Calls call) {
    const auto refuses = [&](const char* name, std::vector<napi_value> arguments,
                             const char* code) {
      CHECK(call(name, std::move(arguments)) == nullptr);
      CHECK(IsFailing() || env_.thrown == code, env_.calls);
    };
    const auto refuses_option = [&](const char* name, napi_value__ value,
                                    const char* code) {
      napi_value& option = options_.properties.at(name);
      const napi_value whole = std::exchange(option, &value);
      refuses("open", {&options_}, code);
      option = whole;
    };
    napi_value__ text = Text("no number");
    napi_value__ minus = Number(-1);
    napi_value__ slot = BigInt(1);
    refuses("open", {}, "ERR_LAYOUT_INVALID");
    refuses_option("tickMs", minus, "ERR_LAYOUT_INVALID");
    refuses_option("timestampShift", Number(11), "ERR_LAYOUT_INVALID");
    refuses_option("seed", text, "ERR_OPTION_INVALID");
    refuses_option("stateFolder", minus, "ERR_OPTION_INVALID");
    refuses_option("history", text, "ERR_OPTION_INVALID");
    napi_value__ own = Text("ERR_OWN");
    napi_value__ getter{.type = napi_object, .properties = {{"code", &own}}};
    getter.is_throwing_getter = true;
    refuses_option("key", getter, "ERR_OWN");
    for (const char* name : {"raiseFloor", "raiseCeiling"}) {
      refuses(name, {&text, &minus}, "ERR_OPTION_INVALID");
      refuses(name, {}, "ERR_OPTION_INVALID");
    }
    napi_value__ tick = Number(0);
    refuses("raiseFloor", {&slot, &minus, &tick}, "ERR_OPTION_INVALID");
    refuses("raiseFloor", {&slot, &tick, &minus}, "ERR_OPTION_INVALID");
    refuses("awaitCeiling", {&minus, &minus}, "ERR_OPTION_INVALID");
    refuses("awaitCeiling", {&text}, "ERR_OPTION_INVALID");
    refuses("keepEngine", {&slot, &minus}, "ERR_OPTION_INVALID");
    refuses("keepEngine", {&text, &text}, "ERR_OPTION_INVALID");
  }

  template <typename Calls>
  void Await(Calls call) {
    napi_value__ attempt = Number(0);
    napi_value__ block_ms = Number(60'000);
    const napi_value next = call("awaitCeiling", {&attempt, &block_ms});
    CHECK(next == nullptr ? IsFailing() : next->number == 0);
  }

  void MakeOptions() {
    options_.type = napi_object;
    const auto set = [&](const char* name, napi_value__ value) {
      options_.properties[name] = &values_.emplace_back(std::move(value));
    };
    set("epochMs", Number(1.7e12));
    set("tickMs", Number(1));
    set("maxTick", BigInt((uint64_t{1} << 41) - 1));
    set("nodeBits", BigInt(1 << 12));
    set("sequenceBits", Number(12));
    set("sequenceShift", Number(0));
    set("timestampShift", Number(22));
    set("key", Text("real key"));
    set("description", Text("{}"));
    for (const char* name :
         {"kind", "sequenceStart", "seed", "clock", "reserveTicks", "openTimeoutMs"}) {
      set(name, Number(0));
    }
    OpenGeneration();
    set("generation", Number(static_cast<double>(Generation())));
    set("history", {.type = napi_boolean});
    set("path", Text(""));
    set("fileKey", Text(""));
    set("stateFolder", Text(""));
    set("claimLink", Text(""));
    set("claimNext", Text(""));
    set("claimFloor", BigInt(0));
  }

  std::deque<napi_value__> values_;
  napi_value__ options_;
  napi_env__ env_;
};

void EveryCallMayFail(int, char**) {
  const int calls = Life(INT32_MAX, false).Live();
  CHECK(calls > 60, static_cast<uint64_t>(calls));
  for (const bool is_final : {false, true}) {
    for (int fail_at = 1; fail_at <= calls; ++fail_at) {
      test_seed = static_cast<uint64_t>(fail_at);
      Life(fail_at, is_final).Live();
    }
  }
}

const Subcommand kEveryCallMayFail{"binding", EveryCallMayFail};

}  // namespace
}  // namespace graupel
