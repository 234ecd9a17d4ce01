#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "kernels/isa.h"
#include "unittests/test_paths.h"
#include "weft/base/numeric_kernels.h"
#include "weft/weft.h"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// sum = a + b and difference = a - b
constexpr const char* kSums =
    R"(module {input_names:strings["a","b"],output_names:strings["sum","difference"]} (%0: tensor<"N"x2xf32>, %1: tensor<"N"x2xf32>) {
 (%2) = "onnx.Add" (%0, %1) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>) -> tensor<"N"x2xf32>
 (%3) = "onnx.Sub" (%0, %1) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>) -> tensor<"N"x2xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<"N"x2xf32>, tensor<"N"x2xf32>) -> 
}
)";

// The rows of x that are not zero: their number follows from values.
constexpr const char* kNonZero =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "onnx.NonZero" (%0) {} : (tensor<3xf32>) -> tensor<1x"K"xi64>
 () = "builtin.return" (%1) {} : (tensor<1x"K"xi64>) -> 
}
)";

// A sequence of x and twice x, and an optional without an element; and what takes those.
constexpr const char* kMake =
    R"(module {input_names:strings["x"],output_names:strings["s","o"]} (%0: tensor<2xf32>) {
 (%1) = "onnx.Add" (%0, %0) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 (%2) = "onnx.SequenceConstruct" (%0, %1) {} : (tensor<2xf32>, tensor<2xf32>) -> seq<tensor<2xf32>>
 (%3) = "onnx.Optional" () {type:type<tensor<f32>>} : () -> optional<tensor<f32>>
 () = "builtin.return" (%2, %3) {} : (seq<tensor<2xf32>>, optional<tensor<f32>>) ->
}
)";
constexpr const char* kTake =
    R"(module {input_names:strings["s","o"],output_names:strings["has","all"]} (%0: seq<tensor<?xf32>>, %1: optional<tensor<f32>>) {
 (%2) = "onnx.OptionalHasElement" (%1) {} : (optional<tensor<f32>>) -> tensor<bool>
 (%3) = "onnx.ConcatFromSequence" (%0) {axis:0} : (seq<tensor<?xf32>>) -> tensor<?xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<bool>, tensor<?xf32>) ->
}
)";

template <class T>
T Must(absl::StatusOr<T> value) {
  EXPECT_TRUE(value.ok()) << value.status();
  return *std::move(value);
}

std::vector<float> Values(const Outputs& outputs, const std::string& name) {
  const std::span<const float> values = outputs.at(name).values<float>();
  return {values.begin(), values.end()};
}

std::string Refusal(const absl::Status& status,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  EXPECT_EQ(status.code(), code) << status;
  return std::string(ir::Message(status));
}

class SessionTest : public testing::Test {
 protected:
  Model model_ = Must(Model::FromText(kSums));
  Session session_ = Must(Session::Create(model_, {.threads = 1}));
  std::vector<float> a_ = {1, 2, 3, 4}, b_ = {10, 20, 30, 40};
};

TEST_F(SessionTest, RunsByName) {
  const Outputs y = Must(session_.Run({{"b", {b_, {2, 2}}}, {"a", {a_, {2, 2}}}}));
  EXPECT_EQ(y.at("sum").dims(), Shape({2, 2}));
  EXPECT_THAT(Values(y, "sum"), ElementsAre(11, 22, 33, 44));
  EXPECT_THAT(Values(y, "difference"), ElementsAre(-9, -18, -27, -36));
}

TEST_F(SessionTest, TakesTensorsOfItsOwnToo) {
  Tensor a(DataType::kF32, {1, 2});
  a.values<float>()[1] = 5;
  const std::array<float, 2> b = {1, 1};
  EXPECT_THAT(Values(Must(session_.Run({{"a", a}, {"b", {b, {1, 2}}}})), "sum"), ElementsAre(1, 6));
}

TEST_F(SessionTest, RefusesNegativeSizes) {
  std::vector<float> sum(4), difference(4);
  for (const int64_t size : {int64_t{-1}, int64_t{-2}, int64_t{-100'000}, INT64_MIN}) {
    const std::string text = "has a dimension of size " + std::to_string(size);
    EXPECT_THAT(Refusal(session_.Run({{"a", {a_, {size, 2}}}, {"b", {b_, {2, 2}}}}).status()),
                HasSubstr("input 'a' " + text));
    EXPECT_THAT(
        Refusal(session_.Run({{"a", {DataType::kF32, a_.data(), {size, 2}}}, {"b", {b_, {2, 2}}}})
                    .status()),
        HasSubstr("input 'a' " + text));
    EXPECT_THAT(Refusal(session_.RunInto({{"a", {a_, {2, 2}}}, {"b", {b_, {2, 2}}}},
                                         {{"sum", {DataType::kF32, sum.data(), {size, 2}}},
                                          {"difference", {difference, {2, 2}}}})),
                HasSubstr("output 'sum' " + text));
  }
}

// Callbacks are called while the model is in use, which a session that is destroyed would wait for.
TEST_F(SessionTest, IsDestroyedInACallback) {
  std::optional<Session> other = Must(Session::Create(model_, {.threads = 1}));
  std::optional<Model> clone = model_.Clone();
  RunOptions options;
  options.stop = [&] {
    other.reset();
    clone.reset();
    return false;
  };
  const NamedTensors inputs = {{"a", {a_, {2, 2}}}, {"b", {b_, {2, 2}}}};
  EXPECT_THAT(Values(Must(session_.Run(inputs, options)), "sum"), ElementsAre(11, 22, 33, 44));
  EXPECT_FALSE(other || clone);

  other = Must(Session::Create(model_, {.threads = 1}));
  OptimizeOptions optimize;
  optimize.progress = [&](const Progress&) { other.reset(); };
  ASSERT_TRUE(model_.Optimize(optimize).ok());
  EXPECT_FALSE(other);
  EXPECT_TRUE(session_.Run(inputs).ok());
}

TEST_F(SessionTest, SaysWhatItTakes) {
  ASSERT_EQ(session_.inputs().size(), 2u);
  EXPECT_EQ(session_.inputs()[1].name, "b");
  EXPECT_EQ(session_.inputs()[1].dtype, DataType::kF32);
  EXPECT_EQ(session_.inputs()[1].dims, Shape({-1, 2}));
  EXPECT_EQ(session_.inputs()[1].type, "tensor<\"N\"x2xf32>");
  EXPECT_FALSE(session_.inputs()[1].has_default);
  EXPECT_EQ(session_.outputs()[0].name, "sum");
}

TEST_F(SessionTest, WritesIntoMemoryOfTheCaller) {
  std::vector<float> sum(4), difference(4);
  const NamedTensors inputs = {{"a", {a_, {2, 2}}}, {"b", {b_, {2, 2}}}};
  ASSERT_EQ(
      session_.RunInto(inputs, {{"difference", {difference, {2, 2}}}, {"sum", {sum, {2, 2}}}}),
      absl::OkStatus());
  EXPECT_THAT(sum, ElementsAre(11, 22, 33, 44));
  EXPECT_THAT(difference, ElementsAre(-9, -18, -27, -36));
  EXPECT_THAT(Refusal(session_.RunInto(inputs, {{"sum", {sum, {2, 2}}}})),
              HasSubstr("output 'difference' is not given"));
  EXPECT_THAT(Refusal(session_.RunInto(
                  inputs, {{"sum", {sum, {4, 1}}}, {"difference", {difference, {2, 2}}}})),
              HasSubstr("output 'sum' is f32[4,1], expected f32[2,2]"));
  const std::vector<float> fixed(4);
  EXPECT_THAT(Refusal(session_.RunInto(
                  inputs, {{"sum", {fixed, {2, 2}}}, {"difference", {difference, {2, 2}}}})),
              HasSubstr("output 'sum' is bound to memory that is const"));
}

TEST_F(SessionTest, RefusesInputsThatDoNotFit) {
  const TensorRef a(a_, {2, 2});
  EXPECT_THAT(Refusal(session_.Run({{"a", a}}).status()), HasSubstr("input 'b' is not given"));
  EXPECT_THAT(Refusal(session_.Run({{"a", a}, {"a", a}}).status()), HasSubstr("given twice"));
  EXPECT_THAT(Refusal(session_.Run({{"a", a}, {"c", a}}).status()), HasSubstr("unknown input 'c'"));
  EXPECT_THAT(Refusal(session_.Run({{"a", a}, {"b", {b_, {3, 2}}}}).status()),
              HasSubstr("input 'b' has 4 elements, but its shape [3,2] needs 6"));
  EXPECT_THAT(Refusal(session_.Run({{"a", a}, {"b", {b_, {4, 1}}}}).status()),
              HasSubstr("input 'b' has shape [4,1]"));
  std::vector<double> wide(4);
  EXPECT_THAT(Refusal(session_.Run({{"a", a}, {"b", {wide, {2, 2}}}}).status()),
              HasSubstr("input 'b' is f64[2,2], expected f32[2,2]"));
}

TEST_F(SessionTest, RefusesOptionsThatAreWrong) {
  const auto create = [&](const SessionOptions& options) {
    return Refusal(Session::Create(model_, options).status());
  };
  EXPECT_THAT(create({.threads = -1}), HasSubstr("threads is -1"));
  EXPECT_THAT(create({.isa = "avx3"}), HasSubstr("avx3"));
  EXPECT_THAT(create({.provider = "cuda"}), HasSubstr("'cuda'"));
  EXPECT_THAT(create({.pipeline = "fsue"}), HasSubstr("did you mean 'fuse'"));
  EXPECT_THAT(create({.isa = "amx", .numerics = "exact"}), HasSubstr("amx"));
  EXPECT_THAT(create({.matmul_precision = "bf16"}), HasSubstr("needs numerics approximate"));
  EXPECT_THAT(create({.matmul_precision = "bf61"}), HasSubstr("'bf61'"));
  EXPECT_TRUE(
      Session::Create(model_, {.numerics = "approximate", .matmul_precision = "bf16x2"}).ok());
}

TEST_F(SessionTest, SaysWhatItRunsWith) {
  const Session portable = Must(Session::Create(
      model_, {.threads = 3, .isa = "portable", .pipeline = "none", .oversubscribe = true}));
  EXPECT_EQ(portable.isa(), "portable");
  EXPECT_EQ(portable.num_threads(), 3);
  const Session best = Must(Session::Create(model_, {.threads = 1}));
  EXPECT_EQ(best.isa(), kernels::IsaName(kernels::SupportedIsas().back()));
  EXPECT_EQ(best.num_threads(), 1);
  const Session exact = Must(Session::Create(model_, {.threads = 1, .numerics = "exact"}));
  EXPECT_EQ(exact.isa(), kernels::IsaName(kernels::BestChainIsa()));
}

TEST(NumericKernels, ExactNumbersLeaveOutWinogradsProducts) {
  EXPECT_EQ(ProviderFor("auto", "exact"), "native");
  EXPECT_EQ(ProviderFor("auto", "reassociates"), "auto");
  EXPECT_EQ(ProviderFor("xnnpack", "exact"), "xnnpack");
}

TEST_F(SessionTest, UsesTheThreadsOfAnotherModelsSession) {
  std::optional<Session> first =
      Must(Session::Create(model_, {.threads = 2, .oversubscribe = true}));
  const Model other = Must(Model::FromText(kSums));
  const Session session = Must(Session::Create(other, {.threads = 1, .threads_of = &*first}));
  EXPECT_EQ(session.num_threads(), 2);
  first.reset();  // the threads stay
  EXPECT_THAT(Values(Must(session.Run({{"a", {a_, {2, 2}}}, {"b", {b_, {2, 2}}}})), "sum"),
              ElementsAre(11, 22, 33, 44));
}

TEST_F(SessionTest, OutlivesItsModelAndDoesNotSeeWhatItBecomes) {
  std::optional<Model> model = Must(Model::FromText(kSums));
  const Session session = Must(Session::Create(*model));
  model.reset();
  EXPECT_THAT(Values(Must(session.Run({{"a", {a_, {2, 2}}}, {"b", {b_, {2, 2}}}})), "sum"),
              ElementsAre(11, 22, 33, 44));
}

TEST_F(SessionTest, IsStoppedAndRunsAgain) {
  const NamedTensors inputs = {{"a", {a_, {2, 2}}}, {"b", {b_, {2, 2}}}};
  int asked = 0;
  const auto stopped = session_.Run(inputs, {.stop = [&] { return ++asked == 2; }});
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled) << stopped.status();
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(session_.Run(inputs).ok());
  EXPECT_EQ(asked, 2);  // a later run does not ask
}

TEST_F(SessionTest, RunsWhereSizesFollowFromValues) {
  const Session session = Must(Session::Create(Must(Model::FromText(kNonZero))));
  for (const std::vector<float>& x : {std::vector<float>{0, 1, 1}, {0, 0, 1}, {1, 1, 1}}) {
    const Outputs y = Must(session.Run({{"x", {x, {3}}}}));
    EXPECT_EQ(y.at("y").NumElements(), std::count(x.begin(), x.end(), 1));
  }
}

TEST_F(SessionTest, GivesSequencesAndNothing) {
  const Session session = Must(Session::Create(Must(Model::FromText(kMake))));
  EXPECT_FALSE(session.outputs()[0].is_tensor);
  EXPECT_EQ(session.outputs()[0].dtype, DataType::kF32);
  EXPECT_EQ(session.outputs()[0].type, "seq<tensor<2xf32>>");
  const std::vector<float> x = {1, 5};
  const weft::Values y = Must(session.RunValues({{"x", TensorRef(x, {2})}}));
  const auto& elements = std::get<std::vector<Tensor>>(y.at("s"));
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_THAT(elements[0].values<float>(), ElementsAre(1, 5));
  EXPECT_THAT(elements[1].values<float>(), ElementsAre(2, 10));
  EXPECT_TRUE(std::holds_alternative<Nothing>(y.at("o")));
  EXPECT_THAT(Refusal(session.Run({{"x", {x, {2}}}}).status(), absl::StatusCode::kUnimplemented),
              HasSubstr("output 's' is seq<tensor<2xf32>>, for which there is RunValues"));
}

TEST_F(SessionTest, TakesSequencesAndNothing) {
  const Session session = Must(Session::Create(Must(Model::FromText(kTake))));
  const std::vector<float> a = {1, 2}, b = {3};
  const std::vector<float> element = {7};
  const std::vector<TensorRef> sequence = {{a, {2}}, {b, {1}}};
  const auto run = [&](ValueRef o) {
    return Must(session.RunValues({{"s", sequence}, {"o", std::move(o)}}));
  };
  for (int i = 0; i < 2; ++i) {
    const weft::Values y = run(Nothing());
    EXPECT_THAT(std::get<Tensor>(y.at("all")).values<float>(), ElementsAre(1, 2, 3));
    EXPECT_FALSE(std::get<Tensor>(y.at("has")).values<bool>()[0]);
    const weft::Values with = run(TensorRef(element, {}));
    EXPECT_TRUE(std::get<Tensor>(with.at("has")).values<bool>()[0]);
  }
}

TEST_F(SessionTest, RefusesValuesThatDoNotFit) {
  const Session session = Must(Session::Create(Must(Model::FromText(kTake))));
  const std::vector<float> a = {1, 2};
  const std::vector<double> wide = {1, 2};
  const ValueRef o = Nothing(), fits = std::vector<TensorRef>{{a, {2}}};
  const auto refusal = [&](ValueRef s) {
    return Refusal(session.RunValues({{"s", std::move(s)}, {"o", o}}).status());
  };
  EXPECT_THAT(refusal(TensorRef(a, {2})), HasSubstr("input 's' is f32[2], expected seq<"));
  EXPECT_THAT(refusal(std::vector<TensorRef>{{a, {2}}, {wide, {2}}}),
              HasSubstr("input 's', element 1 is f64[2], expected tensor<"));
  EXPECT_THAT(refusal(std::vector<TensorRef>{{a, {3}}}),
              HasSubstr("input 's', element 0, has 2 elements, but its shape [3] needs 3"));
  EXPECT_THAT(refusal(Nothing()), HasSubstr("input 's' is not given"));
  EXPECT_THAT(Refusal(session.RunValues({{"s", fits}}).status()),
              HasSubstr("input 'o' is not given"));
}

// Several threads, shapes that are new to it on the way, and a model that is optimised meanwhile.
TEST_F(SessionTest, ServesManyThreadsAtOnce) {
  std::atomic<int> wrong = 0;
  const auto serve = [&](int64_t rows) {
    std::vector<float> a(static_cast<size_t>(2 * rows), static_cast<float>(rows)), b(a.size(), 1);
    for (int run = 0; run < 50; ++run) {
      const Shape dims = {1 + run % 3 == 1 ? 1 : rows, 2};
      const auto count = static_cast<size_t>(2 * dims[0]);
      const std::span<float> x(a.data(), count), z(b.data(), count);
      const auto y = session_.Run({{"a", {x, dims}}, {"b", {z, dims}}});
      const float expected = static_cast<float>(rows) + 1;
      wrong += !y.ok() || y->at("sum").NumElements() != static_cast<int64_t>(count) ||
               y->at("sum").values<float>().back() != expected;
    }
  };
  std::vector<std::thread> threads;
  for (int64_t i = 1; i <= 8; ++i) threads.emplace_back(serve, i);
  for (int i = 0; i < 5; ++i) wrong += !model_.Optimize().ok();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SessionOfBert, GivesWhatTheReferenceGives) {
  Model model = Must(Model::Load(fixtures::TestData("/models/bert_tiny.onnx")));
  const Session fast = Must(Session::Create(model));
  const Session oracle =
      Must(Session::Create(model, {.provider = "reference", .pipeline = "none"}));
  std::vector<Tensor> tensors;
  NamedTensors inputs;
  for (const ValueInfo& input : fast.inputs()) {
    tensors.push_back(Must(Tensor::Create(input.dtype, input.dims)));
    const std::span<float> x = tensors.back().values<float>();
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 101;
    inputs.emplace_back(input.name, tensors.back());
  }
  const Outputs y = Must(fast.Run(inputs)), expected = Must(oracle.Run(inputs));
  ASSERT_EQ(y.size(), fast.outputs().size());
  for (const auto& [name, tensor] : expected) {
    float largest = 0, difference = 0;
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      const float want = tensor.values<float>()[i], got = y.at(name).values<float>()[i];
      largest = std::max(largest, std::abs(want));
      difference = std::max(difference, std::abs(want - got));
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(difference, 5e-6F * largest) << name;
  }
}

}  // namespace
}  // namespace weft
