// Sessions in several threads at once. The preset tsan builds this with ThreadSanitizer, which finds
// shared state that is not guarded: static tables made at first use, caches, reference counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "unittests/endurance/models.h"
#include "unittests/test_paths.h"
#include "weft/weft.h"

namespace weft {
namespace {

constexpr size_t kThreads = 8, kRuns = 10;

// What one thread does; the first thing that goes wrong, or nothing.
std::string RunAll(const std::vector<std::string>& paths, const std::vector<Bytes>& expected,
                   size_t first) {
  for (size_t i = 0; i < paths.size(); ++i) {
    const size_t at = (first + i) % paths.size();  // threads meet in different places
    const auto model = LoadedModel::Load(paths[at]);
    if (!model.ok()) return paths[at] + ": " + std::string(ir::Message(model.status()));
    for (size_t run = 0; run < kRuns; ++run) {
      const auto bytes = (*model)->RunForBytes();
      if (!bytes.ok()) return paths[at] + ": " + std::string(ir::Message(bytes.status()));
      if (*bytes != expected[at]) return paths[at] + ": other bits than one thread computes";
    }
  }
  return "";
}

// The first use of everything, by all threads at once: nothing has been made before.
TEST(Threads, EightMayBeTheFirstToUseTheLibrary) {
  const std::string path =
      fixtures::TestData("/passes/fusion/golden/") +
      fixtures::FiringGoldenFiles(fixtures::TestData("/passes/fusion/golden")).front();
  std::vector<absl::Status> loaded(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { loaded[t] = LoadedModel::Load(path).status(); });
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : loaded) EXPECT_TRUE(status.ok()) << status;
}

TEST(Threads, EightLoadFuseAndRunTwentyModelsAtOnce) {
  const std::vector<std::string> paths = TwentyModels();
  std::vector<Bytes> expected;
  for (const std::string& path : paths) {
    const auto model = LoadedModel::Load(path);
    ASSERT_TRUE(model.ok()) << path << ": " << model.status();
    const auto bytes = (*model)->RunForBytes();
    ASSERT_TRUE(bytes.ok()) << path << ": " << bytes.status();
    expected.push_back(*bytes);
  }
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back(
        [&, t] { wrong[t] = RunAll(paths, expected, t * paths.size() / kThreads); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::string>(kThreads));
}

// Shapes that are new on the way, packed weights that are shared, and a model that changes meanwhile.
TEST(Threads, EightRunOneSessionAtOnce) {
  auto model = Model::FromText(R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"N"x4xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<4x4xf32>, [1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0,16.0]>} : () -> tensor<4x4xf32>
 (%2) = "onnx.MatMul" (%0, %1) {} : (tensor<"N"x4xf32>, tensor<4x4xf32>) -> tensor<"N"x4xf32>
 (%3) = "onnx.Softmax" (%2) {axis:-1} : (tensor<"N"x4xf32>) -> tensor<"N"x4xf32>
 () = "builtin.return" (%3) {} : (tensor<"N"x4xf32>) ->
}
)");
  ASSERT_TRUE(model.ok()) << model.status();
  for (const char* provider : {"auto", "xnnpack"}) {
    const auto session = Session::Create(*model, {.threads = 2, .provider = provider});
    ASSERT_TRUE(session.ok()) << session.status();
    std::vector<std::string> wrong(kThreads);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (size_t run = 0; run < 4 * kRuns; ++run) {
          const auto rows = static_cast<int64_t>(1 + (t + run) % 5);
          std::vector<float> x(static_cast<size_t>(4 * rows), static_cast<float>(t));
          const auto y = session->Run({{"x", {x, {rows, 4}}}});
          if (!y.ok()) wrong[t] = std::string(ir::Message(y.status()));
          float sum = 0;
          if (y.ok())
            for (const float value : y->at("y").values<float>()) sum += value;
          if (y.ok() && std::abs(sum - static_cast<float>(rows)) > 1e-4f) wrong[t] = "a wrong sum";
        }
      });
    EXPECT_TRUE(model->Optimize({.check = 1}).ok());
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<std::string>(kThreads)) << provider;
  }
}

// XNNPACK has one operator for a weight, which its runs set up for their sizes and memory.
TEST(Threads, TwoRunAQuantizedProductOfXnnpackAtOnce) {
  constexpr int kInner = 64, kOuter = 48;
  std::string weights;
  for (int i = 0; i < kInner * kOuter; ++i)
    weights += (i > 0 ? "," : "") + std::to_string(i * 37 % 181 - 90);
  const auto model = Model::FromText(R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"N"x64xu8>) {
 (%1) = "builtin.constant" () {value:dense<tensor<64x48xi8>, [)" +
                                     weights + R"(]>} : () -> tensor<64x48xi8>
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [0.02]>} : () -> tensor<f32>
 (%3) = "builtin.constant" () {value:dense<tensor<u8>, [131]>} : () -> tensor<u8>
 (%4) = "builtin.constant" () {value:dense<tensor<f32>, [0.013]>} : () -> tensor<f32>
 (%5) = "builtin.constant" () {value:dense<tensor<i8>, [0]>} : () -> tensor<i8>
 (%6) = "builtin.constant" () {value:dense<tensor<f32>, [0.5]>} : () -> tensor<f32>
 (%7) = "builtin.constant" () {value:dense<tensor<u8>, [120]>} : () -> tensor<u8>
 (%8) = "onnx.QLinearMatMul" (%0, %2, %3, %1, %4, %5, %6, %7) {} : (tensor<"N"x64xu8>, tensor<f32>, tensor<u8>, tensor<64x48xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<u8>) -> tensor<"N"x48xu8>
 () = "builtin.return" (%8) {} : (tensor<"N"x48xu8>) ->
}
)");
  ASSERT_TRUE(model.ok()) << model.status();
  const auto session = Session::Create(*model, {.threads = 1, .provider = "xnnpack"});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto run = [&](int64_t rows) {
    Tensor x(DataType::kU8, {rows, kInner});
    for (size_t i = 0; i < x.values<uint8_t>().size(); ++i)
      x.values<uint8_t>()[i] = static_cast<uint8_t>(i * 31 + static_cast<size_t>(rows));
    const auto y = session->Run({{"x", x}});
    if (!y.ok()) return std::vector<uint8_t>();
    const auto values = y->at("y").values<uint8_t>();
    return std::vector<uint8_t>(values.begin(), values.end());
  };
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (const int64_t rows : {32, 200})
    threads.emplace_back([&, rows, expected = run(rows)] {
      for (int i = 0; i < 500; ++i) wrong += run(rows) != expected ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace weft
