// Dense tensors whose contents are not in memory: they lie in a map of a file, or are computed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <vector>

#include "ir/base/large_memory.h"
#include "ir/context.h"
#include "unittests/temp_dir.h"

namespace weft::ir {
namespace {

// A file of `kShift` bytes and then floats 0, 1, 2, ..., mapped into a context.
class ContentsInFiles : public testing::Test {
 protected:
  static constexpr size_t kShift = 5, kFloats = 64 * 1024;

  void SetUp() override {
    std::iota(floats_.begin(), floats_.end(), 0.0f);
    std::ofstream(path_, std::ios::binary)
        << std::string(kShift, '?')
        << std::string(reinterpret_cast<const char*>(floats_.data()), kFloats * sizeof(float));
    file_ = open(path_.c_str(), O_RDONLY);
    ASSERT_GE(file_, 0);
    size_ = kShift + kFloats * sizeof(float);
    void* const map = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
    ASSERT_NE(map, MAP_FAILED);
    map_ = static_cast<const std::byte*>(map);
    context_.AddWeightBuffer(
        {map_, size_, [map, this] { munmap(map, size_), close(file_); }, file_});
    dense_ = context_.DenseAttrView(context_.TensorType(DataType::kF32, {kFloats}),
                                    {map_ + kShift, kFloats * sizeof(float)});
  }

  // Pages of the map that the process holds; -1 where the system does not say.
  int ResidentPages() const {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t first = reinterpret_cast<uintptr_t>(map_) / page;
    std::vector<uint64_t> entries((size_ + page - 1) / page);
    const int pages = open("/proc/self/pagemap", O_RDONLY);
    if (pages < 0) return -1;
    const auto wanted = static_cast<ssize_t>(entries.size() * sizeof(uint64_t));
    const ssize_t got = pread(pages, entries.data(), static_cast<size_t>(wanted),
                              static_cast<off_t>(first * sizeof(uint64_t)));
    close(pages);
    if (got != wanted) return -1;
    int resident = 0;
    for (const uint64_t entry : entries) resident += static_cast<int>(entry >> 63);
    return resident;
  }

  const fixtures::TempDir dir_;
  const std::string path_ = dir_ / "w.bin";
  std::vector<float> floats_ = std::vector<float>(kFloats);
  int file_ = -1;
  size_t size_ = 0;
  const std::byte* map_ = nullptr;
  IrContext context_;
  Attribute dense_;
};

TEST_F(ContentsInFiles, AreElementsAtAnyAddress) {
  EXPECT_FALSE(dense_.IsInMemory());
  EXPECT_NE(reinterpret_cast<uintptr_t>(dense_.bytes().data()) % alignof(float), 0u);
  const DenseElements<float> elements = dense_.elements<float>();
  ASSERT_EQ(elements.size(), kFloats);
  EXPECT_EQ(elements[1234], 1234);
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), floats_);
}

TEST_F(ContentsInFiles, AreReadFromTheFile) {
  std::vector<float> some(1000);
  dense_.Read(700 * sizeof(float), std::as_writable_bytes(std::span(some)));
  EXPECT_EQ(some, std::vector<float>(floats_.begin() + 700, floats_.begin() + 1700));
  dense_.Read(kFloats * sizeof(float), {});
  EXPECT_DEATH(dense_.Read(kFloats * sizeof(float) - 3999, std::as_writable_bytes(std::span(some))),
               "past the end");
}

TEST_F(ContentsInFiles, TakeMemoryOnlyWhileTheyAreTouched) {
  if (ResidentPages() < 0) GTEST_SKIP() << "no /proc/self/pagemap";
  std::vector<float> all(kFloats);
  dense_.Read(0, std::as_writable_bytes(std::span(all)));
  EXPECT_EQ(ResidentPages(), 0);
  double sum = 0;
  for (const float element : dense_.elements<float>()) sum += element;
  EXPECT_GT(ResidentPages(), 60);
  dense_.DropPages();
  EXPECT_LE(ResidentPages(), 2);  // the first and the last are not its alone
  EXPECT_EQ(dense_.elements<float>()[777], 777);
  context_.DropPages();
  EXPECT_LE(ResidentPages(), 1);  // the last is not whole
}

TEST_F(ContentsInFiles, OthersAreReadFromMemory) {
  const std::vector<float> values(2000, 3.0f);
  const Attribute dense =
      context_.DenseAttrOf<float>(context_.TensorType(DataType::kF32, {2000}), values);
  EXPECT_TRUE(dense.IsInMemory());
  dense.DropPages();
  std::vector<float> read(2000);
  dense.Read(0, std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, values);
}

TEST_F(ContentsInFiles, AFileThatIsTooShortIsNotRead) {
  std::vector<std::byte> bytes(10);
  EXPECT_TRUE(ReadFile(file_, size_ - 10, bytes));
  EXPECT_EQ(0, std::memcmp(bytes.data(), map_ + size_ - 10, 10));
  EXPECT_FALSE(ReadFile(file_, size_ - 9, bytes));
  EXPECT_FALSE(ReadFile(-1, 0, bytes));
}

// Element i is 3 i.
class ComputedContentsTest : public testing::Test {
 protected:
  Attribute Make(int64_t n) {
    return context_.ComputedDenseAttr(
        context_.TensorType(DataType::kI64, {n}), [this](size_t first, std::span<std::byte> to) {
          computed_ += to.size() / sizeof(int64_t);
          for (size_t i = 0; i < to.size(); i += sizeof(int64_t)) {
            const auto value = static_cast<int64_t>((first + i) / sizeof(int64_t) * 3);
            std::memcpy(to.data() + i, &value, sizeof(value));
          }
        });
  }
  IrContext context_;
  size_t computed_ = 0;  // elements so far
};

TEST_F(ComputedContentsTest, AreComputedWhereTheyAreRead) {
  const Attribute dense = Make(10000);
  EXPECT_FALSE(dense.IsInMemory());
  EXPECT_FALSE(dense.IsElided());
  EXPECT_EQ(computed_, 0u);
  std::vector<int64_t> some(100);
  dense.Read(50 * sizeof(int64_t), std::as_writable_bytes(std::span(some)));
  EXPECT_EQ(computed_, 100u);
  EXPECT_EQ(some[0], 150);
  EXPECT_EQ(some[99], 149 * 3);
}

TEST_F(ComputedContentsTest, AreComputedOnceAsAWhole) {
  const Attribute dense = Make(10000);
  EXPECT_EQ(dense.elements<int64_t>()[9999], 9999 * 3);
  EXPECT_EQ(dense.bytes().data(), dense.bytes().data());
  std::vector<int64_t> some(10);
  dense.Read(0, std::as_writable_bytes(std::span(some)));
  EXPECT_EQ(some[9], 27);
  EXPECT_EQ(computed_, 10000u);
}

TEST_F(ComputedContentsTest, AreTheirOwnUnlessTheyAreSmall) {
  EXPECT_NE(Make(10000), Make(10000));
  const std::vector<int64_t> small = {0, 3, 6};
  EXPECT_EQ(Make(3),
            context_.DenseAttrOf<int64_t>(context_.TensorType(DataType::kI64, {3}), small));
  EXPECT_TRUE(Make(3).IsInMemory());
  const size_t before = computed_;
  EXPECT_EQ(Make(0).num_bytes(), 0u);
  EXPECT_EQ(computed_, before);
}

}  // namespace
}  // namespace weft::ir
