#ifndef GRAUPEL_HOST_PROCESSES_H_
#define GRAUPEL_HOST_PROCESSES_H_

#include <cstdint>

namespace graupel {

// The number of this process, and in the upper half the inode number of the pid
// namespace in which it has that number; 0 if there are no namespaces.
uint64_t ThisProcess();

}  // namespace graupel

#endif  // GRAUPEL_HOST_PROCESSES_H_
