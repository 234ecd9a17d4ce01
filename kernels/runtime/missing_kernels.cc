#include "kernels/runtime/missing_kernels.h"

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/analysis/reference_body.h"
#include "ir/walk.h"
#include "kernels/kernel.h"
#include "kernels/runtime/decomposed.h"
#include "kernels/runtime/registry.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

class Search {
 public:
  explicit Search(const std::vector<std::string>& providers) : providers_(providers), pool_(1) {}

  // Empty when a kernel runs the op, or may when its types are known.
  std::string WhyNot(ir::Operation op) {
    if (op.name().starts_with("builtin.")) return "";
    const bool has_kernel = !ProvidersOf(op.opcode()).empty() || ir::HasReferenceBody(op) ||
                            op.HasTrait(ir::kBodyInRegion);
    if (!has_kernel) return "no kernel runs this op";
    if (HandlesStrings(op))
      return StepProvider(op, providers_).empty() ? "elements of type str" : "";
    bool is_static = op.num_regions() == 0;
    std::vector<ir::Type> inputs, results;
    std::vector<ir::Attribute> constants;
    for (const ir::Value value : op.operands()) {
      inputs.push_back(value ? value.type() : ir::Type());
      constants.push_back(ir::ConstantValue(value));
      is_static = is_static && (!value || value.type().IsStatic());
    }
    for (const ir::Value value : op.results()) {
      results.push_back(value.type());
      is_static = is_static && value.type().IsStatic();
    }
    if (!is_static) return ProvidersOf(op.opcode()).empty() ? WhyNoBody(op, inputs, constants) : "";
    for (const std::vector<ir::Type>& types : {inputs, results})
      for (const ir::Type type : types)
        if (std::string why = type ? WhyNoTensors(type) : ""; !why.empty()) return why;
    const KernelContext context(op, std::move(inputs), std::move(results), std::move(constants),
                                &pool_, &packed_);
    const absl::Status status = MakeKernel(context, providers_).status();
    return absl::IsUnimplemented(status) ? std::string(ir::Message(status)) : "";
  }

 private:
  // Of an op that only a body computes, whose sizes need not be known.
  std::string WhyNoBody(ir::Operation op, const std::vector<ir::Type>& inputs,
                        const std::vector<ir::Attribute>& constants) {
    std::vector<ir::Type> results(op.num_results());
    const KernelContext context(op, inputs, std::move(results), constants, &pool_, &packed_);
    const std::string result = ResultWithoutBody(context);
    return result.empty() ? "" : "no kernel computes its result " + result;
  }

  const std::vector<std::string>& providers_;
  ThreadPool pool_;
  PackedWeights packed_;
};

}  // namespace

std::vector<MissingKernel> MissingKernels(ir::Program& program,
                                          const std::vector<std::string>& providers) {
  std::vector<MissingKernel> missing;
  Search search(providers);
  ir::Walk(program, [&](ir::Operation op) {
    std::string why = search.WhyNot(op);
    if (why.empty()) return;
    const auto it = std::find_if(missing.begin(), missing.end(), [&](const MissingKernel& m) {
      return m.op == op.name() && m.why == why;
    });
    if (it == missing.end()) {
      missing.push_back(
          {std::string(op.name()), std::move(why), std::string(op.location().str()), 1});
    } else {
      ++it->count;
    }
  });
  return missing;
}

std::vector<ir::Operation> OpsWithoutKernel(ir::Program& program,
                                            const std::vector<std::string>& providers) {
  std::vector<ir::Operation> ops;
  Search search(providers);
  ir::Walk(program, [&](ir::Operation op) {
    if (!search.WhyNot(op).empty()) ops.push_back(op);
  });
  return ops;
}

}  // namespace weft::kernels
