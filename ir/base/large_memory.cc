#include "ir/base/large_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
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

}  // namespace weft::ir
