#include "passes/verify/digest.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

namespace weft::passes {
namespace {

// All bits of the result depend on all of `x`, one to one: the finaliser of MurmurHash3, by Austin
// Appleby.
uint64_t Mixed(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}

std::string ReadWhole(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The bytes of the note of this type that GNU's tools write, in a segment of notes; "" without one.
std::string GnuNote(std::string_view notes, size_t alignment, ElfW(Word) type) {
  const auto aligned = [&](size_t size) { return (size + alignment - 1) / alignment * alignment; };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    const size_t name = sizeof(note), contents = aligned(name + note.n_namesz);
    const size_t end = contents + note.n_descsz;
    if (end > notes.size()) break;
    if (note.n_type == type && notes.substr(name, note.n_namesz) == std::string_view("GNU\0", 4))
      return std::string(notes.substr(contents, note.n_descsz));
    notes.remove_prefix(std::min(aligned(end), notes.size()));
  }
  return "";
}

std::string BuildIdOf(const dl_phdr_info& object) {
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where the loader put it
    const auto* notes = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
    std::string id =
        GnuNote({notes, segment.p_memsz}, segment.p_align == 8 ? 8 : 4, NT_GNU_BUILD_ID);
    if (!id.empty()) return id;
  }
  return "";
}

int AddObject(dl_phdr_info* object, size_t /*size*/, void* data) {
  auto* text = static_cast<std::string*>(data);
  const std::string name = object->dlpi_name ? object->dlpi_name : "";
  // The program itself has no name; what has one without a slash is the kernel's.
  if (!name.empty() && name.find('/') == std::string::npos) return 0;
  const std::string id = BuildIdOf(*object);
  *text += name.substr(name.rfind('/') + 1) + " " +
           Digest(id.empty() ? ReadWhole(name.empty() ? "/proc/self/exe" : name) : id) + "\n";
  return 0;
}

// What /proc/cpuinfo says of the first CPU and of its instructions.
std::string CpuText() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();)
    for (const std::string_view field : {"model name", "flags", "CPU part", "Features"})
      if (line.rfind(field, 0) == 0) text += line + "\n";
  return text;
}

}  // namespace

std::string Digest(std::string_view bytes) {
  uint64_t a = bytes.size(), b = ~a;
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    a = Mixed(a ^ word);
    b = Mixed(b + word) + a;
  }
  return fmt::format("{:016x}{:016x}", Mixed(a), Mixed(b));
}

const std::string& DigestOfThisProgram() {
  static const auto* const digest = [] {
    std::string text = CpuText();
    dl_iterate_phdr(&AddObject, &text);
    return new std::string(Digest(text));
  }();
  return *digest;
}

}  // namespace weft::passes
