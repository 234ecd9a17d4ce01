// Of the arithmetic simplifications in ai_system_graph_optimization.md (5.2.1): X + 0 and
// X + Broadcast(0), in two rules that never fit the same place. Floats have two zeros:
//
//   -0 + (+0) = +0    -0 - (-0) = +0       these terms change a sign
//   -0 + (-0) = -0    -0 - (+0) = -0       these change no bit of any x, and integers have none
#include <cmath>

#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// Of the term `zero` of element type `dtype`.
bool KeepsTheSignOfZero(double zero, ir::DataType dtype, bool is_added) {
  return !ir::IsFloat(dtype) || std::signbit(zero) == is_added;
}

template <class Derived>
class RemoveZero : public DrrPatternBase<Derived> {
 public:
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c");
    auto term = src.OneOf<ops::Add, ops::Sub>();
    auto out = term(x, src.Skip<ops::Expand>(c));

    src.RequireNativeCall("c is 0 everywhere",
                          [=](const MatchContext& m) { return m[c].IsSplat(0); });
    src.RequireNativeCall(Derived::kWhichZero, [=](const MatchContext& m) {
      const auto zero = m[c].splat();
      return zero && KeepsTheSignOfZero(*zero, m[c].dtype(), m.Is<ops::Add>(term)) ==
                         Derived::kKeepsTheSignOfZero;
    });
    src.RequireNativeCall("c does not change the shape of x", [=](const MatchContext& m) {
      return ir::ProvablySameType(m[x].type(), m[out].type());
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};

// x + -0, -0 + x, x - +0 => x; of integers x + 0, 0 + x, x - 0 => x
class RemoveNeutralZero : public RemoveZero<RemoveNeutralZero> {
 public:
  static constexpr std::string_view kName = "remove-neutral-zero";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra =
      "x + -0, -0 + x, x - +0 => x; integer x + 0, 0 + x, x - 0 => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;
  static constexpr bool kKeepsTheSignOfZero = true;
  static constexpr std::string_view kWhichZero = "c keeps the sign of a zero in x";
};
WEFT_REGISTER_RULE(RemoveNeutralZero, "canonicalize");

// x + +0, +0 + x, x - -0 => x
class RemoveZeroTerm : public RemoveZero<RemoveZeroTerm> {
 public:
  static constexpr std::string_view kName = "remove-zero-term";
  static constexpr std::string_view kSeed = "ai-system";
  static constexpr std::string_view kAlgebra = "x + +0, +0 + x, x - -0 => x";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;
  static constexpr bool kKeepsTheSignOfZero = false;
  static constexpr std::string_view kWhichZero = "c makes +0 of a -0 in x";
};
WEFT_REGISTER_RULE(RemoveZeroTerm, "canonicalize");

}  // namespace
}  // namespace weft::passes
