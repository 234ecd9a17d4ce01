#include "benchmarks/rewriting/workloads.h"

#include <array>
#include <utility>

#include "benchmarks/rewriting/bench_dialect.h"
#include "ir/rewriter.h"

namespace weft::bench {
namespace {

using ir::Value;

const Ints kPerms[5] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

class Generator {
 public:
  explicit Generator(ir::IrContext& context) {
    workload_.program = std::make_unique<ir::Program>(&context);
    b_ = std::make_unique<ir::Rewriter>(workload_.program.get());
    block_ = b_->AppendBlock(b_->Create<Graph>({}).region(0));
    b_->SetInsertionPointToEnd(block_);
    x3_ = context.TensorType(DataType::kF32, {1, 300, 256});
    matrix_ = context.TensorType(DataType::kF32, {256, 256});
    vector_ = context.TensorType(DataType::kF32, {256});
  }

  void TransposePairs(int64_t n, bool wide_return) {
    Value args[8];
    for (Value& a : args) a = b_->AddArgument(block_, x3_);
    std::vector<Value> pending;
    for (int64_t i = 0; i < n / 2; ++i) {
      const Value inner = Op<Transpose>({args[i % 8]}, {.perm = kPerms[i % 5]});
      pending.push_back(Op<Transpose>({inner}, {.perm = kPerms[i / 5 % 5]}));
      if (wide_return || (pending.size() < 8 && i + 1 < n / 2)) continue;
      b_->Create<Sink>(std::exchange(pending, {}));
      ++workload_.sinks;
    }
    b_->Create<Return>(pending);
    workload_.rewrites = n / 2;
    workload_.body_ops_after = n / 2;
  }

  void Cascade(int64_t n) {
    Value x = b_->AddArgument(block_, x3_);
    for (int64_t i = 0; i < n; ++i) x = Op<Transpose>({x}, {.perm = kPerms[i % 5]});
    b_->Create<Return>({x});
    workload_.rewrites = n - 1;
    workload_.body_ops_after = 1;
  }

  void MatMulAddReluChain(int64_t n) {
    Value x = b_->AddArgument(block_, x3_), w[16], bias[16];
    for (Value& v : w) v = b_->AddArgument(block_, matrix_);
    for (Value& v : bias) v = b_->AddArgument(block_, vector_);
    for (int64_t i = 0; i < n / 3; ++i)
      x = Op<Relu>({Op<Add>({Op<MatMul>({x, w[i % 16]}), bias[i % 16]})});
    b_->Create<Return>({x});
    workload_.rewrites = n / 3;
    workload_.body_ops_after = n / 3;
  }

  void NoMatch(int64_t n) {
    Value x = b_->AddArgument(block_, x3_);
    const Value bias = b_->AddArgument(block_, vector_);
    for (int64_t i = 0; i < n / 6; ++i) {
      const Value t = Op<Transpose>({x}, {.perm = kPerms[0]});
      const Value t2 = Op<Transpose>({Op<Relu>({t})}, {.perm = kPerms[0]});
      x = Op<Relu>({Op<Add>({Op<Mul>({t2, t2}), bias})});
    }
    b_->Create<Return>({x});
    workload_.body_ops_after = workload_.body_ops;
  }

  void ManyPatterns(int64_t n, int num_patterns) {
    std::array<std::array<bool, kNumM>, kNumK> matches{};
    for (int i = 0; i < num_patterns; ++i) {
      const UnaryChain chain = ChainOf(i, num_patterns);
      matches[chain.r][chain.s] = true;
    }
    Value v = b_->AddArgument(block_, x3_);
    int64_t matched = 0;  // ops that the matches cover
    for (int64_t j = 0; j < n / 10; ++j) {
      const int i = static_cast<int>(j * 37 % num_patterns);
      const UnaryChain chain = ChainOf(i, num_patterns);
      const int used = i % 2 == 1 ? 3 : 2;
      matched += used;
      if (used == 3) v = UnaryOp(kNumK + chain.t, v);
      v = UnaryOp(kNumK + chain.s, v);
      v = UnaryOp(chain.r, v);
      int last_m = -1;
      for (int q = 0; q < 10 - used; ++q) {
        if (q % 2 == 0) {
          last_m = static_cast<int>((j + q) % 60);
          v = UnaryOp(kNumK + last_m, v);
          continue;
        }
        int r = static_cast<int>((j * 3 + q * 7) % 40);
        while (last_m >= 0 && matches[r][last_m]) r = (r + 1) % 40;
        v = UnaryOp(r, v);
        last_m = -1;
      }
    }
    b_->Create<Return>({v});
    workload_.rewrites = n / 10;
    workload_.body_ops_after = workload_.body_ops - matched + workload_.rewrites;
  }

  void Cse(int64_t n) {
    Value x = b_->AddArgument(block_, x3_);
    for (int64_t i = 0; i < n / 3; ++i) {
      const Value a = Op<Relu>({x}), c = Op<Relu>({x});
      x = Op<Add>({a, c});
    }
    b_->Create<Return>({x});
    workload_.body_ops_after = workload_.body_ops;
  }

  void Dead(int64_t n) {
    Value x = b_->AddArgument(block_, x3_);
    for (int64_t i = 0; i < n; ++i) x = Op<Relu>({x});
    b_->Create<Return>({});
  }

  Workload Take() { return std::move(workload_); }

 private:
  template <class O>
  Value Op(ir::ValueList operands, const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
    ++workload_.body_ops;
    return b_->Make<O>(operands, attrs);
  }
  Value UnaryOp(int index, Value x) {
    using Maker = Value (*)(Generator*, Value);
    static constexpr auto kMakers = []<int... kIndex>(std::integer_sequence<int, kIndex...>) {
      return std::array<Maker, sizeof...(kIndex)>{
          [](Generator* g, Value v) { return g->Op<Unary<kIndex>>({v}); }...};
    }
    (std::make_integer_sequence<int, kNumK + kNumM>());
    return kMakers[index](this, x);
  }

  Workload workload_;
  std::unique_ptr<ir::Rewriter> b_;
  ir::Block block_;
  Type x3_, matrix_, vector_;
};

}  // namespace

const std::vector<std::string_view>& WorkloadNames() {
  static const std::vector<std::string_view> names = {
      "transpose_pairs",    "wide_return", "cascade",
      "matmul_add_relu",    "no_match",    "many_patterns",
      "many_patterns_1000", "cse",         "dead"};
  return names;
}

Workload MakeWorkload(ir::IrContext& context, std::string_view name, int64_t n) {
  Generator g(context);
  if (name == "transpose_pairs" || name == "wide_return") {
    g.TransposePairs(n, name == "wide_return");
  } else if (name == "cascade") {
    g.Cascade(n);
  } else if (name == "matmul_add_relu") {
    g.MatMulAddReluChain(n);
  } else if (name == "no_match") {
    g.NoMatch(n);
  } else if (name == "many_patterns" || name == "many_patterns_1000") {
    g.ManyPatterns(n, name == "many_patterns" ? 100 : 1000);
  } else if (name == "cse") {
    g.Cse(n);
  } else if (name == "dead") {
    g.Dead(n);
  } else {
    return {};
  }
  return g.Take();
}

}  // namespace weft::bench
