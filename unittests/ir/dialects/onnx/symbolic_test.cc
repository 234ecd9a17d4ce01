// What inference says of symbolic sizes must be what it says of the numbers in their place, wherever
// those fit.
#include <map>
#include <random>
#include <string>
#include <utility>

#include "ir/dim/dim_expr.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 31};

class OnnxSymbolic : public InferTest {
 protected:
  // Infers `make(dim)` with N and with every size for it, from `least` on; the results for N, unknown
  // dims aside, must become those. Counts what was compared.
  template <class O, class Make>
  void Check(const Make& make, const typename O::template Attrs<BuilderSlot>& attrs = {},
             size_t num_results = 1, int64_t least = 0) {
    const auto symbolic = Results<O>(make(n), attrs, num_results);
    for (const int64_t size : kSizes) {
      if (size < least) continue;
      const auto numeric = Results<O>(make(size), attrs, num_results);
      if (symbolic.empty() || numeric.empty()) continue;  // it does not fit
      const DimBinding binding[] = {{n, size}};
      for (size_t i = 0; i < num_results; ++i) {
        if (!symbolic[i].HasRank()) continue;
        ASSERT_EQ(symbolic[i].rank(), numeric[i].rank());
        for (size_t d = 0; d < symbolic[i].rank(); ++d) {
          const int64_t dim = symbolic[i].dims()[d];
          if (dim == kUnknownDim) continue;
          ++compared_;
          ASSERT_EQ(SubstituteDim(dim, binding), numeric[i].dims()[d])
              << O::kInfo.name << ": " << symbolic[i].ToString() << " for N = " << size;
        }
      }
    }
  }

  // One input per shape.
  Value In(const Shape& dims) {
    Value& input = inputs_[dims];
    if (!input) input = X(dims);
    return input;
  }
  int64_t Below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }
  Value ShapeOfX(int64_t dim) { return b.Make<ops::Shape>({In({dim, 6})}); }
  size_t compared() const { return compared_; }

 private:
  template <class O>
  std::vector<Type> Results(std::vector<Value> operands,
                            const typename O::template Attrs<BuilderSlot>& attrs,
                            size_t num_results) {
    OperationState state{.opcode = kOpcodeOf<O>,
                         .operands = std::move(operands),
                         .attrs = MakeAttrs<O>(context, attrs)};
    std::vector<Type> types;
    std::string error;
    if (!InferResultTypes(&context, state, num_results, &types, &error)) return {};
    return types;
  }

  std::mt19937_64 random_{1};
  std::map<Shape, Value> inputs_;
  size_t compared_ = 0;
};

TEST_F(OnnxSymbolic, WindowsHaveTheirNumberOfPositions) {
  for (int i = 0; i < 300; ++i) {
    const Ints kernel = {Below(5) + 1}, strides = {Below(4) + 1}, dilations = {Below(2) + 1};
    const Ints pads = {Below(3), Below(3)};
    const auto x = [&](int64_t dim) { return std::vector<Value>{In({1, 2, dim})}; };
    Check<ops::MaxPool>(x, {.ceil_mode = Below(2),
                            .dilations = dilations,
                            .kernel_shape = kernel,
                            .pads = pads,
                            .strides = strides});
    Check<ops::AveragePool>(x,
                            {.auto_pad = Below(2) ? ops::AutoPad::kSameUpper : ops::AutoPad::kValid,
                             .ceil_mode = Below(2),
                             .kernel_shape = kernel,
                             .strides = strides});
    const auto conv = [&](int64_t dim) {
      return std::vector<Value>{In({1, 2, dim}), In({2, 2, kernel[0]})};
    };
    Check<ops::Conv>(conv, {.dilations = dilations, .pads = pads, .strides = strides});
    Check<ops::ConvTranspose>(conv, {.dilations = dilations, .pads = pads, .strides = strides});
    Check<ops::ConvTranspose>(conv, {.auto_pad = ops::AutoPad::kSameLower, .strides = strides});
  }
  EXPECT_GT(compared(), 20000u);
}

TEST_F(OnnxSymbolic, SlicesHaveTheirNumberOfElements) {
  const int64_t places[] = {INT64_MIN, INT32_MIN, -5, -2, -1, 0, 1, 3, 8, INT32_MAX, INT64_MAX};
  for (const int64_t start : places)
    for (const int64_t end : places)
      for (const int64_t step : {-2, -1, 1, 3})
        Check<ops::Slice>([&](int64_t dim) {
          return std::vector<Value>{In({dim}), I({start}), I({end}), I({0}), I({step})};
        });
  for (const int64_t start : places)
    Check<ops::Slice>([&](int64_t dim) {  // up to a size of another tensor
      const Value end = b.Make<ops::Slice>({ShapeOfX(dim), I({0}), I({1})});
      return std::vector<Value>{In({7}), I({start}), end, I({0}), I({1})};
    });
  EXPECT_GT(compared(), 3000u);
}

TEST_F(OnnxSymbolic, BroadcastingAPieceOfAsManyElementsGivesTheirNumber) {
  for (const bool piece_first : {false, true})
    Check<ops::Add>([&](int64_t dim) {
      const Value end = b.Make<ops::Slice>({ShapeOfX(dim), I({0}), I({1})});
      const Value piece = b.Make<ops::Slice>({In({9, 7}), I({0}), end, I({1})});
      return piece_first ? std::vector<Value>{piece, In({9, dim})}
                         : std::vector<Value>{In({9, dim}), piece};
    });
  EXPECT_EQ(compared(), 2 * 2 * 7u);  // sizes up to 7, none of which leaves the result unknown
}

TEST_F(OnnxSymbolic, PartsAndWholesFitTogether) {
  for (int64_t parts = 1; parts < 5; ++parts) {
    const auto x = [&](int64_t dim) { return std::vector<Value>{In({dim, 3})}; };
    Check<ops::Split>(x, {.axis = 0}, static_cast<size_t>(parts));
    Check<ops::Split>(x, {.axis = 0, .num_outputs = parts}, static_cast<size_t>(parts));
    Check<ops::SpaceToDepth>(
        [&](int64_t dim) {
          return std::vector<Value>{In({1, dim, dim, dim})};
        },
        {.blocksize = parts});
    Check<ops::DepthToSpace>(
        [&](int64_t dim) {
          return std::vector<Value>{In({1, dim, dim, dim})};
        },
        {.blocksize = parts});
    for (const double scale : {0.5, 1.0, 1.5, 2.0, 3.25, 0.7})
      Check<ops::Resize>([&](int64_t dim) {
        const std::vector<float> scales = {1, static_cast<float>(scale)};
        const Type type = context.TensorType(DataType::kF32, {2});
        return std::vector<Value>{
            In({1, dim}), Value(),
            b.Constant(context.DenseAttrOf<float>(type, std::span<const float>(scales)))};
      });
    Check<ops::Pad>([&](int64_t dim) {
      return std::vector<Value>{In({dim, 2}), I({parts, 0, -2, 0})};
    });
    Check<ops::Tile>([&](int64_t dim) {
      return std::vector<Value>{In({3, dim}), b.Make<ops::Add>({ShapeOfX(dim), I({parts})})};
    });
    Check<ops::Concat>(
        [&](int64_t dim) {
          return std::vector<Value>{In({dim, 2}), In({dim, parts})};
        },
        {.axis = 1});
    Check<ops::Concat>(
        [&](int64_t dim) {
          return std::vector<Value>{In({dim}), In({parts})};
        },
        {.axis = 0});
    Check<ops::Flatten>(
        [&](int64_t dim) {
          return std::vector<Value>{In({dim, parts, dim})};
        },
        {.axis = 2});
  }
  EXPECT_GT(compared(), 500u);
}

TEST_F(OnnxSymbolic, ShapesThatAreComputedAreFollowed) {
  for (int i = 0; i < 200; ++i) {
    const int64_t k = Below(4) + 1, op = Below(6);
    const auto size = [&](int64_t dim) {
      const Value sizes = ShapeOfX(dim), first = b.Make<ops::Gather>({sizes, I({0})});
      return op == 0   ? b.Make<ops::Add>({first, I({k})})
             : op == 1 ? b.Make<ops::Mul>({first, I({k})})
             : op == 2 ? b.Make<ops::Div>({first, I({k})})
             : op == 3 ? b.Make<ops::Sub>({first, I({k})})
             : op == 4 ? b.Make<ops::Mod>({first, I({k})})
                       : b.Make<ops::Max>({first, I({k})});
    };
    Check<ops::ConstantOfShape>([&](int64_t dim) {
      return std::vector<Value>{b.Make<ops::Concat>({size(dim), I({2})}, {.axis = 0})};
    });
    Check<ops::Expand>([&](int64_t dim) {
      return std::vector<Value>{In({1, 2}), b.Make<ops::Concat>({size(dim), I({2})}, {.axis = 0})};
    });
    Check<ops::Range>([&](int64_t dim) {
      const Value end = b.Make<ops::Squeeze>({size(dim), I({0})});
      return std::vector<Value>{Scalar(1, DataType::kI64), end,
                                Scalar(static_cast<double>(k), DataType::kI64)};
    });
    if (op == 4) continue;  // a remainder of 0 in a target of Reshape copies a size
    const auto reshape = [&](int64_t dim) {
      return std::vector<Value>{In({dim, 2, 6}),
                                b.Make<ops::Concat>({size(dim), I({-1})}, {.axis = 0})};
    };
    Check<ops::Reshape>(reshape, {}, 1, k + 1);
  }
  EXPECT_GT(compared(), 5000u);
}

TEST_F(OnnxSymbolic, ExpandOfPyTorchIsFollowed) {
  // sizes with -1 in place of those that stay, as torch.onnx writes x.expand(-1, S, -1)
  const Value sizes = b.Make<ops::Concat>(
      {I({-1}), b.Make<ops::Gather>({ShapeOfX(n), I({0})}), I({-1})}, {.axis = 0});
  const int64_t one[] = {1};
  const Attribute value =
      context.DenseAttrOf<int64_t>(context.TensorType(DataType::kI64, {1}), one);
  const Value ones = b.Make<ops::ConstantOfShape>({I({3})}, {.value = value});
  const Value minus = b.Make<ops::Mul>({ones, I({-1})});
  const Value target = b.Make<ops::Where>({b.Make<ops::Equal>({sizes, minus}), ones, sizes});
  EXPECT_EQ(Run<ops::Expand>({In({m, 1, 8}), target}), "tensor<MxNx8xf32>");
}

TEST_F(OnnxSymbolic, AnEntryThatMayBeNegativeIsNoDimension) {
  const Value size = b.Make<ops::Gather>({ShapeOfX(n), I({0})});
  const Value less = b.Make<ops::Sub>({size, I({1})}), more = b.Make<ops::Add>({less, I({1})});
  EXPECT_EQ(Run<ops::Reshape>({In({m}), less}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Reshape>({In({m}), more}), "tensor<Nxf32>");
}

}  // namespace
}  // namespace weft::ir
