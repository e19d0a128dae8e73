#ifndef GRAUPEL_HOST_MEMORY_FOLDER_H_
#define GRAUPEL_HOST_MEMORY_FOLDER_H_

#include <string>

#include "fault.h"

namespace graupel {

// The folder of this user's pages, made if there is none, and checked to be this user's
// alone. It is in `parent`. If `parent` is empty, it is in a folder in memory, or in
// the folder for temporary files if the system has no folder in memory. All processes
// of a user get the same folder.
Fault MemoryFolder(const std::string& parent, std::string* folder);

}  // namespace graupel

#endif  // GRAUPEL_HOST_MEMORY_FOLDER_H_
