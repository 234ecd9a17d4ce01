// Every gradient of passes/autodiff/ against central finite differences of the program itself.
#include "passes/autodiff/vjp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "passes/pass_registry.h"
#include "unittests/passes/pd/evaluate.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::DataType;
using ir::Ints;
using ir::Shape;
using ir::Value;

class VjpTest : public testing::Test {
 protected:
  VjpTest() : program(&context), b(&program) { ir::LoadPdDialect(context); }

  // Distinct values in a random order, `gap` apart: maxima and relus change nowhere near them.
  PdTensor Distinct(const Shape& dims, double low, double high) {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    PdTensor t{dims, {}};
    for (int64_t i = 0; i < n; ++i)
      t.data.push_back(low +
                       (high - low) * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
    std::shuffle(t.data.begin(), t.data.end(), random);
    return t;
  }
  Value Parameter(const std::string& name, const Shape& dims, double low = -1, double high = 1) {
    given[name] = Distinct(dims, low, high);
    const ir::Attribute attr = context.StringAttr(name);
    return b
        .Create(ir::OperationState{.opcode = ir::kOpcodeOf<ir::GetParameterOp>,
                                   .attrs = context.Dict({{ir::Name("parameter_name"), attr}}),
                                   .result_types = {context.TensorType(DataType::kF64, dims)}})
        .result();
  }
  Value Feed(const std::string& name, const PdTensor& value, DataType dtype = DataType::kF64) {
    given[name] = value;
    const ir::Attribute attr = context.StringAttr(name);
    return b
        .Create(ir::OperationState{.opcode = ir::kOpcodeOf<pd::Feed>,
                                   .attrs = context.Dict({{ir::Name("name"), attr}}),
                                   .result_types = {context.TensorType(dtype, value.dims)}})
        .result();
  }
  Value IntArray(const Ints& value) { return b.Make<pd::FullIntArray>({}, {.value = value}); }
  // The loss: the mean of `out` times weights that differ from element to element.
  void Fetch(Value out) {
    const Value weights = Feed("weights", Distinct(out.type().shape(), 0.5, 2));
    FetchLoss(b.Make<pd::Mean>({b.Make<pd::Multiply>({out, weights})}));
  }
  void FetchLoss(Value loss) { b.Create<pd::Fetch>({loss}, {.name = "loss"}, 0); }

  // Runs append-backward and compares all of `parameters` with differences. The loss is computed in
  // double precision and of the order of 1: a step of 1e-5 leaves an error of about 1e-10 from its
  // square and as much from rounding, so 1e-7 tells a wrong gradient from a right one.
  void ExpectGradients(const std::vector<std::string>& parameters) {
    const auto pass = MakePass("append-backward");
    ASSERT_EQ(ir::Message(pass->Run(program)), "");
    ASSERT_EQ(ir::Message(ir::Verify(program)), "");
    const PdTensors fetched = FetchPd(program, given);
    EXPECT_EQ(fetched.size(), parameters.size() + 1);  // and the loss
    for (const std::string& name : parameters) {
      ASSERT_EQ(fetched.count(name + "@GRAD"), 1u) << name;
      const PdTensor& grad = fetched.at(name + "@GRAD");
      ASSERT_EQ(grad.dims, given[name].dims) << name;
      double most = 0;
      for (size_t i = 0; i < grad.data.size(); ++i) {
        EXPECT_NEAR(grad.data[i], Difference(name, i), 1e-7) << name << "[" << i << "]";
        most = std::max(most, std::abs(grad.data[i]));
      }
      EXPECT_GT(most, 1e-3) << name << ": nothing was compared";
    }
  }
  double Difference(const std::string& name, size_t i) {
    constexpr double kStep = 1e-5;
    PdTensors changed = given;
    changed[name].data[i] += kStep;
    const double above = FetchPd(program, changed).at("loss").data[0];
    changed[name].data[i] -= 2 * kStep;
    return (above - FetchPd(program, changed).at("loss").data[0]) / (2 * kStep);
  }

  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
  std::mt19937 random{20};
  PdTensors given;
};

TEST_F(VjpTest, EveryDifferentiableOpIsHere) {
  for (const char* op : {"pd.add",
                         "pd.subtract",
                         "pd.multiply",
                         "pd.divide",
                         "pd.relu",
                         "pd.gelu",
                         "pd.sigmoid",
                         "pd.tanh",
                         "pd.cast",
                         "pd.scale",
                         "pd.matmul",
                         "pd.conv2d",
                         "pd.batch_norm",
                         "pd.pool2d",
                         "pd.softmax",
                         "pd.mean",
                         "pd.cross_entropy_with_softmax",
                         "pd.reshape",
                         "pd.flatten",
                         "pd.expand",
                         "pd.transpose",
                         "pd.concat",
                         "builtin.combine"})
    EXPECT_NE(FindVjp(op), nullptr) << op;
  for (const char* op : {"pd.topk", "pd.accuracy", "pd.multihead_matmul", "pd.relu_grad"})
    EXPECT_EQ(FindVjp(op), nullptr) << op;
}

// --- elementwise -------------------------------------------------------------------

TEST_F(VjpTest, Unary) {
  const Value x = Parameter("x", {2, 7}, -2, 2);
  const Value y = b.Make<pd::Tanh>({b.Make<pd::Sigmoid>({b.Make<pd::Relu>({x})})});
  Fetch(y);
  ExpectGradients({"x"});
}

TEST_F(VjpTest, BothFormsOfGelu) {
  const Value x = Parameter("x", {2, 5}, -2, 2), y = Parameter("y", {2, 5}, -2, 2);
  Fetch(b.Make<pd::Add>({b.Make<pd::Gelu>({x}), b.Make<pd::Gelu>({y}, {.approximate = true})}));
  ExpectGradients({"x", "y"});
}

TEST_F(VjpTest, SumsAndDifferencesSumOverWhatWasBroadcast) {
  const Value x = Parameter("x", {2, 1, 4}), y = Parameter("y", {3, 1});
  const Value z = Parameter("z", {4}), t = Parameter("t", {2, 3, 4});
  Fetch(b.Make<pd::Subtract>({b.Make<pd::Add>({b.Make<pd::Add>({x, y}), t}), z}));
  ExpectGradients({"x", "y", "z", "t"});
}

TEST_F(VjpTest, ProductsAndQuotientsSumOverWhatWasBroadcast) {
  const Value x = Parameter("x", {2, 1, 4}), y = Parameter("y", {3, 1}, 0.5, 2);
  const Value z = Parameter("z", {1, 3, 4}, 0.5, 2);
  Fetch(b.Make<pd::Divide>({b.Make<pd::Multiply>({x, y}), z}));
  ExpectGradients({"x", "y", "z"});
}

TEST_F(VjpTest, AValueReadTwiceByOneOp) {
  const Value x = Parameter("x", {5}, 0.5, 2);
  Fetch(b.Make<pd::Divide>({b.Make<pd::Multiply>({x, x}), b.Make<pd::Add>({x, x})}));
  ExpectGradients({"x"});
}

TEST_F(VjpTest, ScaleAndCast) {
  const Value factor = b.Make<pd::Full>({}, {.dtype = DataType::kF64, .shape = {1}, .value = -3});
  const Value x = Parameter("x", {2, 3});
  const Value after = b.Make<pd::Scale>({x, factor}, {.bias = 2});
  const Value before = b.Make<pd::Scale>({after, factor}, {.bias = 2, .bias_after_scale = false});
  const Value down = b.Make<pd::Cast>({before}, {.dtype = DataType::kF32});
  Fetch(b.Make<pd::Cast>({down}, {.dtype = DataType::kF64}));
  ExpectGradients({"x"});
}

// --- matrix products ---------------------------------------------------------------

struct Product {
  const char* name;
  Shape x, y;
  bool transpose_x = false, transpose_y = false;
};
class MatMulVjpTest : public VjpTest, public testing::WithParamInterface<Product> {};
TEST_P(MatMulVjpTest, MatchesDifferences) {
  const Product& p = GetParam();
  const Value x = Parameter("x", p.x), y = Parameter("y", p.y);
  Fetch(b.Make<pd::MatMul>({x, y}, {.transpose_x = p.transpose_x, .transpose_y = p.transpose_y}));
  ExpectGradients({"x", "y"});
}
INSTANTIATE_TEST_SUITE_P(Vjp, MatMulVjpTest,
                         testing::Values(Product{"plain", {2, 3}, {3, 4}},
                                         Product{"x", {3, 2}, {3, 4}, true},
                                         Product{"y", {2, 3}, {4, 3}, false, true},
                                         Product{"both", {3, 2}, {4, 3}, true, true},
                                         Product{"batch", {2, 1, 2, 3}, {4, 3, 2}},
                                         Product{"batch_both", {2, 1, 3, 2}, {4, 2, 3}, true, true},
                                         Product{"row", {3}, {2, 3, 4}},
                                         Product{"column", {2, 2, 3}, {3}},
                                         Product{"dot", {3}, {3}, true, true}),
                         [](const auto& info) { return info.param.name; });

// --- convolutions, pools, normalisation -----------------------------------------------

struct Convolution {
  const char* name;
  Shape x, filter;
  Ints strides = {1, 1}, paddings = {0, 0}, dilations = {1, 1};
  int64_t groups = 1;
  pd::PaddingAlgorithm algorithm = pd::PaddingAlgorithm::kExplicit;
  pd::DataFormat format = pd::DataFormat::kNchw;
};
class Conv2dVjpTest : public VjpTest, public testing::WithParamInterface<Convolution> {};
TEST_P(Conv2dVjpTest, MatchesDifferences) {
  const Convolution& p = GetParam();
  const Value x = Parameter("x", p.x), filter = Parameter("filter", p.filter);
  Fetch(b.Make<pd::Conv2d>({x, filter}, {.data_format = p.format,
                                         .dilations = p.dilations,
                                         .groups = p.groups,
                                         .padding_algorithm = p.algorithm,
                                         .paddings = p.paddings,
                                         .strides = p.strides}));
  ExpectGradients({"x", "filter"});
}
INSTANTIATE_TEST_SUITE_P(
    Vjp, Conv2dVjpTest,
    testing::Values(Convolution{"plain", {2, 2, 4, 5}, {3, 2, 3, 2}},
                    Convolution{"strided", {1, 2, 6, 5}, {2, 2, 3, 3}, {2, 3}, {1, 2}},
                    Convolution{
                        "padded_unevenly", {1, 2, 3, 4}, {2, 2, 2, 3}, {1, 2}, {0, 1, 2, 1}},
                    Convolution{"dilated", {1, 1, 6, 7}, {2, 1, 2, 3}, {1, 1}, {1, 1}, {2, 3}},
                    Convolution{"grouped", {2, 4, 3, 3}, {6, 2, 2, 2}, {1, 1}, {1, 0}, {1, 1}, 2},
                    Convolution{"depthwise", {1, 3, 3, 3}, {3, 1, 2, 2}, {1, 1}, {0, 0}, {1, 1}, 3},
                    Convolution{"same",
                                {1, 2, 5, 4},
                                {2, 2, 3, 2},
                                {2, 1},
                                {0, 0},
                                {1, 1},
                                1,
                                pd::PaddingAlgorithm::kSame},
                    Convolution{"nhwc",
                                {2, 4, 5, 2},
                                {3, 2, 3, 2},
                                {2, 1},
                                {1, 0},
                                {1, 1},
                                1,
                                pd::PaddingAlgorithm::kExplicit,
                                pd::DataFormat::kNhwc}),
    [](const auto& info) { return info.param.name; });

struct Pooling {
  const char* name;
  Shape x;
  Ints kernel = {2, 2}, strides = {1, 1}, paddings = {0, 0};
  bool adaptive = false, exclusive = true, global = false, ceil_mode = false;
  pd::DataFormat format = pd::DataFormat::kNchw;
};
class Pool2dVjpTest : public VjpTest,
                      public testing::WithParamInterface<std::tuple<pd::PoolingType, Pooling>> {};
TEST_P(Pool2dVjpTest, MatchesDifferences) {
  const auto& [type, p] = GetParam();
  const Value x = Parameter("x", p.x);
  Fetch(b.Make<pd::Pool2d>({x, IntArray(p.kernel)}, {.adaptive = p.adaptive,
                                                     .ceil_mode = p.ceil_mode,
                                                     .data_format = p.format,
                                                     .exclusive = p.exclusive,
                                                     .global_pooling = p.global,
                                                     .paddings = p.paddings,
                                                     .pooling_type = type,
                                                     .strides = p.strides}));
  ExpectGradients({"x"});
}
INSTANTIATE_TEST_SUITE_P(
    Vjp, Pool2dVjpTest,
    testing::Combine(
        testing::Values(pd::PoolingType::kMax, pd::PoolingType::kAvg),
        testing::Values(Pooling{"overlapping", {2, 2, 4, 5}, {3, 2}},
                        Pooling{"padded", {1, 2, 5, 5}, {3, 3}, {2, 2}, {1, 1}},
                        Pooling{"inclusive", {1, 1, 4, 4}, {3, 3}, {2, 2}, {1, 1}, false, false},
                        Pooling{
                            "ceil", {1, 1, 5, 6}, {2, 3}, {2, 2}, {0, 0}, false, true, false, true},
                        Pooling{"adaptive", {1, 2, 5, 7}, {3, 2}, {1, 1}, {0, 0}, true},
                        Pooling{"global", {2, 2, 3, 4}, {1, 1}, {1, 1}, {0, 0}, false, true, true},
                        Pooling{"nhwc",
                                {1, 4, 3, 2},
                                {2, 2},
                                {2, 1},
                                {0, 0},
                                false,
                                true,
                                false,
                                false,
                                pd::DataFormat::kNhwc})),
    [](const auto& info) {
      return std::string(ir::EnumName(std::get<0>(info.param))) + "_" +
             std::get<1>(info.param).name;
    });

struct Normalisation {
  const char* name;
  Shape x;
  bool is_test = false, use_global_stats = false, trainable_statistics = false;
  pd::DataFormat layout = pd::DataFormat::kNchw;
};
class BatchNormVjpTest : public VjpTest, public testing::WithParamInterface<Normalisation> {};
TEST_P(BatchNormVjpTest, MatchesDifferences) {
  const Normalisation& p = GetParam();
  const Shape channels = {p.layout == pd::DataFormat::kNchw ? p.x[1] : p.x.back()};
  const Value x = Parameter("x", p.x), mean = Parameter("mean", channels);
  const Value variance = Parameter("variance", channels, 0.5, 2);
  const Value scale = Parameter("scale", channels, 0.5, 2), bias = Parameter("bias", channels);
  Fetch(b.Make<pd::BatchNorm>({x, mean, variance, scale, bias},
                              {.data_layout = p.layout,
                               .epsilon = 1e-3f,
                               .is_test = p.is_test,
                               .trainable_statistics = p.trainable_statistics,
                               .use_global_stats = p.use_global_stats}));
  ExpectGradients({"x", "scale", "bias"});  // running statistics have none
}
INSTANTIATE_TEST_SUITE_P(
    Vjp, BatchNormVjpTest,
    testing::Values(Normalisation{"training", {3, 2, 2, 3}}, Normalisation{"matrix", {5, 3}},
                    Normalisation{"inference", {3, 2, 2, 3}, true},
                    Normalisation{"global", {3, 2, 2, 3}, false, true},
                    Normalisation{"trainable", {3, 2, 2, 3}, true, false, true},
                    Normalisation{
                        "nhwc", {3, 2, 3, 2}, false, false, false, pd::DataFormat::kNhwc}),
    [](const auto& info) { return info.param.name; });

// --- softmax, means, losses ------------------------------------------------------------

TEST_F(VjpTest, SoftmaxAlongAnyAxis) {
  const Value x = Parameter("x", {2, 3, 4}, -2, 2);
  Fetch(b.Make<pd::Softmax>({b.Make<pd::Softmax>({x}, {.axis = 1})}));
  ExpectGradients({"x"});
}

TEST_F(VjpTest, MeansOverSomeAxes) {
  const Value x = Parameter("x", {2, 3, 4}), y = Parameter("y", {2, 3, 4});
  const Value kept = b.Make<pd::Mean>({x}, {.axis = {0, -1}, .keepdim = true});
  Fetch(b.Make<pd::Add>({kept, b.Make<pd::Mean>({y}, {.axis = {0}})}));
  ExpectGradients({"x", "y"});
}

TEST_F(VjpTest, CrossEntropyOfClassNumbers) {
  const Value x = Parameter("x", {4, 3}, -2, 2);
  const Value label = Feed("label", {{4, 1}, {2, 0, -100, 1}}, DataType::kI64);  // one is ignored
  Fetch(b.Create<pd::CrossEntropyWithSoftmax>({x, label}).result(1));
  ExpectGradients({"x"});
}

TEST_F(VjpTest, CrossEntropyAlongAnotherAxis) {
  const Value x = Parameter("x", {2, 3, 2}, -2, 2);
  const Value label = Feed("label", {{2, 1, 2}, {2, 0, 1, 1}}, DataType::kI64);
  Fetch(b.Create<pd::CrossEntropyWithSoftmax>({x, label}, {.axis = 1}).result(1));
  ExpectGradients({"x"});
}

TEST_F(VjpTest, CrossEntropyOfWeights) {
  const Value x = Parameter("x", {4, 3}, -2, 2);
  const Value label = Feed("label", Distinct({4, 3}, 0, 1));
  Fetch(b.Create<pd::CrossEntropyWithSoftmax>({x, label}, {.soft_label = true}).result(1));
  ExpectGradients({"x"});
}

TEST_F(VjpTest, CrossEntropyOfProbabilities) {
  const Value x = Parameter("x", {4, 3}, 0.2, 1);
  const Value label = Feed("label", {{4, 1}, {2, 0, 1, 1}}, DataType::kI64);
  Fetch(b.Create<pd::CrossEntropyWithSoftmax>({x, label}, {.use_softmax = false}).result(1));
  ExpectGradients({"x"});
}

// --- data movement -----------------------------------------------------------------

TEST_F(VjpTest, ReshapeFlattenTransposeExpand) {
  const Value x = Parameter("x", {2, 1, 6});
  const Value reshaped = b.Create<pd::Reshape>({x, IntArray({0, 3, -1})}).result(0);
  const Value turned = b.Make<pd::Transpose>({reshaped}, {.perm = {2, 0, 1}});
  const Value flat = b.Create<pd::Flatten>({turned}, {.start_axis = 1, .stop_axis = 2}).result(0);
  const Value row = Parameter("row", {1, 6});
  const Value wide = b.Make<pd::Expand>({row, IntArray({3, 2, 6})});
  Fetch(b.Make<pd::Multiply>({flat, wide}));
  ExpectGradients({"x", "row"});
}

TEST_F(VjpTest, ConcatOfAVectorThatIsReadTwice) {
  const Value x = Parameter("x", {2, 3}), y = Parameter("y", {2, 3});
  const Value c = Feed("c", Distinct({2, 3}, -1, 1));
  const Value parts = b.Make<ir::CombineOp>({x, c, y});
  const Value zero = b.Make<pd::Full>({}, {.dtype = DataType::kI32, .shape = {1}, .value = 0});
  const Value one = b.Make<pd::Full>({}, {.dtype = DataType::kI32, .shape = {1}, .value = 1});
  const Value rows = b.Make<pd::Concat>({parts, zero}), columns = b.Make<pd::Concat>({parts, one});
  const Value other = b.Create<pd::Reshape>({columns, IntArray({6, 3})}).result(0);
  Fetch(b.Make<pd::Multiply>({rows, other}));
  ExpectGradients({"x", "y"});
}

// --- a whole network ---------------------------------------------------------------

// Two convolutions with batch normalisation and a residual, pools, a matrix product and the loss of a
// classifier, as in ResNet.
TEST_F(VjpTest, AResidualNetwork) {
  std::vector<std::string> parameters;
  auto weight = [&](const std::string& name, const Shape& dims, double low, double high) {
    parameters.push_back(name);
    return Parameter(name, dims, low, high);
  };
  auto conv_bn = [&](const std::string& name, Value x, Shape filter, int64_t stride) {
    const int64_t channels = filter[0];
    const Value y = b.Make<pd::Conv2d>({x, weight(name + ".w", filter, -1, 1)},
                                       {.paddings = {1, 1}, .strides = {stride, stride}});
    const Value mean = Parameter(name + ".mean", {channels});
    const Value variance = Parameter(name + ".variance", {channels}, 0.5, 2);
    return b.Make<pd::BatchNorm>({y, mean, variance, weight(name + ".scale", {channels}, 0.5, 2),
                                  weight(name + ".bias", {channels}, -1, 1)});
  };
  const Value x = Feed("data", Distinct({3, 2, 8, 8}, -1, 1));
  const Value stem = b.Make<pd::Relu>({conv_bn("stem", x, {3, 2, 3, 3}, 2)});
  const Value pooled =
      b.Make<pd::Pool2d>({stem, IntArray({3, 3})}, {.paddings = {1, 1}, .strides = {2, 2}});
  const Value branch = conv_bn("block", pooled, {3, 3, 3, 3}, 1);
  const Value block = b.Make<pd::Relu>({b.Make<pd::Add>({branch, pooled})});
  const Value mean = b.Make<pd::Pool2d>({block, IntArray({1, 1})},
                                        {.adaptive = true, .pooling_type = pd::PoolingType::kAvg});
  const Value flat = b.Create<pd::Flatten>({mean}, {.start_axis = 1, .stop_axis = 3}).result(0);
  const Value logits = b.Make<pd::Add>(
      {b.Make<pd::MatMul>({flat, weight("fc.w", {3, 4}, -1, 1)}), weight("fc.b", {4}, -1, 1)});
  const Value label = Feed("label", {{3, 1}, {1, 3, 0}}, DataType::kI64);
  const Value losses =
      b.Create<pd::CrossEntropyWithSoftmax>({b.Make<pd::Softmax>({logits}), label}).result(1);
  FetchLoss(b.Make<pd::Mean>({losses}));
  ExpectGradients(parameters);
}

// softmax(alpha q . k^T + mask) . v with two heads, as in the attention listing.
TEST_F(VjpTest, AttentionWithTwoHeads) {
  const Value x = Parameter("x", {2, 3, 4});
  auto heads = [&](const std::string& name) {
    const Value product = b.Make<pd::MatMul>({x, Parameter(name + ".w", {4, 4})});
    const Value sum = b.Make<pd::Add>({product, Parameter(name + ".b", {3, 4})});
    const Value split = b.Create<pd::Reshape>({sum, IntArray({0, 0, 2, 2})}).result(0);
    return b.Make<pd::Transpose>({split}, {.perm = {0, 2, 1, 3}});
  };
  const Value alpha = b.Make<pd::Full>({}, {.dtype = DataType::kF64, .shape = {1}, .value = 0.5f});
  const Value q = b.Make<pd::Scale>({heads("q"), alpha});
  const Value product = b.Make<pd::MatMul>({q, heads("k")}, {.transpose_y = true});
  const Value logits = b.Make<pd::Add>({product, Parameter("mask", {2, 1, 1, 3})});
  const Value out = b.Make<pd::MatMul>({b.Make<pd::Softmax>({logits}), heads("v")});
  const Value turned = b.Make<pd::Transpose>({out}, {.perm = {0, 2, 1, 3}});
  Fetch(b.Create<pd::Reshape>({turned, IntArray({0, 0, 4})}).result(0));
  ExpectGradients({"x", "q.w", "q.b", "k.w", "k.b", "v.w", "v.b", "mask"});
}

}  // namespace
}  // namespace weft::passes
