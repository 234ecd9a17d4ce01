#include "ir/base/large_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace weft::ir {
namespace {

// Around the sizes from which pages and huge pages are asked for.
TEST(LargeMemory, IsAlignedAndWritableToItsEnd) {
  const size_t huge = size_t{2} << 20, asked = size_t{128} << 10;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, asked - 1, asked, asked + 4097,
                            huge - 1, huge, huge + 1, 3 * huge + asked + 5}) {
    const std::unique_ptr<void, decltype(&std::free)> memory(AllocateForWriting(size), &std::free);
    ASSERT_NE(memory, nullptr) << size;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kWeightAlignment, 0u) << size;
    auto* bytes = static_cast<unsigned char*>(memory.get());
    std::memset(bytes, 0xa5, size);
    for (size_t i = 0; i < size; i += 997) ASSERT_EQ(bytes[i], 0xa5) << size << " " << i;
  }
}

}  // namespace
}  // namespace weft::ir
