#ifndef GRAUPEL_HOST_PROCESSES_H_
#define GRAUPEL_HOST_PROCESSES_H_

#include <cstdint>

namespace graupel {

// Which processes are alive: processes_posix.cc, processes_win.cc.

// The number of this process, and in the upper half the inode number of the pid
// namespace in which it has that number; 0 where there are no namespaces.
uint64_t ThisProcess();

// When the process of that number was started, which tells it from an earlier process
// of the same number; 0 where that is not known.
uint64_t StartTimeOf(uint32_t pid);

// True if that process has certainly ended. False for a process of another pid
// namespace, which cannot be looked up. A start time of 0 is unknown.
bool HasEnded(uint64_t process, uint64_t start_time);

}  // namespace graupel

#endif  // GRAUPEL_HOST_PROCESSES_H_
