#include "ir/base/large_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace weft::ir {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLeastAskedFor = size_t{128} << 10;

// Of what the system does not know or does not give, pages come when they are touched.
void AskForHugePages([[maybe_unused]] uintptr_t begin, [[maybe_unused]] uintptr_t end) {
#ifdef MADV_HUGEPAGE
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

void AskForPages([[maybe_unused]] uintptr_t begin, [[maybe_unused]] uintptr_t end) {
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#endif
}

}  // namespace

void* AllocateForWriting(size_t size) {
  void* memory = nullptr;
  const size_t alignment = size >= kHugePage ? kHugePage : kWeightAlignment;
  if (posix_memalign(&memory, alignment, std::max(size, kWeightAlignment)) != 0) return nullptr;
  PrepareForWriting(memory, size);
  return memory;
}

void PrepareForWriting(void* memory, size_t size) {
  if (size < kLeastAskedFor) return;
  const auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + size;
  const uintptr_t first = std::min(end, (begin + kHugePage - 1) / kHugePage * kHugePage),
                  last = std::max(first, end / kHugePage * kHugePage);
  AskForPages(begin, first);
  AskForHugePages(first, last);
  AskForPages(last, end);
}

void DropFilePages(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t last = (start + bytes.size()) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

bool ReadFile(int file, size_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t read = pread(file, to.data(), to.size(), static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return false;
    to = to.subspan(static_cast<size_t>(read));
    offset += static_cast<size_t>(read);
  }
  return true;
}

}  // namespace weft::ir
