// The class that a rule derives from.
#pragma once

#include <string_view>

#include "drr/cpp/result.h"
#include "drr/cpp/source.h"
#include "drr/rule/rule.h"

namespace weft::drr {

class DrrPatternContext {
 public:
  DrrPatternContext(std::string_view rule, ir::IrContext* context);
  ~DrrPatternContext();
  DrrPatternContext(const DrrPatternContext&) = delete;
  DrrPatternContext& operator=(const DrrPatternContext&) = delete;
  drr::SourcePattern SourcePattern(SourceLoc loc = SourceLoc::Here()) {
    graph_->loc = loc;
    return drr::SourcePattern(graph_.get());
  }
  PatternGraph& graph() { return *graph_; }

 private:
  ir::Owned<PatternGraph> graph_;  // handles keep pointers to it while the rule is recorded
};

namespace internal {

class PatternRecorder {
 public:
  virtual ~PatternRecorder() = default;
  virtual void operator()(DrrPatternContext* ctx) const = 0;

 protected:
  BuildResult BuildRule(ir::IrContext* context, const RuleInfo& info) const;
};

}  // namespace internal

// A rule: derive, give kName (kebab-case), optionally kAlgebra, kNumerics and kBenefit, and
// override operator().
template <class Derived>
class DrrPatternBase : public internal::PatternRecorder {
 public:
  BuildResult Build(ir::IrContext* context) const {
    RuleInfo info;
    info.name = Name();
    if constexpr (requires { Derived::kAlgebra; }) info.algebra = Derived::kAlgebra;
    if constexpr (requires { Derived::kNumerics; }) info.numerics = Derived::kNumerics;
    if constexpr (requires { Derived::kBenefit; }) info.benefit = Derived::kBenefit;
    return BuildRule(context, info);
  }
  static constexpr std::string_view Name() {
    if constexpr (requires { Derived::kName; }) {
      return Derived::kName;
    } else {
      return "unnamed-rule";
    }
  }
};

}  // namespace weft::drr
