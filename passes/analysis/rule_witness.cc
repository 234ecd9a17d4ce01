#include "passes/analysis/rule_witness.h"

#include <set>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/analysis/witness_instance.h"

namespace weft::passes {
namespace {

using drr::PatternGraph;
using ir::Operation;
using ir::Program;

// Whether the rule applies to a copy of the program at the op where it matches in the original.
bool Applies(const drr::Rule& rule, Program& program, Operation site, std::string* reason) {
  const std::unique_ptr<Program> copy = program.Clone();
  std::vector<Operation> ops, copies;
  ir::Walk(program, [&](Operation op) { ops.push_back(op); });
  ir::Walk(*copy, [&](Operation op) { copies.push_back(op); });
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!(ops[i] == site)) continue;
    drr::MatchContext match(&rule);
    ir::Rewriter rewriter(copy.get());
    return drr::Matcher(rule).Match(copies[i], &match) && drr::Apply(match, rewriter, reason) &&
           ir::Verify(*copy).ok();
  }
  return false;
}

// How far an attempt came: ops built, then the progress of the match, then constraints that hold.
class Search {
 public:
  Search(ir::IrContext& context, const drr::Rule& rule, const WitnessOptions& options)
      : context_(context), rule_(rule), options_(options), genes_(options.seed) {}

  std::vector<Witness> Run(std::string* why) {
    constexpr int kPatience = 150;  // attempts without progress before starting anew
    uint64_t best = 0;
    int idle = 0;
    std::vector<uint32_t> best_genes;
    for (int i = 0; i < options_.attempts && found_.size() < size_t(options_.wanted); ++i) {
      genes_.Rewind();
      const size_t found = found_.size();
      const uint64_t fitness = Attempt();
      if (found_.size() > found || idle > kPatience) {
        best = 0;
        idle = 0;
        genes_.Forget();
        continue;
      }
      if (fitness >= best) {
        idle = fitness > best ? 0 : idle + 1;
        best = fitness;
        best_genes = genes_.genes();
      } else {
        ++idle;
        genes_.genes() = best_genes;
      }
      genes_.Mutate();
    }
    if (why) *why = why_;
    return std::move(found_);
  }

 private:
  uint64_t Attempt() {
    const PatternGraph& graph = rule_.graph;
    WitnessInstance instance(context_, graph, genes_);
    if (!instance.Build()) return Note(instance.ops_built(), instance.error());
    const uint64_t built = graph.ops.size() + 1;
    const Operation site = instance.root() ? instance.root().DefiningOp() : Operation();
    if (!site) return built;
    drr::MatchContext match(&rule_);
    drr::MatchFailure failure;
    std::string reason;
    if (!drr::Matcher(rule_).Match(site, &match, &failure)) {
      const size_t steps = graph.constraints.size() + 1;
      size_t held = 0;
      while (held < graph.constraints.size() && graph.constraints[held].reason != failure.expected)
        ++held;
      if (held == graph.constraints.size()) held = 0;
      return Note(built + failure.progress * steps + held, failure.reason);
    }
    if (!Applies(rule_, instance.program(), site, &reason)) return Note(UINT64_MAX, reason);
    if (texts_.insert(ir::PrintProgram(instance.program())).second)
      found_.push_back({instance.TakeProgram(), site});
    return UINT64_MAX;
  }

  // Remembers why the furthest attempt failed.
  uint64_t Note(uint64_t fitness, const std::string& reason) {
    if (fitness >= furthest_) {
      furthest_ = fitness;
      if (!reason.empty()) why_ = reason;
    }
    return fitness;
  }

  ir::IrContext& context_;
  const drr::Rule& rule_;
  const WitnessOptions& options_;
  Genes genes_;
  std::vector<Witness> found_;
  std::set<std::string> texts_;
  uint64_t furthest_ = 0;
  std::string why_;
};

}  // namespace

std::vector<Witness> MakeWitnesses(ir::IrContext& context, const drr::Rule& rule,
                                   const WitnessOptions& options, std::string* why) {
  return Search(context, rule, options).Run(why);
}

}  // namespace weft::passes
