// Two copies of the module in one process, as from two node_modules folders, count with
// one word. A word outlives the module that counted with it.
//
// copies_test share|outlive FIRST SECOND: paths of two copies of copies_library.cc.

#include <dlfcn.h>

#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "../../native/core/state.h"
#include "check.h"

namespace graupel {
namespace {

using StateOf = State* (*)(const char* key);

struct Module {
  explicit Module(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != nullptr);
    state_of = reinterpret_cast<StateOf>(dlsym(handle, "StateOf"));
    CHECK(state_of != nullptr);
  }

  void* handle;
  StateOf state_of;
};

std::string Key(int i) { return "key " + std::to_string(i); }

// Eight threads load the copies and use all keys for the first time at once.
void CopiesShareTheirStates(const char* first_path, const char* second_path) {
  constexpr int kThreads = 8;
  constexpr int kKeys = 200;
  std::barrier start(kThreads);
  std::vector<std::vector<State*>> found(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      const Module module(t % 2 == 0 ? first_path : second_path);
      for (int i = 0; i < kKeys; ++i) {
        State* const state = module.state_of(Key(i).c_str());
        state->word.fetch_add(1, std::memory_order_relaxed);
        found[t].push_back(state);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kKeys; ++i) {
    for (int t = 1; t < kThreads; ++t) CHECK(found[t][i] == found[0][i], t, i);
    CHECK(found[0][i]->word == kThreads, i, found[0][i]->word.load());
    CHECK(i == 0 || found[0][i] != found[0][i - 1], i);
    CHECK(reinterpret_cast<uintptr_t>(found[0][i]) % alignof(State) == 0, i);
  }
}

// A word stays after its copy is closed: the same copy finds the word when it is loaded
// again, and so does another copy.
void StatesOutliveTheirModule(const char* first_path, const char* second_path) {
  Module module(first_path);
  State* const state = module.state_of("survivor");
  state->word = 4711;
  CHECK(dlclose(module.handle) == 0);
  module = Module(first_path);
  CHECK(module.state_of("survivor") == state && state->word == 4711);
  CHECK(dlclose(module.handle) == 0);
  module = Module(second_path);
  CHECK(module.state_of("survivor") == state && state->word == 4711);
  CHECK(dlclose(module.handle) == 0);
}

}  // namespace
}  // namespace graupel

int main(int argc, char** argv) {
  using namespace graupel;
  CHECK(argc == 4);
  // Each case has its own process, because a used copy stays loaded.
  if (std::strcmp(argv[1], "share") == 0) {
    CopiesShareTheirStates(argv[2], argv[3]);
  } else {
    StatesOutliveTheirModule(argv[2], argv[3]);
  }
}
