#include "header.h"

#include <cstring>

#include "../core/checksum.h"

namespace graupel {
namespace {

constexpr char kMagic[8] = {'g', 'r', 'a', 'u', 'p', 'e', 'l', '\n'};
constexpr size_t kTextAt = 96;

uint32_t ChecksumOf(const char* bytes, size_t text_length) {
  std::string covered(bytes, offsetof(Header, checksum));
  covered.append(bytes + kTextAt, text_length);
  return Checksum(covered.data(), covered.size());
}

}  // namespace

std::string Header::Make(Kind kind, const Identity& identity, const Lineage& lineage,
                         const std::string& boot_id) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.kind = kind;
  header.lineage = lineage;
  boot_id.copy(header.boot_id, sizeof header.boot_id - 1);
  header.key_length = static_cast<uint32_t>(identity.key.size());
  header.description_length = static_cast<uint32_t>(identity.description.size());

  std::string bytes(kTextAt, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes += identity.key + identity.description;
  const uint32_t checksum = ChecksumOf(bytes.data(), bytes.size() - kTextAt);
  std::memcpy(bytes.data() + offsetof(Header, checksum), &checksum, sizeof checksum);
  return bytes;
}

Fault Header::Check(const char* bytes, Kind expected, const std::string& path,
                    Identity* identity) const {
  if (std::memcmp(magic, kMagic, sizeof kMagic) != 0) {
    return Fault::Of(Fault::Kind::kCorrupt, path, "it does not begin as one");
  }
  if (format != kFormat) {
    return {.kind = Fault::Kind::kVersion, .path = path, .format = format};
  }
  const size_t text_length = size_t{key_length} + description_length;
  if (text_length > kTextBytes || checksum != ChecksumOf(bytes, text_length)) {
    return Fault::Of(Fault::Kind::kCorrupt, path,
                     "the checksum of its first part is wrong");
  }
  if (kind != expected) {
    return Fault::Of(Fault::Kind::kCorrupt, path,
                     expected == kPage ? "it is a state file and not a page"
                                       : "it is a page and not a state file");
  }
  identity->key.assign(bytes + kTextAt, key_length);
  identity->description.assign(bytes + kTextAt + key_length, description_length);
  return {};
}

}  // namespace graupel
