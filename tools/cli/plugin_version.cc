#include "tools/cli/plugin_version.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "weft/plugin.h"

namespace weft::tools {
namespace {

// As much as plugins have, by far: nothing larger is read into memory.
constexpr uint64_t kMaxNotes = 1 << 16;

class File {
 public:
  explicit File(const std::string& path)
      : stream_(path, std::ios::binary), size_(std::filesystem::file_size(path)) {}

  bool Holds(uint64_t offset, uint64_t size) const {
    return offset <= size_ && size <= size_ - offset;
  }
  bool Read(uint64_t offset, uint64_t size, void* to) {
    if (!Holds(offset, size)) return false;
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    return stream_.good();
  }

 private:
  std::ifstream stream_;
  uint64_t size_;
};

bool IsSharedObject(const ElfW(Ehdr) & header) {
  constexpr int kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  constexpr int kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kClass &&
         header.e_ident[EI_DATA] == kOrder && header.e_type == ET_DYN &&
         header.e_phentsize == sizeof(ElfW(Phdr));
}

uint64_t Aligned(uint64_t size) { return (size + 3) / 4 * 4; }

// The content of our note among `notes`: three words, then owner and content, padded to words.
std::optional<std::string> FindNote(std::string_view notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const uint64_t owner_size = Aligned(note.n_namesz), content_size = Aligned(note.n_descsz);
    if (owner_size + content_size > notes.size()) break;
    const std::string_view owner = notes.substr(0, note.n_namesz);
    const std::string_view content = notes.substr(owner_size, note.n_descsz);
    if (note.n_type == WEFT_PLUGIN_NOTE_TYPE &&
        owner == std::string_view(WEFT_PLUGIN_NOTE_OWNER, sizeof(WEFT_PLUGIN_NOTE_OWNER)))
      return std::string(content.substr(0, content.find('\0')));
    notes.remove_prefix(owner_size + content_size);
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::string> ReadPluginVersion(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return ir::InvalidArgument(path + ": no such file");
  if (!std::filesystem::is_regular_file(path, error))
    return ir::InvalidArgument(path + ": not a file");
  File file(path);
  ElfW(Ehdr) header;
  if (!file.Read(0, sizeof(header), &header) || !IsSharedObject(header))
    return ir::InvalidArgument(path + ": not a shared object for this machine");
  std::optional<std::string> version;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part;
    if (!file.Read(header.e_phoff + i * sizeof(part), sizeof(part), &part) ||
        !file.Holds(part.p_offset, part.p_filesz))
      return ir::InvalidArgument(path + ": a shared object that is cut short");
    if (part.p_type != PT_NOTE || part.p_filesz > kMaxNotes) continue;
    std::string notes(part.p_filesz, '\0');
    if (!file.Read(part.p_offset, notes.size(), notes.data()))
      return ir::InvalidArgument(path + ": could not be read");
    if (auto found = FindNote(notes)) version = std::move(found);
  }
  if (!version)
    return ir::InvalidArgument(
        path +
        ": not a plugin: it does not say, by WEFT_PLUGIN(), which version of "
        "Weft it was built for");
  return *std::move(version);
}

}  // namespace weft::tools
