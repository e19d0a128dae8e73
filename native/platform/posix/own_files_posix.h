#ifndef GRAUPEL_PLATFORM_OWN_FILES_POSIX_H_
#define GRAUPEL_PLATFORM_OWN_FILES_POSIX_H_

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../host/fault.h"

namespace graupel {

// Checks before a file or folder is trusted, and code that several files of this folder
// need.

// Whether an error says that there is nothing at a path; any other error leaves that
// open.
bool IsGone(int error);

std::string FolderOf(const std::string& path);

// kUnsafe for a remote file system: if another machine may write the same file, neither
// memory nor locks are shared with it. FUSE may be remote, and does not tell whether it
// syncs.
Fault CheckFileSystem(int fd, const std::string& path);

// kUnsafe unless the file or folder is this user's alone.
Fault CheckOwner(const struct stat& stat, const std::string& path);

Fault WriteAll(int fd, const std::string& path, uint64_t offset, const char* bytes,
               size_t count);

}  // namespace graupel

#endif  // GRAUPEL_PLATFORM_OWN_FILES_POSIX_H_
