#include "header.h"

#include <cstring>

#include "../core/checksum.h"
#include "shared_file.h"

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

Fault Header::Read(const SharedFile& file, uint64_t size, Kind wanted_kind,
                   const Identity& wanted) {
  const std::string& path = file.path();
  const auto corrupt = [&](std::string detail) {
    return Fault::Of(Fault::Kind::kCorrupt, path, std::move(detail));
  };
  uint64_t found_size = 0;
  Fault fault = file.Size(&found_size);
  if (!fault.IsNone()) return fault;
  const auto wrong_size = [&] {
    return corrupt("it has " + std::to_string(found_size) + " bytes and not " +
                   std::to_string(size));
  };
  if (found_size < kBytes) return wrong_size();
  char bytes[kBytes];
  fault = file.Read(0, bytes, sizeof bytes);
  if (!fault.IsNone()) return fault;
  std::memcpy(this, bytes, sizeof *this);
  if (std::memcmp(magic, kMagic, sizeof kMagic) != 0) {
    return corrupt("it does not begin as one");
  }
  if (format != kFormat) {
    return {.kind = Fault::Kind::kVersion, .path = path, .format = format};
  }
  // After the format: another format may have another size, and is not damaged.
  if (found_size != size) return wrong_size();
  const size_t text_length = size_t{key_length} + description_length;
  if (text_length > kTextBytes || checksum != ChecksumOf(bytes, text_length)) {
    return corrupt("the checksum of its first part is wrong");
  }
  if (kind != wanted_kind) {
    return corrupt(wanted_kind == kPage ? "it is a state file and not a page"
                                        : "it is a page and not a state file");
  }
  const char* const texts = bytes + kTextAt;
  const std::string key(texts, key_length);
  if (key == wanted.key) return {};
  return {.kind = Fault::Kind::kMismatch,
          .path = path,
          .found = {key, std::string(texts + key_length, description_length)}};
}

}  // namespace graupel
