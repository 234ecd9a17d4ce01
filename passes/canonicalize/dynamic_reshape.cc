// Seed: ascend_knowledge_base.md, DynamicReshape: a target shape that the program computes from the
// sizes of its inputs becomes a constant, and the small ops that computed it go. The seed compares
// a few runs and believes what they have in common; here every entry follows from the symbolic
// sizes of the types, for all sizes.
//
// Empty tensors: a -1 beside a copied size (0) says nothing when that size is 0, so the two never
// stand together unless the program has said so itself.
#include <optional>

#include "drr/drr.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/dialects/onnx/shape_value.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// The target as numbers, where 0 copies a size of x and one entry may be -1; nothing when that does
// not say the same for all sizes.
std::optional<Ints> KnownTarget(const BoundTensor& x, const BoundTensor& shape) {
  const auto entries = ir::EvaluateShapeValue(shape.value());
  if (!entries || !x.has_rank()) return std::nullopt;
  Ints target;
  bool copies = false, empty = false, derived = false;
  int computed = 0;
  for (size_t i = 0; i < entries->size(); ++i) {
    const ir::ShapeEntry entry = (*entries)[i];
    const bool is_copy = !entry.is_number && i < static_cast<size_t>(x.rank()) &&
                         ir::IsSymbolicDim(entry.value) &&
                         entry.value == x.dim(static_cast<int64_t>(i));
    target.push_back(entry.is_number ? entry.value : is_copy ? 0 : -1);
    copies |= is_copy;
    empty |= entry.is_number && entry.value == 0;
    computed += target.back() == -1;
    derived |= !entry.is_number && !is_copy;
  }
  if (computed > 1 || (derived && (copies || empty))) return std::nullopt;
  return target;
}

// reshape(x, s) => reshape(x, constant), where s follows from the sizes of x
class DynamicReshape : public DrrPatternBase<DynamicReshape> {
 public:
  static constexpr std::string_view kName = "dynamic-reshape";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "reshape(x, s) => reshape(x, constant), where s follows from the sizes of x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), s = src.Tensor("s");
    auto out = src.Op<ops::Reshape>({.allowzero = 0})(x, s);

    src.RequireNativeCall("s is computed",
                          [=](const MatchContext& m) { return !m[s].is_constant(); });
    src.RequireNativeCall(
        "every size is a number or x's at that place, but for one at most that follows from the "
        "others",
        [=](const MatchContext& m) { return KnownTarget(m[x], m[s]).has_value(); });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts([=](const MatchContext& m) {
      return KnownTarget(m[x], m[s]).value_or(Ints());
    }));
  }
};
WEFT_REGISTER_RULE(DynamicReshape, "canonicalize");

}  // namespace
}  // namespace weft::passes
