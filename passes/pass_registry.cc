#include "passes/pass_registry.h"

#include <algorithm>

#include "ir/base/registration.h"

namespace weft::passes {
namespace {

std::vector<RegisteredPass>& Passes() {
  static auto* passes = new std::vector<RegisteredPass>;
  return *passes;
}

}  // namespace

namespace internal {
bool AddPassFactory(std::unique_ptr<Pass> (*make)(), drr::SourceLoc loc) {
  auto& passes = Passes();
  const std::string name = make()->name();
  auto at = std::lower_bound(passes.begin(), passes.end(), name,
                             [](const auto& p, const std::string& n) { return p.name < n; });
  if (at != passes.end() && at->name == name) {
    ir::RegistrationFailed(loc.file, loc.line, "two passes are called " + name);
    return false;
  }
  passes.insert(at, {name, make, loc});
  return true;
}
}  // namespace internal

std::vector<RegisteredPass> RegisteredPasses() { return Passes(); }

std::unique_ptr<Pass> MakePass(std::string_view name) {
  for (const RegisteredPass& pass : Passes())
    if (pass.name == name) return pass.make();
  return nullptr;
}

const Pipeline* FindPipeline(std::string_view name) {
  for (const Pipeline& pipeline : Pipelines())
    if (pipeline.name == name) return &pipeline;
  return nullptr;
}

}  // namespace weft::passes
