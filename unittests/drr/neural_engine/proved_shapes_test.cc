// A rule whose result demands more of its operands than the match does (a scale of the full last
// dimension, where the match broadcasts what it has) applies only where that is proved: whatever
// sizes the inputs have, the program that was rewritten runs wherever the program it was made from
// runs.
#include <random>

#include "ir/analysis/shape_inference.h"
#include "ir/dialects/onnx.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

namespace ops = ir::ops;
using ir::Value;
using testing::HasSubstr;

constexpr std::string_view kRmsNorm = R"({'patterns': {
  'in': [[(0, 'Pow'), (1, 'ReduceMean'), (2, 'Add'), (3, 'Sqrt'), (4, 'Div'), (5, 'Mul')]],
  'out': [[(0, 'RmsNorm')]]}, 'search_mode': 'op_type', 'node_names': {0: 5},
 'input_tensors': {0: [[{0: [0]}, {5: [0, 1]}], [[0, 1], 2]]},
 'output_tensors': {0: [[{5: [0]}], [[0], 1]]}, 'returns': []})";
constexpr std::string_view kLayerNorm = R"({'patterns': {
  'in': [[(0, 'ReduceMean'), (1, 'Sub'), (2, 'Pow'), (3, 'ReduceMean'), (4, 'Add'), (5, 'Sqrt'),
          (6, 'Div'), (7, 'Mul'), (8, 'Add')]],
  'out': [[(0, 'LayerNorm')]]}, 'search_mode': 'op_type', 'node_names': {0: 8},
 'input_tensors': {0: [[{0: [0]}, {7: [0, 1]}, {8: [0, 1]}], [[0, 1, 2], 3]]},
 'output_tensors': {0: [[{8: [0]}], [[0], 1]]}, 'returns': []})";
constexpr std::string_view kLinear = R"({'patterns': {
  'in': [[(0, 'MatMul'), (1, 'Add')]], 'out': [[(0, 'MatMulWithBias')]]},
 'search_mode': 'op_type', 'node_names': {0: 1},
 'input_tensors': {0: [[{0: [0]}, {0: [1]}, {1: [0, 1]}], [[0, 1, 2], 3]]},
 'output_tensors': {0: [[{1: [0]}], [[0], 1]]}, 'returns': []})";
constexpr std::string_view kResidual = R"({'patterns': {
  'in': [[(0, 'MatMulWithBias'), (1, 'Add')]], 'out': [[(0, 'MatMulWithBias')]]},
 'search_mode': 'op_type', 'node_names': {0: 1},
 'input_tensors': {0: [[{0: [0]}, {0: [1]}, {0: [2]}, {1: [0, 1]}], [[0, 1, 2, 3], 4]]},
 'output_tensors': {0: [[{1: [0]}], [[0], 1]]}, 'returns': []})";
constexpr std::string_view kAttention = R"({'patterns': {
  'in': [[(0, 'Transpose'), (1, 'MatMul'), (2, 'Add'), (3, 'Softmax'), (4, 'MatMul')]],
  'out': [[(0, 'MultiHeadAttention')]]}, 'search_mode': 'op_type', 'node_names': {0: 4},
 'input_tensors': {0: [[{1: [0]}, {0: [0]}, {4: [1]}, {2: [0, 1]}], [[0, 1, 2, 3], 4]]},
 'output_tensors': {0: [[{4: [0]}], [[0], 1]]}, 'returns': [], 'attrs': {0: {'scale': 1.0}}})";

enum Form { kFormRmsNorm, kFormLayerNorm, kFormLinear, kFormResidual, kFormAttention, kNumForms };
constexpr std::string_view kDicts[] = {kRmsNorm, kLayerNorm, kLinear, kResidual, kAttention};

class ProvedShapes : public TextRuleTest {
 protected:
  // What a rule may match, with inputs of these shapes.
  void Build(Form form, const std::vector<ir::Shape>& shapes) {
    program = std::make_unique<ir::Program>(&context);
    ir::Builder b(program.get());
    std::vector<Value> in;
    for (size_t i = 0; i < shapes.size(); ++i)
      in.push_back(
          b.AddInput("x" + std::to_string(i), context.TensorType(ir::DataType::kF32, shapes[i])));
    Value y;
    switch (form) {
      case kFormRmsNorm:
        y = b.Make<ops::Mul>({b.Make<ops::Div>({in[0], RootMeanSquare(b, in[0])}), in[1]});
        break;
      case kFormLayerNorm: {
        const Value mean = b.Make<ops::ReduceMean>({in[0]}, {.axes = ir::Ints{-1}});
        const Value centred = b.Make<ops::Sub>({in[0], mean});
        const Value normal = b.Make<ops::Div>({centred, RootMeanSquare(b, centred)});
        y = b.Make<ops::Add>({b.Make<ops::Mul>({normal, in[1]}), in[2]});
        break;
      }
      case kFormLinear:
        y = b.Make<ops::Add>({b.Make<ops::MatMul>({in[0], in[1]}), in[2]});
        break;
      case kFormResidual:
        y = b.Make<ops::Add>({b.Make<ir::fused::Linear>({in[0], in[1], in[2]}), in[3]});
        break;
      default: {
        const Value k = b.Make<ops::Transpose>({in[1]}, {.perm = {0, 1, 3, 2}});
        const Value scores = b.Make<ops::Add>({b.Make<ops::MatMul>({in[0], k}), in[3]});
        y = b.Make<ops::MatMul>({b.Make<ops::Softmax>({scores}), in[2]});
      }
    }
    b.Return({{"y", y}});
    ASSERT_TRUE(ir::Verify(*program).ok()) << ir::Verify(*program).message();
  }
  static Value RootMeanSquare(ir::Builder& b, Value x) {
    const Value square = b.Make<ops::Pow>({x, b.ConstantScalar(ir::DataType::kF32, 2)});
    const Value mean = b.Make<ops::ReduceMean>({square}, {.axes = ir::Ints{-1}});
    return b.Make<ops::Sqrt>(
        {b.Make<ops::Add>({mean, b.ConstantScalar(ir::DataType::kF32, 1e-5)})});
  }

  bool Applies(Form form, const std::vector<ir::Shape>& shapes) {
    Build(form, shapes);
    reason.clear();
    return ApplyText(kDicts[form]) == 1;
  }

  // The type of the output with inputs of these sizes, or "" where the shapes do not fit.
  static std::string TypeOfOutput(ir::Program& symbolic, const std::vector<ir::Shape>& sizes) {
    const auto fixed = symbolic.Clone();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (!ir::SetInputShape(*fixed, "x" + std::to_string(i), sizes[i]).ok()) return "";
    if (!ir::PropagateTypes(*fixed).ok() || !ir::Verify(*fixed).ok()) return "";
    return fixed->body().Terminator().operand(0).type().ToString();
  }

  const int64_t b_ = ir::SymbolicDim("b"), s_ = ir::SymbolicDim("s"), d_ = ir::SymbolicDim("d");
};

// soundness: a scale or bias of one element, which the match broadcasts over the last dimension.
TEST_F(ProvedShapes, OneElementIsNoScaleOfALastDimensionThatIsNotKnown) {
  EXPECT_FALSE(Applies(kFormRmsNorm, {{b_, s_, d_}, {1}}));
  EXPECT_THAT(reason, HasSubstr("scale is [1] but must be [\"d\"] for sure"));
  EXPECT_FALSE(Applies(kFormRmsNorm, {{b_, s_, ir::kUnknownDim}, {1}}));
  EXPECT_FALSE(Applies(kFormLayerNorm, {{b_, s_, d_}, {1}, {d_}}));
  EXPECT_FALSE(Applies(kFormLayerNorm, {{b_, s_, d_}, {d_}, {1}}));
  EXPECT_THAT(reason, HasSubstr("bias is [1] but must be [\"d\"] for sure"));
}

TEST_F(ProvedShapes, ABiasOfAnySizeIsNoneOfEveryColumn) {
  EXPECT_FALSE(Applies(kFormLinear, {{b_, 4}, {4, 4}, {s_}}));
  EXPECT_THAT(reason, HasSubstr("bias is [\"s\"] but must be [4] for sure"));
  EXPECT_FALSE(Applies(kFormLinear, {{b_, 4}, {4, 4}, {ir::kUnknownDim}}));
  EXPECT_FALSE(Applies(kFormResidual, {{b_, 4}, {4, 4}, {4}, {s_, 4}}));
}

TEST_F(ProvedShapes, BatchesAndHeadsOfAttentionAreNotBroadcast) {
  EXPECT_FALSE(Applies(kFormAttention, {{b_, 2, 3, 4}, {1, 2, 5, 4}, {b_, 2, 5, 4}, {1, 1, 3, 5}}));
  EXPECT_THAT(reason, HasSubstr("q has [\"b\"] batches but k has 1"));
  EXPECT_FALSE(Applies(kFormAttention, {{2, s_, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, {1, 1, 3, 5}}));
  EXPECT_FALSE(Applies(kFormAttention, {{2, 2, 1, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, {1, 1, s_, 5}}));
}

TEST_F(ProvedShapes, EqualSymbolsAndSizesAreProved) {
  EXPECT_TRUE(Applies(kFormRmsNorm, {{b_, s_, 4}, {4}})) << reason;
  EXPECT_TRUE(Applies(kFormRmsNorm, {{b_, s_, d_}, {d_}})) << reason;
  EXPECT_TRUE(Applies(kFormRmsNorm, {{ir::kUnknownDim, s_, d_}, {d_}})) << reason;
  EXPECT_TRUE(Applies(kFormLayerNorm, {{b_, s_, d_}, {d_}, {d_}})) << reason;
  EXPECT_TRUE(Applies(kFormLinear, {{b_, s_}, {s_, d_}, {d_}})) << reason;
  EXPECT_TRUE(Applies(kFormLinear, {{b_, ir::kUnknownDim}, {4, 4}, {4}})) << reason;
  EXPECT_TRUE(Applies(kFormResidual, {{b_, 4}, {4, 4}, {4}, {b_, 4}})) << reason;
  EXPECT_TRUE(
      Applies(kFormAttention, {{b_, 2, s_, 4}, {b_, 2, d_, 4}, {b_, 2, d_, 4}, {b_, 1, 1, d_}}))
      << reason;
}

// Shapes and sizes by chance.
class RandomShapes {
 public:
  explicit RandomShapes(uint32_t seed) : random_(seed) {}

  std::vector<ir::Shape> For(Form form) {
    switch (form) {
      case kFormRmsNorm:
        return {{Dim(), Dim(), Dim()}, {Dim()}};
      case kFormLayerNorm:
        return {{Dim(), Dim(), Dim()}, {Dim()}, {Dim()}};
      case kFormLinear:
        return {{Dim(), Dim()}, {Dim(), Dim()}, {Dim()}};
      case kFormResidual:
        return Residual(Dim(), Dim(), Dim());
      default:
        return Attention(Dim(), Dim());
    }
  }
  std::vector<ir::Shape> Sizes(std::vector<ir::Shape> shapes, std::span<const int64_t> symbols) {
    std::vector<int64_t> of_symbol(symbols.size());
    for (int64_t& size : of_symbol) size = Size();
    for (ir::Shape& shape : shapes)
      for (int64_t& dim : shape) {
        if (dim == ir::kUnknownDim) dim = Size();
        for (size_t i = 0; i < symbols.size(); ++i)
          if (dim == symbols[i]) dim = of_symbol[i];
      }
    return shapes;
  }
  void set_symbols(std::vector<int64_t> symbols) { symbols_ = std::move(symbols); }

 private:
  std::vector<ir::Shape> Residual(int64_t rows, int64_t inner, int64_t columns) {
    return {{rows, inner}, {inner, columns}, {columns}, {Like(rows), Like(columns)}};
  }
  std::vector<ir::Shape> Attention(int64_t batch, int64_t queries) {
    return {{batch, 2, queries, 4},
            {Like(batch), 2, 5, 4},
            {Like(batch), 2, 5, 4},
            {Like(batch), 1, Like(queries), 5}};
  }
  int64_t Like(int64_t dim) { return Below(4) == 0 ? Dim() : dim; }
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  int64_t Size() { return std::array<int64_t, 3>{1, 4, 3}[Below(3)]; }
  int64_t Dim() {  // 1 and 4, or nothing certain
    const size_t kind = Below(6);
    if (kind == 0) return 1;
    if (kind == 1) return 4;
    return kind == 2 ? ir::kUnknownDim : symbols_[Below(symbols_.size())];
  }
  std::mt19937 random_;
  std::vector<int64_t> symbols_;
};

TEST_F(ProvedShapes, WhatIsPutInRunsWhereverTheMatchRan) {
  RandomShapes random(20261122);
  random.set_symbols({b_, d_});
  std::array<int, kNumForms> applied{}, compared{};
  for (int round = 0; round < 3000; ++round) {
    const Form form = static_cast<Form>(round % kNumForms);
    const std::vector<ir::Shape> shapes = random.For(form);
    // Shapes that no sizes can make fit are no program.
    if (form == kFormLinear && shapes[0][1] != shapes[1][0]) continue;
    Build(form, shapes);
    const auto before = program->Clone();
    if (ApplyText(kDicts[form]) == 0) continue;
    ++applied[form];
    for (int i = 0; i < 20; ++i) {
      const std::vector<ir::Shape> sizes = random.Sizes(shapes, std::array{b_, d_});
      const std::string type = TypeOfOutput(*before, sizes);
      if (type.empty()) continue;
      ++compared[form];
      EXPECT_EQ(TypeOfOutput(*program, sizes), type) << Print();
    }
  }
  for (int form = 0; form < kNumForms; ++form) {
    EXPECT_GE(applied[form], 5) << kDicts[form];
    EXPECT_GE(compared[form], 20) << kDicts[form];
  }
}

}  // namespace
}  // namespace weft::drr::text
