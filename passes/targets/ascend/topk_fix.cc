// Seed: ascend_knowledge_base.md, TopkFix. The seed changes the type of k and of the indices in
// place, which ONNX does not allow; here the op becomes another one, so that the rule does not meet
// its own result, and every reader of the indices gets the i64 it had.
#include "drr/drr.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/rewriter.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace ascend = ir::ascend;
using namespace drr;  // the rule language

// (v, i) = top_k(x, k) => (v, j) = ascend.top_k(x, i32(k)), i = i64(j)
class TopkFix : public DrrPatternBase<TopkFix> {
 public:
  static constexpr std::string_view kName = "topk-fix";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "(v, i) = top_k(x, k) => (v, j) = ascend.top_k(x, i32(k)), i = i64(j)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), k = src.Tensor("k");
    auto axis = src.Attr<int64_t>("axis");
    auto top_k = src.Op<ops::TopK>({.axis = axis, .largest = Any(), .sorted = Any()});
    auto [values, indices] = top_k(x, k);

    src.RequireNativeCall("i32 counts the axis of x", [=](const MatchContext& m) {
      const int64_t size = m[x].dim(m[axis]);
      return ir::IsStaticDim(size) && size <= INT32_MAX;
    });

    ResultPattern res = src.ResultPattern();
    auto k32 = res.Op<ops::Cast>({.to = ir::DataType::kI32})(k);
    auto [new_values, new_indices] = res.Op<ascend::TopK>(AttrsOf(top_k))(x, k32);
    res.Tensor(values) = new_values;
    res.Tensor(indices) = res.Op<ops::Cast>({.to = ir::DataType::kI64})(new_indices);
    // What the program states of a shape that depends on k holds for both.
    res.PostProcess([values = new_values, indices = new_indices](PostContext& p) {
      const ir::Type type = p[values].type();
      if (type.HasRank())
        p.rewriter().SetType(p[indices], p.context()->TensorType(ir::DataType::kI32, type.dims()));
    });
  }
};
WEFT_REGISTER_RULE(TopkFix, "ascend");

}  // namespace
}  // namespace weft::passes
