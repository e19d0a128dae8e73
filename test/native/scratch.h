#ifndef GRAUPEL_TEST_SCRATCH_H_
#define GRAUPEL_TEST_SCRATCH_H_

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../native/host/page.h"
#include "check.h"

namespace graupel {

// A folder for state files, and keys for pages of this test alone. Its destructor
// removes them.
class Scratch {
 public:
  Scratch() {
    const char* parent = getenv("TMPDIR");
    folder_ = std::string(parent == nullptr ? "/tmp" : parent) + "/graupel-XXXXXX";
    CHECK(mkdtemp(folder_.data()) != nullptr);
    static Scratch* current;
    current = this;
    clean_up = [] {
      if (current->owner_ == getpid()) current->CleanUp();
    };
  }
  ~Scratch() {
    clean_up = nullptr;
    CleanUp();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Makes the key of a page that is removed at the end. `kind` is the key's first word.
  Identity NewIdentity(const std::string& kind = "any") {
    Identity identity{kind + ' ' + folder_ + std::to_string(count_++), "{}"};
    std::shared_ptr<Page> page;
    CHECK(Page::Open(identity, "", nullptr, &page).IsNone());
    pages_.push_back(page->path());
    Remove(page->path());
    return identity;
  }
  // The path of the page of the last identity.
  const std::string& last_page() const { return pages_.back(); }
  std::string NewPath() { return folder_ + "/" + std::to_string(count_++) + ".state"; }

  static void Remove(const std::string& path) {
    if (unlink(path.c_str()) != 0) rmdir(path.c_str());
  }

 private:
  void CleanUp() {
    for (const std::string& path : pages_) Remove(path);
    DIR* const folder = opendir(folder_.c_str());
    CHECK(folder != nullptr);
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') Remove(folder_ + "/" + entry->d_name);
    }
    closedir(folder);
    // Fails if there is an unexpected file.
    CHECK(rmdir(folder_.c_str()) == 0);
  }

  std::string folder_;
  std::vector<std::string> pages_;
  int count_ = 0;
  // A forked process leaves the folder to its parent.
  const pid_t owner_ = getpid();
};

inline std::string ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  std::string bytes(1 << 16, '\0');
  const ssize_t count = read(fd, bytes.data(), bytes.size());
  CHECK(count >= 0 && close(fd) == 0);
  bytes.resize(static_cast<size_t>(count));
  return bytes;
}

// Replaces a file by a new file with these bytes.
inline void PutFile(const std::string& path, const std::string& bytes,
                    mode_t mode = 0600) {
  Scratch::Remove(path);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && fchmod(fd, mode) == 0);
  CHECK(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  CHECK(close(fd) == 0);
}

// Runs `body` in a forked process. The program must have no other threads yet.
inline pid_t Fork(const std::function<void()>& body) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  body();
  _exit(0);
}

inline void AwaitSuccess(pid_t child) {
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, status);
}

}  // namespace graupel

#endif  // GRAUPEL_TEST_SCRATCH_H_
