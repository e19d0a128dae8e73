#if !defined(_WIN32)

#include "own_files_posix.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

namespace graupel {

using Kind = Fault::Kind;

bool IsGone(int error) { return error == ENOENT || error == ENOTDIR; }

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Fault CheckFileSystem(int fd, const std::string& path) {
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return Fault::System("fstatfs", errno, path);
#if defined(__linux__)
  static constexpr struct {
    uint32_t magic;
    const char* name;
  } kRemote[] = {
      {0x6969, "NFS"},        {0x517b, "SMB"},        {0xff534d42, "CIFS"},
      {0xfe534d42, "SMB2"},   {0x01021997, "9p"},     {0x65735546, "FUSE"},
      {0x00c36400, "Ceph"},   {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
      {0x5346414f, "AFS"},    {0x6b414653, "AFS"},    {0x73757245, "Coda"},
      {0x564c, "NCP"},        {0x01161970, "GFS2"},   {0x7461636f, "OCFS2"},
      {0x786f4256, "vboxsf"}, {0x19830326, "BeeGFS"}, {0x7c7c6673, "prl_fs"},
      {0xbacbacbc, "VMware"}, {0xaad7aaea, "PanFS"},  {0x013111a8, "IBRIX"},
      {0x61756673, "aufs"},
  };
  for (const auto& remote : kRemote) {
    if (static_cast<uint32_t>(system.f_type) == remote.magic) {
      return Fault::Of(Kind::kUnsafe, path, std::string("on ") + remote.name);
    }
  }
#else
  if ((system.f_flags & MNT_LOCAL) == 0) {
    return Fault::Of(Kind::kUnsafe, path, std::string("on ") + system.f_fstypename);
  }
#endif
  return {};
}

Fault CheckOwner(const struct stat& stat, const std::string& path) {
  if (stat.st_uid != geteuid()) {
    return Fault::Of(Kind::kUnsafe, path,
                     "owned by user " + std::to_string(stat.st_uid) + " and not by " +
                         std::to_string(geteuid()));
  }
  if ((stat.st_mode & 077) != 0) {
    char mode[8];
    snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(stat.st_mode & 07777));
    return Fault::Of(Kind::kUnsafe, path,
                     std::string("open to other users by its mode ") + mode);
  }
  return {};
}

Fault WriteAll(int fd, const std::string& path, uint64_t offset, const char* bytes,
               size_t count) {
  while (count > 0) {
    const ssize_t written = pwrite(fd, bytes, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fault::System("pwrite", errno, path);
    bytes += written;
    offset += static_cast<uint64_t>(written);
    count -= static_cast<size_t>(written);
  }
  return {};
}

}  // namespace graupel

#endif  // !_WIN32
