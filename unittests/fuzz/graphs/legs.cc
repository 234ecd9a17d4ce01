#include "unittests/fuzz/graphs/legs.h"

#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::fuzz {

std::string Leg::Name() const {
  return pipeline + (IsExact() ? "/exact" : "") + (onnx ? "/onnx/" : "/") + provider;
}

std::vector<Leg> AllLegs() {
  using drr::NumericClass;
  std::vector<Leg> legs;
  for (const passes::Pipeline& pipeline : passes::Pipelines()) {
    const std::string name(pipeline.name);
    if (name == "superopt")
      continue;  // needs a cost model and much time; superopt_test has its own
    const bool none = name == "none";
    for (const char* provider : {"reference", "auto"}) {
      if (!none) legs.push_back({name, NumericClass::kExact, provider});
      if (!none || std::string(provider) == "auto")
        legs.push_back({name, NumericClass::kReassociates, provider});
    }
    if (none || name == "simplify" || name == "fuse")
      legs.push_back({name, NumericClass::kReassociates, "reference", true});
  }
  return legs;
}

// Constants are folded with the kernels that will run the rest.
struct LegPasses::Passes {
  std::unique_ptr<kernels::KernelEvaluator> evaluator;
  passes::PassManager manager;
};

LegPasses::LegPasses(ir::IrContext* context) : context_(context) {}
LegPasses::~LegPasses() = default;

absl::StatusOr<LegPasses::Passes*> LegPasses::Of(const Leg& leg) {
  Leg key = leg;
  key.onnx = false;
  std::unique_ptr<Passes>& found = by_leg_[key.Name()];
  if (found) return found.get();
  WEFT_ASSIGN_OR_RETURN(auto evaluator, kernels::KernelEvaluator::Create(leg.provider));
  found = std::make_unique<Passes>(Passes{std::move(evaluator), passes::PassManager(context_)});
  passes::PassManager& manager = found->manager;
  manager.pass_context().evaluator = found->evaluator.get();
  manager.pass_context().numerics = leg.numerics;
  manager.set_verify_each(true);
  for (const std::string& pass : passes::FindPipeline(leg.pipeline)->passes)
    manager.AddPass(passes::MakePass(pass));
  return found.get();
}

absl::Status LegPasses::Run(ir::Program& program, const Leg& leg,
                            std::map<std::string, uint64_t>* applied) {
  WEFT_ASSIGN_OR_RETURN(Passes* const passes, Of(leg));
  WEFT_RETURN_IF_ERROR(passes->manager.Run(program));
  for (const passes::PassReport& report : passes->manager.reports())
    for (const passes::RuleStatistics& rule : report.rules)
      if (rule.applied > 0) (*applied)[rule.rule] += rule.applied;
  return absl::OkStatus();
}

}  // namespace weft::fuzz
