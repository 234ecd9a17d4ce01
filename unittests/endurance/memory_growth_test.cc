// A process that loads, fuses, runs and drops models for long holds no more memory at the end.
// WEFT_RUNS asks for more runs than the usual test makes; tools/scripts/faults does.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>

#include "unittests/endurance/models.h"
#include "unittests/sanitizers.h"
#include "weft/weft.h"

namespace weft {
namespace {

// Bytes that are allocated.
size_t Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// What the system has given us, so that maps count.
size_t Resident() {
  size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t RunsOf(size_t by_default) {
  const char* const text = std::getenv("WEFT_RUNS");
  return text ? std::strtoul(text, nullptr, 10) : by_default;
}

constexpr size_t kWarmUp = 3;                        // caches, static tables
constexpr size_t kSlackBytes = size_t{64} << 10;     // of one record a run, 10,000 runs need more
constexpr size_t kSlackResident = size_t{16} << 20;  // the heap's holes come and go

// Calls `round` for `runs` times; nothing may stay of them.
template <class Round>
void ExpectNoGrowth(size_t runs, const Round& round) {
  for (size_t i = 0; i < kWarmUp; ++i) round();
  const size_t allocated = Allocated(), resident = Resident();
  for (size_t i = 0; i < runs; ++i) round();
  EXPECT_LE(Allocated(), allocated + kSlackBytes) << runs << " rounds";
  EXPECT_LE(Resident(), resident + kSlackResident) << runs << " rounds";
}

TEST(MemoryGrowth, RunsOfKeptSessionsLeaveNothing) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  std::vector<std::unique_ptr<LoadedModel>> models;
  for (const std::string& path : TwentyModels()) {
    auto model = LoadedModel::Load(path);
    ASSERT_TRUE(model.ok()) << path << ": " << model.status();
    models.push_back(*std::move(model));
  }
  ExpectNoGrowth(RunsOf(500), [&] {
    for (const auto& model : models) ASSERT_TRUE(model->Run().ok());
  });
}

TEST(MemoryGrowth, ModelsThatAreDroppedLeaveNothing) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  const std::vector<std::string> paths = TwentyModels();
  ExpectNoGrowth(RunsOf(200) / 20, [&] {
    for (const std::string& path : paths) {
      const auto model = LoadedModel::Load(path);
      ASSERT_TRUE(model.ok()) << path << ": " << model.status();
      ASSERT_TRUE((*model)->Run().ok());
    }
  });
}

// A constant of these dims, of numbers from 1 to 2.
std::string Constant(const std::string& value, const std::string& dims, size_t count) {
  std::string numbers;
  for (size_t i = 0; i < count; ++i)
    numbers += (i > 0 ? ",1." : "1.") + std::to_string(i % 89 + 10);
  const std::string type = "tensor<" + dims + "xf32>";
  return " (" + value + ") = \"builtin.constant\" () {value:dense<" + type + ", [" + numbers +
         "]>} : () -> " + type + "\n";
}

// A convolution whose weights each session scales by those of a normalization.
std::string ScaledConvolution() {
  const std::string x = "tensor<1x64x4x4xf32>", s = "tensor<64xf32>";
  return "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: " + x + ") {\n" +
         Constant("%1", "64x64x3x3", size_t{64} * 64 * 9) + Constant("%2", "64", 64) +
         " (%3) = \"onnx.Conv\" (%0, %1) {pads:array[1,1,1,1]} : (" + x +
         ", tensor<64x64x3x3xf32>) -> " + x +
         "\n (%4) = \"onnx.BatchNormalization\" (%3, %2, %2, %2, %2) {} : (" + x + ", " + s + ", " +
         s + ", " + s + ", " + s + ") -> " + x + "\n () = \"builtin.return\" (%4) {} : (" + x +
         ") ->\n}\n";
}

// Gives the input x ones.
void RunOnOnes(const absl::StatusOr<Session>& session, std::initializer_list<int64_t> dims) {
  ASSERT_TRUE(session.ok()) << session.status();
  Tensor x(DataType::kF32, dims);
  std::ranges::fill(x.values<float>(), 1.0f);
  ASSERT_TRUE(session->Run({{"x", x}}).ok());
}

TEST(MemoryGrowth, SessionsOfAModelThatStaysLeaveNothingThatTheyPacked) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  const auto model = Model::FromText(ScaledConvolution());
  ASSERT_TRUE(model.ok()) << model.status();
  ExpectNoGrowth(20, [&] { RunOnOnes(Session::Create(*model, {.threads = 1}), {1, 64, 4, 4}); });
}

// A weight that each session computes of a constant.
std::string ComputedWeight() {
  const std::string x = "tensor<2x200xf32>", w = "tensor<200x200xf32>";
  return "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: " + x + ") {\n" +
         Constant("%1", "200x200", size_t{200} * 200) + " (%2) = \"onnx.Exp\" (%1) {} : (" + w +
         ") -> " + w + "\n (%3) = \"onnx.MatMul\" (%0, %2) {} : (" + x + ", " + w + ") -> " + x +
         "\n () = \"builtin.return\" (%3) {} : (" + x + ") ->\n}\n";
}

TEST(MemoryGrowth, SessionsOfAModelThatStaysLeaveNothingThatTheyComputed) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  const auto model = Model::FromText(ComputedWeight());
  ASSERT_TRUE(model.ok()) << model.status();
  ExpectNoGrowth(20, [&] { RunOnOnes(Session::Create(*model, {.threads = 1}), {2, 200}); });
}

TEST(MemoryGrowth, ClonesThatAreOptimisedAndDroppedLeaveNothing) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  const auto model = Model::FromText(ComputedWeight());
  ASSERT_TRUE(model.ok()) << model.status();
  ExpectNoGrowth(20, [&] {
    std::optional<Model> clone = model->Clone();
    ASSERT_TRUE(clone->Optimize().ok());
    ASSERT_TRUE(clone->Optimize({.pipeline = "fuse"}).ok());
    const auto session = Session::Create(clone->Clone(), {.threads = 1});
    clone.reset();
    RunOnOnes(session, {2, 200});
  });
}

}  // namespace
}  // namespace weft
