// fused.elementwise against the same ops by themselves: the same bits, whatever the instruction set,
// the number of threads and the shapes.
#include "unittests/kernels/native/elementwise/fused_group.h"
#include "unittests/sanitizers.h"

namespace weft::kernels {
namespace {

const std::vector<ir::Shape> kShapes = {{},     {1},    {3, 37},
                                        {1023}, {1025}, {2, kSanitized ? 30 : 300, 97}};

template <class O>
void ExpectUnary(const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  for (const ir::Shape& shape : kShapes) {
    SCOPED_TRACE(std::string(O::kInfo.name) + " on " + ir::ToString(shape));
    Group g;
    const ir::Value x = g.Floats(shape);
    const ir::Value inner = g.Make<O>({g.Make<ops::Add>({x, g.Scalar(0.25)})}, attrs);
    g.Return(g.Make<O>({g.Make<ops::Mul>({inner, x})}, attrs));
    g.ExpectTheSameBits();
  }
}

TEST(FusedUnary, GivesTheBitsOfTheOpsAlone) {
  ExpectUnary<ops::Abs>();
  ExpectUnary<ops::Neg>();
  ExpectUnary<ops::Relu>();
  ExpectUnary<ops::Sqrt>();
  ExpectUnary<ops::Exp>();
  ExpectUnary<ops::Log>();
  ExpectUnary<ops::Erf>();
  ExpectUnary<ops::Tanh>();
  ExpectUnary<ops::Sigmoid>();
  ExpectUnary<ops::Softplus>();
  ExpectUnary<ops::Mish>();
  ExpectUnary<ops::HardSwish>();
  ExpectUnary<ops::Reciprocal>();
  ExpectUnary<ops::HardSigmoid>({.alpha = 0.3f, .beta = 0.4f});
  ExpectUnary<ops::LeakyRelu>({.alpha = 0.2f});
  ExpectUnary<ops::Identity>();
  ExpectUnary<ops::Cast>({.to = DataType::kF32});
}

TEST(FusedGelu, GivesTheBitsOfTheOpAloneWithABiasToo) {
  for (const fused::GeluApproximate approximate :
       {fused::GeluApproximate::kNone, fused::GeluApproximate::kTanh}) {
    ExpectUnary<fused::Gelu>({.approximate = approximate});
    Group g;
    const ir::Value x = g.Floats({3, 200}), gate = g.Floats({3, 200}), bias = g.Floats({200});
    g.Return(
        g.Make<ops::Mul>({g.Make<fused::Gelu>({gate, bias}, {.approximate = approximate}), x}));
    g.ExpectTheSameBits();
  }
}

struct Shapes {
  ir::Shape a, b, y;
};
const std::vector<Shapes> kPairs = {
    {{7, 33}, {7, 33}, {7, 33}},
    {{7, 33}, {33}, {7, 33}},
    {{7, 1}, {1, 33}, {7, 33}},
    {{}, {2, 3, 40}, {2, 3, 40}},
    {{2, 3, 40, 5}, {3, 1, 1}, {2, 3, 40, 5}},
    {{5, 1, 700}, {3, 1}, {5, 3, 700}},
    {{2, 1, 3, 1, 37}, {1, 5, 1, 4, 1}, {2, 5, 3, 4, 37}},
};

template <class O>
void ExpectBinary() {
  for (const Shapes& shapes : kPairs) {
    SCOPED_TRACE(std::string(O::kInfo.name) + ", " + ir::ToString(shapes.a) + " and " +
                 ir::ToString(shapes.b));
    Group g;
    const ir::Value a = g.Floats(shapes.a), b = g.Floats(shapes.b), c = g.Floats(shapes.y);
    const ir::Value t = g.Make<O>({a, b});
    g.Return(g.Make<O>({g.Make<O>({b, g.Make<O>({t, c})}), a}));
    g.ExpectTheSameBits();
  }
}

TEST(FusedBinary, GivesTheBitsOfTheOpsAloneUnderBroadcasting) {
  ExpectBinary<ops::Add>();
  ExpectBinary<ops::Sub>();
  ExpectBinary<ops::Mul>();
  ExpectBinary<ops::Div>();
  ExpectBinary<ops::Pow>();
  ExpectBinary<ops::Min>();
  ExpectBinary<ops::Max>();
  ExpectBinary<ops::Sum>();
}

// The kernel multiplies instead, where one exponent is for a whole row.
TEST(FusedPow, ChoosesTheProductsThatThePowerAloneChooses) {
  for (const float exponent : {2.0f, 3.0f, 0.5f}) {
    for (const ir::Shape& shape : {ir::Shape{}, {1}, {3, 1}, {3, 5}, {2, 3, 5}, {2, 1, 1}}) {
      SCOPED_TRACE(ir::ToString(shape));
      Group g;
      Tensor e = *Tensor::Create(DataType::kF32, shape);
      for (float& value : e.values<float>()) value = exponent;
      const ir::Value x = g.Floats({2, 3, 5}), power = g.Input(std::move(e));
      const ir::Value t = g.Make<ops::Pow>({g.Make<ops::Neg>({x}), power});
      g.Return(g.Make<ops::Add>({t, g.Make<ops::Pow>({x, power})}));
      g.ExpectTheSameBits();
    }
  }
}

template <class O>
void ExpectComparison() {
  for (const Shapes& shapes : kPairs) {
    SCOPED_TRACE(std::string(O::kInfo.name) + ", " + ir::ToString(shapes.a));
    Group g;
    const ir::Value a = g.Floats(shapes.a), b = g.Floats(shapes.b), c = g.Floats(shapes.y);
    const ir::Value t = g.Make<ops::Where>({g.Make<O>({a, b}), c, b});
    g.Return(g.Make<O>({t, g.Make<ops::Neg>({c})}));
    g.ExpectTheSameBits();
  }
}

TEST(FusedComparison, ChoosesAndReturnsBools) {
  ExpectComparison<ops::Equal>();
  ExpectComparison<ops::Less>();
  ExpectComparison<ops::LessOrEqual>();
  ExpectComparison<ops::Greater>();
  ExpectComparison<ops::GreaterOrEqual>();
}

TEST(FusedLogic, MixesBoolsWithFloats) {
  for (const ir::Shape& shape : {ir::Shape{7, 33}, {2, 1100}}) {
    Group g;
    const ir::Value p = g.Bools(shape), q = g.Bools({shape[1]}), x = g.Floats(shape);
    const ir::Value either = g.Make<ops::Or>({g.Make<ops::Not>({p}), q});
    const ir::Value both =
        g.Make<ops::And>({either, g.Make<ops::Cast>({x}, {.to = DataType::kBool})});
    const ir::Value odd = g.Make<ops::Xor>({both, g.Make<ops::Identity>({p})});
    const ir::Value same = g.Make<ops::Equal>({odd, q});
    const ir::Value chosen = g.Make<ops::Where>({same, odd, p});
    const ir::Value number = g.Make<ops::Cast>({chosen}, {.to = DataType::kF32});
    g.Return(g.Make<ops::Sub>({number, x}));
    g.ExpectTheSameBits();
  }
}

// Above 2^24 they are rounded.
TEST(FusedCast, MakesFloatsOfIntegers) {
  for (const ir::Shape& shape : kShapes) {
    Group g;
    Tensor integers = *RandomTensor(DataType::kI32, shape, 1, 0);
    const std::span<int32_t> values = integers.values<int32_t>();
    for (size_t i = 0; i < values.size(); i += 3) values[i] = 16777217 + static_cast<int32_t>(i);
    const ir::Value n = g.Input(std::move(integers)), scale = g.Scalar(0.37);
    const ir::Value y = g.Make<ops::Mul>({g.Make<ops::Cast>({n}, {.to = DataType::kF32}), scale});
    g.Return(g.Make<ops::Add>({y, scale}));
    g.ExpectTheSameBits();
  }
}

TEST(FusedClip, TakesBoundsThatAreGivenAtRunTimeOrMissing) {
  for (const ir::Shape& shape : kShapes) {
    Group g;
    const ir::Value x = g.Floats(shape), low = g.Floats({}), high = g.Scalar(0.75);
    const ir::Value a = g.Make<ops::Clip>({g.Make<ops::Neg>({x}), low, high});
    const ir::Value b = g.Make<ops::Clip>({a, ir::Value(), low});
    g.Return(g.Make<ops::Add>({g.Make<ops::Clip>({x}), b}));
    g.ExpectTheSameBits();
  }
}

// Many values alive at once, and slots that are used again for elements of another size.
TEST(FusedGroup, KeepsManyValuesApart) {
  Group g;
  const ir::Value x = g.Floats({3, 700}), row = g.Floats({700}), column = g.Floats({3, 1});
  std::vector<ir::Value> values = {g.Make<ops::Sub>({x, row})};
  for (int i = 0; i < 7; ++i)
    values.push_back(g.Make<ops::Mul>({g.Make<ops::Tanh>({values.back()}), column}));
  ir::Value y = x;
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Value less = g.Make<ops::Less>({y, values[i]});
    y = g.Make<ops::Where>({less, values[values.size() - 1 - i], y});
  }
  g.Return(y);
  g.ExpectTheSameBits();
}

// What the group reads is needed no longer: its result takes the memory.
TEST(FusedGroup, MayWriteOverWhatItReads) {
  Group g;
  const ir::Value s = g.Make<ops::Softmax>({g.Floats({40, 130}, -3, 3, false)}, {.axis = -1});
  const ir::Value t = g.Make<ops::Mul>({g.Make<ops::Add>({s, g.Floats({130})}), s});
  g.Return(g.Make<ops::Softmax>({g.Make<ops::Max>({t, s})}, {.axis = -1}));
  std::unique_ptr<ir::Program> fused = g.program.Clone();
  passes::PassManager pm(g.context.get());
  pm.AddPass(passes::MakePass("fuse-elementwise"));
  ASSERT_EQ(pm.Run(*fused).message(), "");
  for (const int threads : {1, 2}) {
    const auto expected = g.Run(g.program, {.provider = "auto", .threads = threads});
    const auto actual = g.Run(*fused, {.provider = "auto", .threads = threads});
    ASSERT_TRUE(expected.ok() && actual.ok()) << actual.status();
    ExpectSame((*actual)[0], (*expected)[0]);
  }
}

TEST(FusedGroup, OfNoElementsIsEmpty) {
  Group g;
  const ir::Value x = g.Floats({0, 5}), row = g.Floats({5});
  g.Return(g.Make<ops::Exp>({g.Make<ops::Mul>({x, row})}));
  const auto y = g.Run(*g.Fused(), {.provider = "auto"});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].view().NumElements(), 0);
}

// Tensors of sizes that are known at run time only.
TEST(FusedGroup, TakesSymbolicShapes) {
  Group g;
  const ir::Shape dims = {ir::SymbolicDim("N"), 33}, actual = {9, 33};
  const ir::Value x = g.builder.AddInput("x0", g.context->TensorType(DataType::kF32, dims));
  g.inputs.push_back(Random(actual, 1));
  g.Return(g.Make<ops::Tanh>({g.Make<ops::Mul>({x, g.Floats({33})})}));
  g.ExpectTheSameBits();
}

}  // namespace
}  // namespace weft::kernels
