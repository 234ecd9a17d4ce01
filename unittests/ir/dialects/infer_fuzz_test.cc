// Every op of every dialect against operands that it was not made for: Infer must neither crash nor
// make types that are out of bounds, and what it accepts must verify.
#include <algorithm>
#include <random>

#include "ir/analysis/constant.h"
#include "ir/analysis/reference_body.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dim/dim_expr.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class Robustness : public InferTest {
 protected:
  // A number, or made of N and M.
  bool IsOfKnownSymbols(int64_t dim) const {
    std::vector<int64_t> symbols;
    DimExpr::OfDim(dim).CollectSymbols(&symbols);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](int64_t symbol) { return symbol == n || symbol == m; });
  }

  Robustness() {
    const int64_t large = int64_t{1} << 40;
    const std::vector<Shape> shapes = {{},
                                       {0},
                                       {1},
                                       {3},
                                       {n},
                                       {-1},
                                       {2, 3},
                                       {3, 2},
                                       {n, m},
                                       {large, 2},
                                       {large, 1024},
                                       {1, 3, 4},
                                       {-1, -1, -1},
                                       {1, 4, 5, 5},
                                       {4, 4, 3, 3},
                                       {n, 4, m, 5},
                                       {2, 1, 4, 5, 6}};
    for (const Shape& shape : shapes) {
      values_.push_back(X(shape));
      values_.push_back(X(shape, DataType::kI64));
    }
    values_.push_back(X({2}, DataType::kBool));
    values_.push_back(X({2}, DataType::kString));
    values_.push_back(Unranked());
    values_.push_back(Unranked(DataType::kNull));
    values_.push_back(OfType(context.NoneType()));
    values_.push_back(OfType(context.OpaqueType("seq<f32>")));
    values_.push_back(OfType(context.VectorType({})));
    const Type floats = context.SequenceType(context.TensorType(DataType::kF32, {2, n}));
    for (const Type type :
         {floats, context.OptionalType(floats), context.OptionalType(floats.element()),
          context.SequenceType(context.UnrankedTensorType(DataType::kNull)),
          context.SequenceType(floats), context.OptionalType(context.OpaqueType("map"))})
      values_.push_back(OfType(type));
    values_.push_back(b.Make<CombineOp>({values_[0], values_[2]}));
    values_.push_back(Value());
    for (auto ints : std::vector<Ints>{{0},
                                       {1},
                                       {-1},
                                       {2, 3},
                                       {0, -1},
                                       {INT64_MAX},
                                       {INT64_MIN},
                                       {INT64_MAX, INT64_MAX},
                                       {-5, 7},
                                       {1, 1, 1, 1},
                                       {},
                                       {3, 1, 2, 0}})
      values_.push_back(b.ConstantInts(ints));
  }

  Attribute RandomAttr(const FieldDef& field) {
    const auto number = [&] {
      static constexpr int64_t kNumbers[] = {0, 1, 1, 2, 3, -1, -2, 7, INT64_MAX, INT64_MIN};
      return kNumbers[random_() % std::size(kNumbers)];
    };
    switch (field.kind) {
      case AttrKind::kInt:
        return context.IntAttr(number());
      case AttrKind::kBool:
        return context.BoolAttr(random_() % 2);
      case AttrKind::kFloat:
        return context.FloatAttr(static_cast<float>(number()));
      case AttrKind::kInts: {
        Ints ints(random_() % 6);
        for (int64_t& i : ints)
          i = random_() % 3 ? 1 + static_cast<int64_t>(random_() % 2) : number();
        return context.IntsAttr(ints);
      }
      case AttrKind::kFloats:
        return context.FloatsAttr(Floats(random_() % 3, 1.0f));
      case AttrKind::kDataType:
        return context.DataTypeAttr(static_cast<DataType>(random_() % 17));
      case AttrKind::kString:
        return context.StringAttr(field.enumerators.empty()
                                      ? "x"
                                      : field.enumerators[random_() % field.enumerators.size()]);
      default:
        return context.IntAttr(3);
    }
  }

  AttrDict RandomAttrs(const OpDef& def) {
    std::vector<NamedAttribute> entries;
    for (const FieldDef& field : def.fields) {
      if (random_() % 3 == 0) continue;
      entries.push_back({field.name, random_() % 20 ? RandomAttr(field) : context.UnitAttr()});
    }
    return context.Dict(entries);
  }

  std::mt19937 random_{7};
  std::vector<Value> values_;
};

TEST_F(Robustness, InferSurvivesAnyOperandsAndAttributes) {
  size_t accepted = 0, refused = 0;
  for (const OpDef* def : context.Ops()) {
    if (!def->infer || def->info->num_regions != 0) continue;
    for (int i = 0; i < 3000; ++i) {
      OperationState state{.opcode = def->opcode, .attrs = RandomAttrs(*def)};
      const size_t count = random_() % (def->info->operands.size() + 3);
      for (size_t k = 0; k < count; ++k)
        state.operands.push_back(values_[random_() % values_.size()]);
      std::vector<Type> types;
      std::string error;
      if (!InferResultTypes(&context, state, 1 + random_() % 3, &types, &error)) {
        ++refused;
        EXPECT_TRUE(error.starts_with(std::string(def->name()) + ": ")) << error;
        EXPECT_GT(error.size(), def->name().size() + 2);
        continue;
      }
      ++accepted;
      for (Type type : types) {
        if (!type || !type.HasRank()) continue;
        EXPECT_LE(type.rank(), kMaxRank);
        for (int64_t d : type.dims()) EXPECT_TRUE(IsOfKnownSymbols(d)) << ToString(type.dims());
        if (type.IsStatic()) {
          EXPECT_GE(type.NumElements(), 0);
        }
      }
    }
  }
  EXPECT_GT(accepted, 20000u);
  EXPECT_GT(refused, 20000u);
}

// A program of the op alone, and then of its body; whether there is one.
bool BuildsBody(const OperationState& state, size_t num_results, IrContext& context) {
  Program program(&context);
  Builder b(&program);
  OperationState own{.opcode = state.opcode, .attrs = state.attrs};
  for (const Value v : state.operands) {
    const Attribute dense = v ? ConstantValue(v) : Attribute();
    own.operands.push_back(!v ? v : dense ? b.Constant(dense) : b.AddInput("x", v.type()));
  }
  Operation op;
  std::string error;
  if (!b.TryCreate(own, num_results, &op, &error)) return false;
  return VerifyOperation(op).ok() && !BuildReferenceBody(b, op, own.operands).empty();
}

// What an op that files bring accepts its body must be able to take, or to decline.
TEST_F(Robustness, BodiesSurviveWhatTheirOpsAccept) {
  size_t bodies = 0;
  for (const OpDef* def : context.Ops()) {
    if (!def->infer || !def->decompose || def->name().starts_with("litert.")) continue;
    SCOPED_TRACE(def->name());
    for (int i = 0; i < 3000; ++i) {
      OperationState state{.opcode = def->opcode, .attrs = RandomAttrs(*def)};
      const size_t count = random_() % (def->info->operands.size() + 1);
      for (size_t k = 0; k < count; ++k)
        state.operands.push_back(values_[random_() % values_.size()]);
      size_t required = 0;
      for (const OperandDef& r : def->info->results) required += r.arity == Arity::kOne;
      size_t results = required + random_() % (def->info->results.size() - required + 1);
      bodies += BuildsBody(state, results, context);
    }
  }
  EXPECT_GT(bodies, 5000u);
}

TEST_F(Robustness, EveryOpOfTheDialectsHasInferenceAndADescription) {
  for (const OpDef* def : context.Ops()) {
    const std::string_view name = def->name();
    EXPECT_FALSE(def->info->doc.empty()) << name;
    if (name.starts_with("builtin.") || name == "pd.feed") continue;
    EXPECT_NE(def->infer, nullptr) << name;
    if (name.starts_with("onnx.")) {
      EXPECT_EQ("onnx." + std::string(def->info->onnx), name);
      EXPECT_GE(def->info->since, 1);
      EXPECT_LE(def->info->since, 27);
    } else if (name.starts_with("com.microsoft.")) {
      EXPECT_EQ(std::string(def->info->onnx_domain) + "." + std::string(def->info->onnx), name);
    } else {
      EXPECT_TRUE(def->info->onnx.empty()) << name;
    }
  }
}

}  // namespace
}  // namespace weft::ir
