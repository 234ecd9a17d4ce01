// fuse-matmuls: several matrix products with constant weights become one, which is then split.
// Seed: ai_system_graph_optimization.md, 5.2.4 matmul auto-fusion.
//
//   x . w1 + b1, x . w2 + b2  =>  split(x . [w1 w2] + [b1 b2])          one input
//   x1 . w, x2 . w            =>  split([x1; x2] . w)                   one matrix of weights
//   x1 . w1, x2 . w2          =>  split(stack(x1, x2) . stack(w1, w2))  equal shapes
//
// A pass and not a rule: the number of products is free, and the last two need to know that no
// product depends on another, which the shared input alone does not leave open. No number changes.
// It is in no pipeline: the last two copy their inputs, and split-qkv-matmul does the reverse. Weights
// that are not constant would have to be joined in every run.
#include <algorithm>
#include <map>

#include "ir/walk.h"
#include "passes/fusion/independent_ops.h"
#include "passes/fusion/matmul_forms.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

// An upper bound of the elements of a type, symbols not counted.
double Elements(ir::Type type) {
  double elements = 1;
  for (const int64_t dim : type.dims()) elements *= static_cast<double>(std::max<int64_t>(dim, 1));
  return elements;
}

// Types may state more elements than can be counted, once they are added up.
bool IsCountable(const std::vector<Product>& products) {
  constexpr double kMost = 1ULL << 60;
  double elements = 0;
  for (const Product& p : products)
    elements += Elements(p.op.operand(0).type()) + Elements(p.op.result().type());
  return elements < kMost;
}

// A model may state more about the type of a product than follows from its operands.
bool HaveTypesOf(const std::vector<Product>& products, const std::vector<ir::Value>& results) {
  for (size_t i = 0; i < products.size(); ++i)
    if (!(products[i].end().result().type() == results[i].type())) return false;
  return true;
}

void Replace(const Product& product, ir::Value with, ir::Rewriter& rewriter) {
  const ir::Operation end = product.end();
  if (const std::string_view name = end.result().name(); !name.empty())
    rewriter.program()->SetName(with, name);
  rewriter.ReplaceAllUses(end.result(), with);
  rewriter.EraseWithDeadOperands(end);
}

class FuseMatmuls : public Pass {
 public:
  FuseMatmuls()
      : Pass("fuse-matmuls", "products with one input, weights or shape become one",
             {.seed = "ai-system"}) {}

  absl::Status Run(ir::Program& program) override {
    ir::Rewriter rewriter(&program);
    // One form makes products for another. Each success leaves fewer of them.
    for (bool again = true; again;) {
      again = false;
      for (const MatmulForm* form : {&kSharedInput, &kSharedWeights, &kBatched})
        again |= FuseAll(*form, program, rewriter);
    }
    return absl::OkStatus();
  }

 private:
  // Products that may become one, but for what they depend on, in the order of their block.
  static std::map<ir::Ints, std::vector<ir::Operation>> Candidates(const MatmulForm& form,
                                                                   ir::Program& program) {
    std::map<ir::Ints, std::vector<ir::Operation>> candidates;
    ir::Walk(program, [&](ir::Operation op) {
      const auto product = ProductOf(op);
      auto key = product ? form.key(*product) : std::nullopt;
      if (!key) return;
      key->insert(key->end(), {op.block().id(), op.opcode().id(), op.attrs().id(),
                               static_cast<int64_t>(op.HasOperand(2))});
      candidates[*std::move(key)].push_back(op);
    });
    return candidates;
  }

  bool FuseAll(const MatmulForm& form, ir::Program& program, ir::Rewriter& rewriter) {
    bool fused = false;
    for (auto& [key, candidates] : Candidates(form, program)) {
      while (candidates.size() > 1) {
        const std::vector<ir::Operation> taken = TakeIndependent(&candidates);
        if (taken.size() > 1) fused |= Fuse(form, taken, rewriter);
      }
    }
    return fused;
  }

  bool Fuse(const MatmulForm& form, const std::vector<ir::Operation>& taken,
            ir::Rewriter& rewriter) {
    std::vector<Product> products;
    std::vector<ir::Value> inputs;
    for (const ir::Operation op : taken) {
      products.push_back(*ProductOf(op));
      inputs.push_back(op.operand(0));
    }
    if (!IsCountable(products)) return false;
    const ir::Operation before = taken.front().prev();
    rewriter.SetInsertionPoint(taken.front());
    rewriter.set_location(taken.front().location());
    const std::vector<ir::Value> results = form.build(rewriter, products);
    if (!HaveTypesOf(products, results)) {
      for (const ir::Value result : results)
        if (result.IsAlive()) rewriter.EraseWithDeadOperands(result.DefiningOp());
      return false;
    }
    MoveDefinitionsBefore(rewriter, inputs, before ? before.next() : taken.front().block().front());
    for (size_t i = 0; i < products.size(); ++i) Replace(products[i], results[i], rewriter);
    Count(form.name, products.size());
    MarkChanged();
    return true;
  }
};
WEFT_REGISTER_PASS(FuseMatmuls);

}  // namespace
}  // namespace weft::passes
