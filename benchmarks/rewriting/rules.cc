#include "benchmarks/rewriting/rules.h"

#include <array>
#include <utility>
#include <vector>

#include "benchmarks/rewriting/bench_dialect.h"
#include "benchmarks/rewriting/workloads.h"
#include "drr/drr.h"
#include "passes/rule_registry.h"
#include "passes/transformation.h"

namespace weft::bench {
namespace {

using namespace drr;  // the rule language

// transpose(transpose(x, p), q) => transpose(x, p[q])
class ComposeTransposes : public DrrPatternBase<ComposeTransposes> {
 public:
  static constexpr std::string_view kName = "compose-transposes";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
    auto x = src.Tensor("x");
    auto inner = src.Keep(src.Op<Transpose>({.perm = p})(x));
    auto outer = src.Op<Transpose>({.perm = q})(inner);

    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<Transpose>({.perm = [=](const MatchContext& m) {
      const Ints inner_perm = m[p];
      Ints perm;
      for (int64_t axis : m[q]) perm.push_back(inner_perm[axis]);
      return perm;
    }})(x);
  }
};

// relu(add(matmul(x, w), b)) => matmul_add_relu(x, w, b)
class FuseMatMulAddRelu : public DrrPatternBase<FuseMatMulAddRelu> {
 public:
  static constexpr std::string_view kName = "fuse-matmul-add-relu";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
    auto sum = src.Keep(src.Op<Add>()(src.Keep(src.Op<MatMul>()(x, w)), b));
    auto out = src.Op<Relu>()(sum);

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<MatMulAddRelu>()(x, w, b);
  }
};

drr::Tensor ApplyUnary(SourcePattern& src, int index, const drr::Tensor& x) {
  using Maker = drr::Tensor (*)(SourcePattern&, const drr::Tensor&);
  static constexpr auto kMakers = []<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    return std::array<Maker, sizeof...(kIndex)>{
        [](SourcePattern& s, const drr::Tensor& v) { return s.Op<Unary<kIndex>>()(v); }...};
  }
  (std::make_integer_sequence<int, kNumK + kNumM>());
  return kMakers[index](src, x);
}

// k_r(m_s(x)) => fused(x) {id = pattern}, with m_t below where the pattern is odd
void RecordUnaryChain(DrrPatternContext* ctx, UnaryChain chain, int pattern) {
  SourcePattern src = ctx->SourcePattern();
  auto x = src.Tensor("x");
  auto below = x;
  if (pattern % 2 == 1) below = src.Keep(ApplyUnary(src, kNumK + chain.t, x));
  auto out = ApplyUnary(src, chain.r, src.Keep(ApplyUnary(src, kNumK + chain.s, below)));

  ResultPattern res = src.ResultPattern();
  res.Tensor(out) = res.Op<Fused>({.id = int64_t{pattern}})(x);
}

template <int kNumPatterns, int kPattern>
class FuseUnaryChain : public DrrPatternBase<FuseUnaryChain<kNumPatterns, kPattern>> {
 public:
  static constexpr NumberedText kText = {"fuse-unary-chain-", kPattern};
  static constexpr std::string_view kName = kText.view();

  void operator()(DrrPatternContext* ctx) const override {
    RecordUnaryChain(ctx, ChainOf(kPattern, kNumPatterns), kPattern);
  }
};

// A hundred at a time: clang folds at most 256 expressions in one.
template <int kNumPatterns, int kFirst = 0>
void AddUnaryChains(RewritePatternSet* set) {
  constexpr int kCount = 100;
  static_assert(kNumPatterns % kCount == 0);
  [&]<int... kPattern>(std::integer_sequence<int, kPattern...>) {
    (set->Add<FuseUnaryChain<kNumPatterns, kFirst + kPattern>>(), ...);
  }
  (std::make_integer_sequence<int, kCount>());
  if constexpr (kFirst + kCount < kNumPatterns) AddUnaryChains<kNumPatterns, kFirst + kCount>(set);
}

}  // namespace

// What a pipeline runs that is for no target.
std::vector<const passes::RegisteredRule*> DefaultLibrary() {
  std::vector<const passes::RegisteredRule*> rules;
  for (const passes::Transformation& t : passes::Transformations()) {
    const passes::RegisteredRule* rule = t.IsPass() ? nullptr : passes::FindRule(t.name);
    if (rule != nullptr && t.by_default && !rule->opt_in) rules.push_back(rule);
  }
  return rules;
}

void AddRulesOf(std::string_view workload, RewritePatternSet* set) {
  if (workload == "library") {
    static const auto* rules = new std::vector(DefaultLibrary());
    for (const passes::RegisteredRule* rule : *rules) set->Add(rule->build(set->context()));
  }
  const bool both = workload == "no_match";
  if (both || workload == "transpose_pairs" || workload == "wide_return" || workload == "cascade")
    set->Add<ComposeTransposes>();
  if (both || workload == "matmul_add_relu") set->Add<FuseMatMulAddRelu>();
  if (workload == "many_patterns") AddUnaryChains<100>(set);
  if (workload == "many_patterns_1000") AddUnaryChains<1000>(set);
}

}  // namespace weft::bench
